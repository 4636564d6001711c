"""The calls that an array is accessed in, and whether every element came through them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...access import reader
from ...io.calls import counts_from
from ...io.work import NAME

Array = NDArray[Any]
_ROWS_NUMBERS = 2**20  # read at a time, so that the memory is used again


@dataclass(frozen=True)
class Blocks:
    """The calls that an array is accessed in: blocks of one shape, in storage order.

    Parameters
    ----------
    shape
        Of the array, (rows, columns).
    count
        Of one block: whole rows, or part of one row.
    most
        Most calls; None takes the whole blocks of the whole array.

    Examples
    --------
    >>> Blocks((4, 6), (1, 3)).starts()[:3].tolist()
    [[0, 0], [0, 3], [1, 0]]
    >>> len(Blocks((4, 6), (4, 6)).starts()), len(Blocks((4, 6), (1, 3), most=5).starts())
    (1, 5)
    """

    shape: tuple[int, int]
    count: tuple[int, int]
    most: int | None = None

    def starts(self) -> NDArray[np.int64]:
        """Return the first element of each block, of shape (calls, 2)."""
        rows = np.arange(0, self.shape[0] - self.count[0] + 1, self.count[0], dtype=np.int64)
        columns = np.arange(0, self.shape[1] - self.count[1] + 1, self.count[1], dtype=np.int64)
        if self.most:
            rows = rows[: -(-self.most // len(columns))]
        grid = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
        return np.ascontiguousarray(grid[: self.most])

    def indices(self) -> list[Any]:
        """Return what a user writes between the brackets for each block."""
        if self.count == self.shape:
            return [...]
        high, wide = self.count
        found: list[Any] = []
        for row, column in self.starts().tolist():
            rows = row if high == 1 else slice(row, row + high)
            part = slice(column, column + wide)
            found.append(rows if wide == self.shape[1] else (rows, part))
        return found


@dataclass(frozen=True)
class Numbered:
    """Check that every element of an array is its own flat index, as `data_gen.arrays` makes it.

    Parameters
    ----------
    shape
        Of the array.

    Examples
    --------
    >>> Numbered((2, 3))(np.arange(6).reshape(2, 3)), Numbered((2, 3))(np.zeros((2, 3)))
    (True, False)
    """

    shape: tuple[int, ...]

    def __call__(self, found: object) -> bool:
        array = np.asarray(found)
        return array.shape == self.shape and counts_from(0, array)


@dataclass(frozen=True)
class HoldsNumbered:
    """Check that a file holds such an array: read it back by another library than wrote it.

    Parameters
    ----------
    path
        Of the file.
    library
        Name of the reader.
    shape
        Of the array.
    """

    path: Path
    library: str
    shape: tuple[int, int]

    def __call__(self, _: object) -> bool:
        with reader(self.library).open(self.path, NAME) as opened:
            high = max(1, _ROWS_NUMBERS // self.shape[1])
            return opened.shape == self.shape and all(
                counts_from(row * self.shape[1], opened.read(slice(row, row + high)))
                for row in range(0, self.shape[0], high)
            )


@dataclass(frozen=True)
class Lasts:
    """Make the last row of the last block of each size of a sweep, one after another.

    Parameters
    ----------
    sizes
        Of one array whose elements are numbered.

    Examples
    --------
    >>> Lasts((Blocks((3, 4), (1, 2), most=2), Blocks((3, 4), (3, 4))))().tolist()
    [2, 3, 8, 9, 10, 11]
    """

    sizes: Sequence[Blocks]

    def __call__(self) -> Array:
        found = []
        for size in self.sizes:
            row, column = size.starts()[-1]
            first = (row + size.count[0] - 1) * size.shape[1] + column
            found.append(np.arange(first, first + size.count[1]))
        return np.concatenate(found)
