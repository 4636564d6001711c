"""Samples that write and read a whole array with one call of netCDF-C or HDF5, from C."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from data_gen import arrays

from ...access import reader
from ...io.work import NAME
from ...kernels import Hdf5File, NetcdfFile
from ...measure.case import Stopwatch
from ...storage.layout import Layout
from ...storage.write import stored_bytes
from .numbered import counts_from


@dataclass(frozen=True)
class Whole:
    """A whole array of integers, element i counting i, or the bytes of such integers.

    Parameters
    ----------
    shape : tuple of int
        For bytes the last length counts them, four for each integer.
    dtype : str
        "i4", or "i1" for bytes.

    Examples
    --------
    >>> Whole((2, 2)).values().tolist(), Whole((2, 2)).nbytes
    ([[0, 1], [2, 3]], 16)
    >>> Whole((8,), "i1").nbytes == Whole((2,)).nbytes
    True
    """

    shape: tuple[int, ...]
    dtype: str = "i4"

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple("uvwxyz"[: len(self.shape)])

    def values(self) -> NDArray[np.generic]:
        """Return the array."""
        if self.dtype == "i1":
            shape = (*self.shape[:-1], self.shape[-1] // 4)
            return Whole(shape).values().view("i1")
        found: NDArray[np.generic] = arrays.values(self.shape, (), self.dtype)
        return found

    def equals(self, found: NDArray[np.generic]) -> bool:
        """Return whether an array is this one, compared in pieces that stay in the cache.

        Examples
        --------
        >>> Whole((2, 2)).equals(np.array([[0, 1], [2, 4]], "i4"))
        False
        """
        if found.shape != self.shape or found.dtype != np.dtype(self.dtype):
            return False
        return counts_from(0, _integers(found))

    def slabs(self) -> Iterator[slice]:
        """Yield slices of the first dimension that take a few megabytes each.

        Examples
        --------
        >>> [(slab.start, slab.stop) for slab in Whole((6, 2**18)).slabs()]
        [(0, 4), (4, 6)]
        """
        step = max(_SLAB * self.shape[0] // self.nbytes, 1)
        for start in range(0, self.shape[0], step):
            yield slice(start, min(start + step, self.shape[0]))

    def holds(self, slab: slice, found: NDArray[np.generic]) -> bool:
        """Return whether an array is this slab of the first dimension."""
        if found.shape != (slab.stop - slab.start, *self.shape[1:]):
            return False
        first = slab.start * (self.nbytes // self.shape[0])
        return found.dtype == np.dtype(self.dtype) and counts_from(first // 4, _integers(found))


_SLAB = 2**22  # bytes that stay in the heap


def _integers(found: NDArray[np.generic]) -> NDArray[np.generic]:
    return np.ascontiguousarray(found).ravel().view("i4")


def rehearse(path: Path, layout: Layout) -> None:
    """Write and read two numbers, so that the pages of the library's code are there.

    A fresh process meets each of them with a page fault, which a put of a megabyte would show.

    Parameters
    ----------
    path : Path
        Beside it the two numbers are stored for a moment.
    layout : Layout
    """
    spot = path.with_name(f"{path.name}.rehearsal")
    out = np.arange(2, dtype="i4")
    chunks = (2,) if layout.chunks else None
    with NetcdfFile.create(spot, layout.format, NAME, ("u",), (2,), "i4", chunks=chunks) as file:
        file.access("write", [[0]], [2], None, out)
        file.sync(to_disk=False)
    with NetcdfFile.open(spot, NAME) as file:
        file.access("read", [[0]], [2], None, out)
    spot.unlink()


@dataclass(frozen=True)
class WriteNetcdf:
    """Write an array with one nc_put_vara: phases create, write, sync (where asked) and close.

    The times of put, sync and close are C's own. All is rehearsed before.

    Parameters
    ----------
    path : Path
    array : Whole
    layout : Layout
        Format and chunks.
    to_disk : bool
        Whether nc_sync and fsync follow the put.
    cache_bytes : int, optional
        Size of the chunk cache; None keeps what netCDF-C gives the variable.
    fill : bool
        Whether storage is filled first, as netCDF does unless it is told otherwise.
    """

    path: Path
    array: Whole
    layout: Layout
    to_disk: bool = False
    cache_bytes: int | None = None
    fill: bool = True

    def __call__(self, watch: Stopwatch) -> None:
        rehearse(self.path, self.layout)
        values = self.array.values()
        with watch("create"):
            file = NetcdfFile.create(
                self.path, self.layout.format, NAME, self.array.dims, self.array.shape,
                self.array.dtype, chunks=self.layout.chunks, cache_bytes=self.cache_bytes,
                fill=self.fill,
            )  # fmt: skip
        with watch("write", useful_bytes=values.nbytes):
            seconds = file.access("write", _start(values), values.shape, None, values)
        watch.note(wall_s=seconds)
        if self.layout.chunks:
            watch.note(cache_bytes=file.chunk_cache_bytes())
        if self.to_disk:
            with watch("sync"):
                seconds = file.sync()
            watch.note(wall_s=seconds)
        with watch("close"):
            seconds = file.close()
        watch.note(wall_s=seconds, file_bytes=stored_bytes(self.path))


@dataclass(frozen=True)
class ReadNetcdf:
    """Read an array with one nc_get_vara: phases open, read and close.

    All is rehearsed, and the memory it is read into touched before, so that no page of it is new.

    Parameters
    ----------
    path : Path
    array : Whole
    layout : Layout
        How it is stored.
    cache_bytes : int, optional
        Size of the chunk cache; None keeps what netCDF-C gives the variable.
    """

    path: Path
    array: Whole
    layout: Layout
    cache_bytes: int | None = None

    def __call__(self, watch: Stopwatch) -> NDArray[np.generic]:
        rehearse(self.path, self.layout)
        out: NDArray[np.generic] = np.ones(self.array.shape, self.array.dtype)
        with watch("open"):
            file = NetcdfFile.open(self.path, NAME, cache_bytes=self.cache_bytes)
        watch.chill()
        with watch("read", useful_bytes=out.nbytes):
            seconds = file.access("read", _start(out), out.shape, None, out)
        watch.note(wall_s=seconds, file_bytes=stored_bytes(self.path))
        if file.chunks() is not None:
            watch.note(cache_bytes=file.chunk_cache_bytes())
        with watch("close"):
            seconds = file.close()
        watch.note(wall_s=seconds)
        return out


@dataclass(frozen=True)
class WriteHdf5:
    """Write an array in one chunk with one H5Dwrite: phases create, write and close.

    All is rehearsed before.

    Parameters
    ----------
    path : Path
    array : Whole
    alloc : str
        When storage is allocated: "default" or "early".
    cache_bytes : int
        Size of the chunk cache.
    """

    path: Path
    array: Whole
    alloc: str
    cache_bytes: int

    def __call__(self, watch: Stopwatch) -> None:
        self._rehearse()
        values = self.array.values()
        shape = self.array.shape
        with watch("create"):
            file = Hdf5File.create(
                self.path, NAME, shape, self.array.dtype, chunks=shape, alloc=self.alloc,
                cache_bytes=self.cache_bytes,
            )  # fmt: skip
        with watch("write", useful_bytes=values.nbytes):
            seconds = file.access("write", _start(values), shape, None, values)
        watch.note(wall_s=seconds, cache_bytes=file.chunk_cache_bytes())
        with watch("close"):
            seconds = file.close()
        watch.note(wall_s=seconds, file_bytes=stored_bytes(self.path))

    def _rehearse(self) -> None:
        spot = self.path.with_name(f"{self.path.name}.rehearsal")
        with Hdf5File.create(spot, NAME, (2,), "i4", chunks=(2,), alloc=self.alloc) as file:
            file.access("write", [[0]], [2], None, np.arange(2, dtype="i4"))
        spot.unlink()


@dataclass(frozen=True)
class Stored:
    """Check that a file holds an array, read back by another library.

    Parameters
    ----------
    path : Path
    array : Whole
    library : str
        Name of the reader; "" for a plain file.
    """

    path: Path
    array: Whole
    library: str = ""

    def __call__(self, _: object) -> bool:
        if not self.library:
            return self.array.equals(
                np.fromfile(self.path, self.array.dtype).reshape(self.array.shape)
            )
        with reader(self.library).open(self.path, NAME) as opened:
            # Slab by slab: memory that is used again costs no page faults.
            return opened.shape == self.array.shape and all(
                self.array.holds(slab, opened.read(slab)) for slab in self.array.slabs()
            )


@dataclass(frozen=True)
class Equal:
    """Check that what was read is the array.

    Parameters
    ----------
    array : Whole
    """

    array: Whole

    def __call__(self, read: NDArray[np.generic]) -> bool:
        return self.array.equals(read)


def _start(values: NDArray[np.generic]) -> list[list[int]]:
    return [[0] * values.ndim]
