"""One dataset of an HDF5 file, read and written by loops in C straight on HDF5."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperslab.kernels.build import kernel
from hyperslab.kernels.library import LibraryError, address, function, variable
from hyperslab.kernels.loops import OpenedArray

_READ_ONLY, _READ_WRITE, _TRUNCATE = 0, 1, 2
Id = ctypes.c_int64
_STEMS = {"i": "INT", "u": "UINT"}
_FLOATS = {4: "FLOAT", 8: "DOUBLE"}
_CLASSES = {0: "i", 1: "f"}
ALLOCS = {"default": 0, "early": 1, "late": 2, "incremental": 3}
_NEVER_FILL = 1


class Hdf5File(OpenedArray):
    """One dataset of an open HDF5 file, made by `open` and `create`; HDF5 converts byte orders.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "a.h5")
    >>> with Hdf5File.create(path, "a", (3, 4), "i4") as file:
    ...     seconds = file.access("write", [[0, 0]], [3, 4], None, np.arange(12, dtype="i4"))
    >>> with Hdf5File.open(path, "a") as file:
    ...     out = np.empty(4, file.dtype)
    ...     seconds = file.access("read", [[1, 0]], [1, 4], None, out)
    >>> out.tolist()
    [4, 5, 6, 7]
    """

    def __init__(self, path: Path, file: int, dataset: int) -> None:
        super().__init__(path)
        self._file, self._dataset = file, dataset
        self.shape = lengths_of(dataset)
        self.dtype = stored(dataset)
        self._type = native(self.dtype)

    @classmethod
    def open(
        cls,
        path: str | Path,
        dataset: str,
        *,
        write: bool = False,
        cache_bytes: int | None = None,
        sieve_bytes: int | None = None,
    ) -> Hdf5File:
        """Open one dataset of a file, with a chunk cache of a size, or HDF5's own.

        Small pieces of contiguous data pass through a buffer of `sieve_bytes`; None keeps HDF5's
        own, 0 goes without. What holds no numbers is refused by a ValueError.
        """
        prepare()
        mode = _READ_WRITE if write else _READ_ONLY
        with file_access(sieve_bytes) as plan, dataset_access(cache_bytes) as options:
            file = got("H5Fopen", os.fsencode(path), ctypes.c_uint(mode), plan, said=str(path))
            return cls._made(
                Path(path),
                file,
                lambda: got("H5Dopen2", Id(file), dataset.encode(), options, said=dataset),
            )

    @classmethod
    def create(
        cls,
        path: str | Path,
        dataset: str,
        shape: Sequence[int],
        dtype: str,
        *,
        chunks: Sequence[int] | None = None,
        deflate: int | None = None,
        shuffle: bool = False,
        cache_bytes: int | None = None,
        fill: bool = True,
        alloc: str = "default",
    ) -> Hdf5File:
        """Create a file with one dataset, as `NetcdfFile.create` does with a variable.

        `alloc` says when storage is allocated: one of `ALLOCS`.
        """
        if alloc not in ALLOCS:
            raise ValueError(f"alloc={alloc!r}: give one of {', '.join(ALLOCS)}")
        prepare()
        kind = native(np.dtype(dtype))
        sizes = (ctypes.c_uint64 * max(len(shape), 1))(*shape)
        with (
            dataset_creation(chunks, deflate, shuffle, fill, alloc) as plan,
            dataset_access(cache_bytes) as options,
            closing("H5Sclose", got("H5Screate_simple", len(shape), sizes, None)) as space,
        ):
            named = os.fsencode(path)
            file = got("H5Fcreate", named, ctypes.c_uint(_TRUNCATE), Id(0), Id(0), said=str(path))
            return cls._made(
                Path(path),
                file,
                lambda: got(
                    "H5Dcreate2", Id(file), dataset.encode(), Id(kind), space, Id(0), plan,
                    options, said=dataset,
                ),
            )  # fmt: skip

    @classmethod
    def _made(cls, path: Path, file: int, dataset: Callable[[], int]) -> Hdf5File:
        """Take a file and get the dataset in it; close both where it cannot be used."""
        with ExitStack() as undo:
            undo.callback(function("H5Fclose"), Id(file))
            found = dataset()
            undo.callback(function("H5Dclose"), Id(found))
            made = cls(path, file, found)
            undo.pop_all()
        return made

    def access(
        self,
        action: str,
        starts: ArrayLike,
        counts: ArrayLike,
        strides: ArrayLike | None,
        buffer: NDArray[Any],
        *,
        keep_spaces: bool = True,
        keep_list: bool = True,
        reuse: bool = False,
        each: NDArray[np.float64] | None = None,
    ) -> float:
        """Read or write hyperslabs, one H5Dread or H5Dwrite for each, in a loop in C.

        It is given what `NetcdfFile.prepared` is, and returns the seconds of the loop. With
        `keep_spaces` the dataspaces are got once for all calls (memory's again for another shape),
        with `keep_list` the default list of transfer properties is used; without, both are made
        and closed in every call, as netCDF-C does.

        Raises
        ------
        LibraryError
            If a call fails, with its number.
        IndexError, TypeError, ValueError
            Before anything is read or written, for what does not fit the dataset.
        """
        loop = self._loop(action, starts, counts, strides, buffer, reuse, each)
        kind = 0 if keep_list else variable("H5P_CLS_DATASET_XFER_ID_g")
        status = kernel().hs_hdf5(
            ctypes.byref(functions(action)), Id(self._dataset), Id(self._type), int(keep_spaces),
            Id(kind), len(self.shape), *loop.arguments,
        )  # fmt: skip
        if status:
            raise LibraryError(f"HDF5 cannot {action}, call {loop.failed} of {len(loop)}")
        return loop.seconds

    def chunk_cache_bytes(self) -> int:
        """Return the size of the chunk cache that the dataset has (H5Pget_chunk_cache)."""
        self._check()
        slots, size, preemption = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_double()
        with closing("H5Pclose", got("H5Dget_access_plist", Id(self._dataset))) as plan:
            got(
                "H5Pget_chunk_cache", plan, ctypes.byref(slots), ctypes.byref(size),
                ctypes.byref(preemption), kind=ctypes.c_int,
            )  # fmt: skip
        return size.value

    def sync(self) -> float:
        """Flush HDF5's buffers, and the system's to the device; return the seconds."""
        self._check()
        seconds = ctypes.c_double()
        table, path = ctypes.byref(functions("write")), os.fsencode(self._path)
        if kernel().hs_hdf5_sync(table, Id(self._file), path, ctypes.byref(seconds)):
            raise LibraryError(f"HDF5 cannot flush {self._path}")
        return seconds.value

    def _close(self) -> float:
        seconds = ctypes.c_double()
        status = kernel().hs_hdf5_close(
            ctypes.byref(functions("read")), Id(self._file), Id(self._dataset),
            ctypes.byref(seconds),
        )  # fmt: skip
        if status:
            raise LibraryError(f"HDF5 cannot close {self._path}")
        return seconds.value


class Functions(ctypes.Structure):
    """The functions of HDF5 that the kernel calls, in its order."""

    _fields_ = [
        (name, ctypes.c_void_p)
        for name in (
            "transfer", "get_space", "create_simple", "select", "close_space", "create_list",
            "close_list", "flush", "close_dataset", "close_file",
        )
    ]  # fmt: skip


@cache
def functions(action: str) -> Functions:
    """Return the table of functions for an action, "read" or "write"."""
    names = (
        "H5Dread" if action == "read" else "H5Dwrite", "H5Dget_space", "H5Screate_simple",
        "H5Sselect_hyperslab", "H5Sclose", "H5Pcreate", "H5Pclose", "H5Fflush", "H5Dclose",
        "H5Fclose",
    )  # fmt: skip
    return Functions(*map(address, names))


def prepare() -> None:
    """Load the kernel, and HDF5's own constants."""
    kernel()
    got("H5open", kind=ctypes.c_int)
    # Errors come as exceptions, not as text on standard error.
    function("H5Eset_auto2")(Id(0), None, None)


def got(name: str, *arguments: Any, kind: Any = Id, said: str = "") -> int:
    """Call a function of HDF5; negative is its only word for an error."""
    call = function(name)
    call.restype = kind
    found = int(call(*arguments))
    if found < 0:
        raise LibraryError(f"{name} fails{f' on {said}' if said else ''}")
    return found


@contextmanager
def closing(close: str, identifier: int) -> Iterator[Id]:
    """Close an identifier when the block ends, by the function of HDF5 with this name."""
    try:
        yield Id(identifier)
    finally:
        function(close)(Id(identifier))


@contextmanager
def file_access(sieve_bytes: int | None) -> Iterator[Id]:
    """Give a list of access properties with a sieve buffer, or the default one."""
    if sieve_bytes is None:
        yield Id(0)
        return
    with _property_list("FILE_ACCESS") as made:
        got("H5Pset_sieve_buf_size", made, ctypes.c_size_t(sieve_bytes), kind=ctypes.c_int)
        yield made


@contextmanager
def dataset_access(cache_bytes: int | None) -> Iterator[Id]:
    """Give a list of access properties with a chunk cache, or the default one."""
    if cache_bytes is None:
        yield Id(0)
        return
    same_slots, same_preemption = ctypes.c_size_t(-1), ctypes.c_double(-1.0)
    with _property_list("DATASET_ACCESS") as made:
        got(
            "H5Pset_chunk_cache", made, same_slots, ctypes.c_size_t(cache_bytes),
            same_preemption, kind=ctypes.c_int,
        )  # fmt: skip
        yield made


@contextmanager
def dataset_creation(
    chunks: Sequence[int] | None, deflate: int | None, shuffle: bool, fill: bool, alloc: str
) -> Iterator[Id]:
    """Give a list of creation properties; they are those of `Hdf5File.create`."""
    with _property_list("DATASET_CREATE") as made:
        if chunks is not None:
            lengths = (ctypes.c_uint64 * len(chunks))(*chunks)
            got("H5Pset_chunk", made, len(chunks), lengths, kind=ctypes.c_int)
        if shuffle:
            got("H5Pset_shuffle", made, kind=ctypes.c_int)
        if deflate is not None:
            got("H5Pset_deflate", made, ctypes.c_uint(deflate), kind=ctypes.c_int)
        if not fill:
            got("H5Pset_fill_time", made, _NEVER_FILL, kind=ctypes.c_int)
        if alloc != "default":
            got("H5Pset_alloc_time", made, ALLOCS[alloc], kind=ctypes.c_int)
        yield made


@contextmanager
def _property_list(kind: str) -> Iterator[Id]:
    with closing("H5Pclose", got("H5Pcreate", Id(variable(f"H5P_CLS_{kind}_ID_g")))) as made:
        yield made


def lengths_of(dataset: int) -> tuple[int, ...]:
    """Return the lengths of a dataset's axes."""
    with closing("H5Sclose", got("H5Dget_space", Id(dataset))) as space:
        rank = got("H5Sget_simple_extent_ndims", space, kind=ctypes.c_int)
        lengths = (ctypes.c_uint64 * max(rank, 1))()
        got("H5Sget_simple_extent_dims", space, lengths, None, kind=ctypes.c_int)
    return tuple(list(lengths)[:rank])


def native(dtype: np.dtype[Any]) -> int:
    """Return HDF5's handle of a type in memory.

    Raises
    ------
    ValueError
        If HDF5 has no such number.
    """
    if dtype.kind in _STEMS:
        return int(variable(f"H5T_NATIVE_{_STEMS[dtype.kind]}{8 * dtype.itemsize}_g"))
    if dtype.kind == "f" and dtype.itemsize in _FLOATS:
        return int(variable(f"H5T_NATIVE_{_FLOATS[dtype.itemsize]}_g"))
    raise ValueError(f"dtype={dtype}: give an integer or a float of 4 or 8 bytes")


def stored(dataset: int) -> np.dtype[Any]:
    """Return the type of a dataset's values, in native byte order.

    Raises
    ------
    ValueError
        If it holds no numbers.
    """
    with closing("H5Tclose", got("H5Dget_type", Id(dataset))) as found:
        kind = _CLASSES.get(got("H5Tget_class", found, kind=ctypes.c_int))
        size = got("H5Tget_size", found, kind=ctypes.c_ssize_t)
        if kind == "i" and got("H5Tget_sign", found, kind=ctypes.c_int) == 0:
            kind = "u"
    if kind is None:
        raise ValueError("the dataset holds no numbers; give one of integers or floats")
    return np.dtype(f"{kind}{size}")
