"""What a job writes: datasets, and the part of each that each rank writes."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TYPES = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b"}
"""The types of values, by NumPy's name, and what the C programs call them."""
_MODULUS = 16_777_213  # below 2^24: whole in each type but the shortest
_MODULUS_OF_BYTES = 127


@dataclass(frozen=True)
class Part:
    """The hyperslab of one rank.

    Parameters
    ----------
    start, count : tuple of int
        In cells, one a dimension.

    Examples
    --------
    >>> Part((2, 0), (2, 8)).region
    (slice(2, 4, None), slice(0, 8, None))
    """

    start: tuple[int, ...]
    count: tuple[int, ...]

    @property
    def region(self) -> tuple[slice, ...]:
        """The part as an index of the whole."""
        return tuple(slice(a, a + n) for a, n in zip(self.start, self.count, strict=True))

    @property
    def cells(self) -> int:
        """How many cells it has."""
        return math.prod(self.count)


@dataclass(frozen=True)
class SharedArray:
    """One dataset and the parts of its ranks.

    Parameters
    ----------
    name : str
        At most 31 letters, digits, ``-`` and ``_``.
    dtype : str
        One of `TYPES`.
    shape : tuple of int
        1 to 4 dimensions, in cells.
    parts : tuple of Part
        One a rank.
    chunks : tuple of int
        Of HDF5, in cells; () for contiguous storage.
    guard : int
        Guard cells around each block in memory, which are packed away before writing.

    Raises
    ------
    ValueError
        When a part lies outside of the shape.

    Examples
    --------
    >>> SharedArray("data", "f8", (4, 8), (Part((0, 0), (2, 8)), Part((2, 0), (2, 8)))).nbytes
    256
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    parts: tuple[Part, ...]
    chunks: tuple[int, ...] = ()
    guard: int = 0

    def __post_init__(self) -> None:
        if self.dtype not in TYPES:
            raise ValueError(f"{self.name}: the type is {self.dtype!r}, not one of {[*TYPES]}")
        for part in self.parts:
            ends = zip(part.start, part.count, self.shape, strict=True)
            if any(start < 0 or start + count > size for start, count, size in ends):
                raise ValueError(f"{self.name}: {part} lies outside of the shape {self.shape}")

    @property
    def nbytes(self) -> int:
        """Bytes that all ranks write."""
        return sum(self.rank_bytes(rank) for rank in range(len(self.parts)))

    def rank_bytes(self, rank: int) -> int:
        """Return the bytes that one rank writes."""
        return self.parts[rank].cells * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class WritePlan:
    """All that a job writes into one file.

    Parameters
    ----------
    datasets : tuple of SharedArray
        With as many parts each.

    Examples
    --------
    >>> from hyperslab.parallel import pattern
    >>> plan = pattern("rows", rows=2, columns=4, ranks=2)
    >>> plan.ranks, plan.nbytes
    (2, 128)
    >>> print(plan.text())
    data d 0 2 4 4 0 0
    0 0 2 4
    2 0 2 4
    """

    datasets: tuple[SharedArray, ...]

    def __post_init__(self) -> None:
        if len({len(dataset.parts) for dataset in self.datasets}) != 1:
            raise ValueError("the datasets of a plan need as many parts each, and one at least")

    @property
    def ranks(self) -> int:
        """How many ranks write."""
        return len(self.datasets[0].parts)

    @property
    def nbytes(self) -> int:
        """Bytes that all ranks write, without the file's own."""
        return sum(dataset.nbytes for dataset in self.datasets)

    def rank_bytes(self, rank: int) -> int:
        """Return the bytes that one rank writes."""
        return sum(dataset.rank_bytes(rank) for dataset in self.datasets)

    def text(self) -> str:
        """Return the plan as the programs read it."""
        return "\n".join(_lines(self.datasets))

    def values(self, number: int, part: Part) -> NDArray[np.generic]:
        """Return what a part of a dataset must hold.

        Parameters
        ----------
        number : int
            Which dataset of the plan.
        part : Part

        Examples
        --------
        >>> from hyperslab.parallel import pattern
        >>> plan = pattern("rows", rows=1, columns=3, ranks=2)
        >>> plan.values(0, plan.datasets[0].parts[1])
        array([[ 93., 124., 155.]])
        """
        dataset = self.datasets[number]
        place = np.zeros(part.count, dtype="i8")
        for axis, (start, count) in enumerate(zip(part.start, part.count, strict=True)):
            stride = math.prod(dataset.shape[axis + 1 :])
            along = stride * np.arange(start, start + count, dtype="i8")
            place += along.reshape([-1 if i == axis else 1 for i in range(place.ndim)])
        modulus = _MODULUS_OF_BYTES if dataset.dtype in ("i1", "i2") else _MODULUS
        values: NDArray[np.generic] = ((place * 31 + number * 7) % modulus).astype(dataset.dtype)
        return values


def _lines(datasets: tuple[SharedArray, ...]) -> Iterator[str]:
    for dataset in datasets:
        dims = len(dataset.shape)
        chunks = dataset.chunks or (0,) * dims
        numbers = (dataset.guard, dims, *dataset.shape, *chunks)
        yield f"{dataset.name} {TYPES[dataset.dtype]} {' '.join(map(str, numbers))}"
        for part in dataset.parts:
            yield " ".join(map(str, (*part.start, *part.count)))
