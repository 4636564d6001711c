"""The store that is rewritten: a chunk for each map, and wanted with whole series in each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import data_gen

from ...storage.layout import Layout
from ...storage.variable import Variable
from ...storage.write import create, stored_bytes
from .local_files import VARIABLE

DIMS = ("time", "lat", "lon")
_ITEM_BYTES = 4


@dataclass(frozen=True)
class Maps:
    """A current that drifts east by a column a step, a map a chunk; `make` makes it.

    It is drawn map by map, so that it may be larger than memory.

    Parameters
    ----------
    scratch : Path
        Of this run.
    steps, rows, columns : int
        Its shape.
    allowed_bytes : int
        Memory that an engine may take.

    Examples
    --------
    >>> maps = Maps(Path("s"), 256, 256, 512, 32 * 2**20)
    >>> maps.series, maps.nbytes / maps.allowed_bytes
    ((256, 16, 32), 4.0)
    """

    scratch: Path
    steps: int
    rows: int
    columns: int
    allowed_bytes: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Steps, rows and columns."""
        return self.steps, self.rows, self.columns

    @property
    def nbytes(self) -> int:
        """Bytes of its values."""
        return math.prod(self.shape) * _ITEM_BYTES

    @property
    def source(self) -> Path:
        """Where it lies."""
        return self.scratch / "maps.zarr"

    @property
    def series(self) -> tuple[int, int, int]:
        """Chunks that are wanted: all steps of a box, about as many values as a map has."""
        cells = max(self.rows * self.columns // self.steps, 1)
        rows = min(2 ** (int(math.log2(cells)) // 2), self.rows)
        return self.steps, rows, min(cells // rows, self.columns)

    def layout(self, chunks: tuple[int, ...]) -> Layout:
        """Return how source and copy lie on disk, but for their chunks."""
        return Layout("zarr3", chunks=chunks, codec="blosc-lz4", level=5, shuffle=True)

    def make(self) -> None:
        """Write the source."""
        layout = self.layout((1, self.rows, self.columns))
        variable = Variable(VARIABLE, DIMS, self.shape, "f4")
        self.scratch.mkdir(parents=True, exist_ok=True)
        drawn = data_gen.dataset("ocean", seed=0, steps=1, nlat=self.rows, nlon=self.columns)
        np.save(self._first, drawn.draw(0)[VARIABLE][1][0])
        first = np.load(self._first)
        with create(self.source, [variable], layout, overwrite=True) as writer:
            for step in range(self.steps):
                writer.write(VARIABLE, step, np.roll(first, step, axis=1))
            writer.sync()
            writer.close()

    def described(self) -> Iterator[dict[str, object]]:
        """Yield what is known of the source without timing."""
        yield {
            "case": "source",
            **self.layout((1, self.rows, self.columns)).record(),
            "useful_bytes": self.nbytes,
            "file_bytes": stored_bytes(self.source),
        }

    def same(self, found: object) -> bool:
        """Return whether a copy has the chunks that are wanted, and every value.

        It is read a row of chunks at a time.
        """
        import zarr

        array = zarr.open_array(str(found), path=VARIABLE, mode="r")
        if array.chunks != self.series or array.shape != self.shape:
            return False
        first = np.load(self._first)
        for row in range(0, self.rows, self.series[1]):
            band = first[row : row + self.series[1]]
            got: NDArray[np.float32] = np.asarray(array[:, row : row + self.series[1]])
            if not all(
                np.array_equal(got[step], np.roll(band, step, axis=1)) for step in range(self.steps)
            ):
                return False
        return True

    @property
    def _first(self) -> Path:
        return self.scratch / "first.npy"
