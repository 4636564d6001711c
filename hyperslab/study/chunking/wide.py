"""Arrays for row sweeps: deflated chunks side by side, of any size, quick to write and inflate."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...io.work import NAME
from ...storage.chunk_cache import ChunkCache, chunk_reads, row_boxes
from ...storage.layout import Layout
from ...storage.variable import Variable
from ...storage.write import create

PERIOD = 2048  # values after which a row repeats, shifted from row to row: 8 KiB of noise
CHUNK_ROWS = 32
STEP_KIB = CHUNK_ROWS * PERIOD * 4 // 1024  # a chunk of one period
SIZES_KIB = (256, 4096, 32768, 49152, 97792)
"""Chunks that are swept through: 0.25 MiB to 100 MB, on both sides of half a cache of 64 MiB."""


@dataclass(frozen=True)
class Wide:
    """An int32 array of chunks side by side, each one the full height of a chunk.

    Parameters
    ----------
    chunk_kib : int
        Size of a chunk: a multiple of 256 KiB.
    across : int
        Chunks in a row.
    rows : int
        Rows of the array: a multiple of 32.

    Examples
    --------
    >>> array = Wide(1024, 2, 32)
    >>> array.shape, array.chunks, array.row_bytes
    ((32, 16384), (32, 8192), 2097152)
    """

    chunk_kib: int
    across: int
    rows: int = CHUNK_ROWS

    @property
    def chunks(self) -> tuple[int, int]:
        """Lengths of a chunk."""
        return (CHUNK_ROWS, PERIOD * self.chunk_kib // STEP_KIB)

    @property
    def shape(self) -> tuple[int, int]:
        """Lengths of the array."""
        return (self.rows, self.chunks[1] * self.across)

    @property
    def row_bytes(self) -> int:
        """Bytes of the chunks that a row touches: what a cache must hold of them."""
        return self.chunk_kib * 1024 * self.across

    @property
    def layout(self) -> Layout:
        """How the array is stored."""
        return Layout("netcdf4", chunks=self.chunks, codec="deflate", level=1)

    def values(self, rows: int | None = None) -> NDArray[np.int32]:
        """Return the first rows: noise that repeats, so that it compresses and is soon inflated."""
        noise = np.random.default_rng(0).integers(0, 2**31, PERIOD, dtype="i4")
        count, width = self.shape[0] if rows is None else rows, self.shape[1]
        found = np.empty((count, width), "i4")
        for i in range(count):
            found[i] = np.tile(np.roll(noise, -7 * i), width // PERIOD)
        return found

    def fetched(self, rows: int, cache: ChunkCache, kept: bool = True) -> int:
        """Return how many chunks a sweep fetches by our model of the cache.

        Parameters
        ----------
        rows : int
            How many are read, from the first.
        cache : ChunkCache
        kept : bool
            Whether the dataset stays open from row to row; its cache is dropped when it closes.
        """
        if not kept:
            return rows * self.across
        return chunk_reads(self.shape, self.chunks, 4, row_boxes(self.shape, rows), cache)


@dataclass(frozen=True)
class Arrays:
    """The arrays of the page, and where they lie.

    Parameters
    ----------
    folder : Path
    small : Wide
        Small chunks, many in a row.
    sizes : tuple of Wide
        Two chunks in a row, from small to large ones; a row of the first fits any cache.
    beyond : Wide
        One chunk in a row, larger than any cache the installed build gives by itself.
    within : Wide
        Four chunks in a row, of a size in the gap of netCDF-C 4.7.4 to 4.9.2.
    """

    folder: Path
    small: Wide
    sizes: tuple[Wide, ...]
    beyond: Wide
    within: Wide

    def path(self, array: Wide) -> Path:
        """Return where an array lies."""
        return self.folder / f"{array.chunk_kib}KiB-{array.across}.nc"

    def make(self) -> None:
        """Write all arrays; files that are there are written again."""
        for array in {self.small, *self.sizes, self.beyond, self.within}:
            make_file(array, self.path(array))


def arrays(folder: Path, across: int, largest_mib: int, most_bytes: int) -> Arrays:
    """Return the arrays of the page.

    Parameters
    ----------
    folder : Path
    across : int
        Small chunks in a row.
    largest_mib : int
        Size of the largest chunks to sweep through.
    most_bytes : int
        The largest cache the installed build gives by itself.

    Examples
    --------
    >>> found = arrays(Path("."), 16, 40, 64 * 2**20)
    >>> [array.chunk_kib // 1024 for array in found.sizes], found.beyond.chunk_kib / 1024
    ([0, 4, 32], 64.25)
    """
    sizes = tuple(Wide(kib, 2) for kib in SIZES_KIB if kib <= 1024 * largest_mib)
    beyond = Wide(STEP_KIB * (most_bytes // (1024 * STEP_KIB) + 1), 1)
    return Arrays(folder, Wide(STEP_KIB, across), sizes, beyond, Wide(12 * 1024, 4))


def stored_chunk_bytes(path: Path) -> int:
    """Return the bytes of the first chunk as it lies in the file; all are alike."""
    import h5py

    with h5py.File(path) as file:
        return int(file[NAME].id.get_chunk_info(0).size)


def make_file(array: Wide, path: Path) -> None:
    """Write an array deflated, chunk by chunk; a file that is there is written again.

    Parameters
    ----------
    array : Wide
    path : Path
        Its folder is made when missing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    variable = Variable(NAME, ("y", "x"), array.shape, "i4")
    height, width = array.chunks
    first = Wide(array.chunk_kib, 1, array.rows).values()
    with create(path, [variable], array.layout, overwrite=True) as writer:
        for top in range(0, array.rows, height):
            for left in range(0, array.shape[1], width):
                spot = (slice(top, top + height), slice(left, left + width))
                writer.write(NAME, spot, first[top : top + height])
        writer.sync()
