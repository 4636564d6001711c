"""One dataset of an HDF5 file, read and written by loops in C straight on HDF5."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperslab.kernels.build import kernel
from hyperslab.kernels.calls import calls_of, check_action, clock, place, pointer
from hyperslab.kernels.library import LibraryError, address, function, variable

ALLOCS = {"default": 0, "early": 1, "late": 2, "incremental": 3}
_READ_ONLY, _READ_WRITE, _TRUNCATE = 0, 1, 2
_CHUNKED, _NEVER_FILL = 2, 1
_STEMS = {"i": "INT", "u": "UINT"}
_FLOATS = {4: "FLOAT", 8: "DOUBLE"}
_CLASSES = {0: "i", 1: "f"}

_Id = ctypes.c_int64


class _Functions(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_void_p)
        for name in (
            "transfer", "get_space", "create_simple", "select", "close_space", "flush",
            "close_dataset", "close_file",
        )
    ]  # fmt: skip


class Hdf5File:
    """One dataset of an open HDF5 file; made by `open` and `create`.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
        Type of the stored values, in native byte order; HDF5 converts.

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
        self._path, self._file, self._dataset, self._open = path, file, dataset, True
        space = _got("H5Dget_space", _Id(dataset))
        rank = _got("H5Sget_simple_extent_ndims", _Id(space), kind=ctypes.c_int)
        lengths = (ctypes.c_uint64 * max(rank, 1))()
        _got("H5Sget_simple_extent_dims", _Id(space), lengths, None, kind=ctypes.c_int)
        _got("H5Sclose", _Id(space), kind=ctypes.c_int)
        self.shape = tuple(list(lengths)[:rank])
        self.dtype = _stored(dataset)
        self._type = _native(self.dtype)

    @classmethod
    def open(
        cls, path: str | Path, dataset: str, *, write: bool = False, cache_bytes: int | None = None
    ) -> Hdf5File:
        """Open one dataset of a file.

        Parameters
        ----------
        path
        dataset
            Its name, with groups before it.
        write
            Whether it may be written.
        cache_bytes
            Size of its chunk cache; None keeps HDF5's own.

        Raises
        ------
        LibraryError
            If HDF5 cannot open it.
        ValueError
            If it holds no numbers.
        """
        _prepare()
        mode = _READ_WRITE if write else _READ_ONLY
        file = _got("H5Fopen", os.fsencode(path), ctypes.c_uint(mode), _Id(0), said=str(path))
        try:
            options = _access(cache_bytes)
            found = _got("H5Dopen2", _Id(file), dataset.encode(), options, said=dataset)
            return cls(Path(path), file, found)
        except BaseException:
            function("H5Fclose")(_Id(file))
            raise

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
        """Create a file with one dataset.

        Parameters
        ----------
        path
            What lies there is written over.
        dataset, shape, dtype
            Its name, lengths, and type such as "i4".
        chunks
            Lengths of a chunk; None is contiguous.
        deflate, shuffle
            Level of the filter, and whether bytes are shuffled before it.
        cache_bytes
            Size of its chunk cache; None keeps HDF5's own.
        fill
            Whether storage is filled before it is written.
        alloc
            When storage is allocated: one of `ALLOCS`.

        Raises
        ------
        LibraryError
            If HDF5 refuses.
        ValueError
            For an unknown type or time of allocation.
        """
        if alloc not in ALLOCS:
            raise ValueError(f"alloc={alloc!r}: give one of {', '.join(ALLOCS)}")
        _prepare()
        native = _native(np.dtype(dtype))
        plan = _got("H5Pcreate", _Id(variable("H5P_CLS_DATASET_CREATE_ID_g")))
        if chunks is not None:
            lengths = (ctypes.c_uint64 * len(chunks))(*chunks)
            _got("H5Pset_chunk", _Id(plan), len(chunks), lengths, kind=ctypes.c_int)
        if shuffle:
            _got("H5Pset_shuffle", _Id(plan), kind=ctypes.c_int)
        if deflate is not None:
            _got("H5Pset_deflate", _Id(plan), ctypes.c_uint(deflate), kind=ctypes.c_int)
        if not fill:
            _got("H5Pset_fill_time", _Id(plan), _NEVER_FILL, kind=ctypes.c_int)
        if alloc != "default":
            _got("H5Pset_alloc_time", _Id(plan), ALLOCS[alloc], kind=ctypes.c_int)
        named = os.fsencode(path)
        file = _got("H5Fcreate", named, ctypes.c_uint(_TRUNCATE), _Id(0), _Id(0), said=str(path))
        try:
            sizes = (ctypes.c_uint64 * max(len(shape), 1))(*shape)
            space = _got("H5Screate_simple", len(shape), sizes, None)
            options = _access(cache_bytes)
            made = _got(
                "H5Dcreate2", _Id(file), dataset.encode(), _Id(native), _Id(space), _Id(0),
                _Id(plan), options, said=dataset,
            )  # fmt: skip
            _got("H5Sclose", _Id(space), kind=ctypes.c_int)
            return cls(Path(path), file, made)
        except BaseException:
            function("H5Fclose")(_Id(file))
            raise

    def access(
        self,
        action: str,
        starts: ArrayLike,
        counts: ArrayLike,
        strides: ArrayLike | None,
        buffer: NDArray[Any],
        *,
        keep_spaces: bool = True,
        reuse: bool = False,
        each: NDArray[np.float64] | None = None,
    ) -> float:
        """Read or write hyperslabs, one H5Dread or H5Dwrite for each, in a loop in C.

        Parameters
        ----------
        action, starts, counts, strides, buffer, reuse, each
            As in `NetcdfFile.access`.
        keep_spaces
            Get the dataspaces once for all calls (memory's again for another shape); False
            makes and closes both in every call, as netCDF-C does.

        Returns
        -------
        float
            Seconds of the loop, by the monotonic clock in C.

        Raises
        ------
        LibraryError
            If a call fails, with its number.
        IndexError, ValueError
            Before anything is read or written, for what does not fit the dataset.
        """
        check_action(action)
        self._check_open()
        calls = calls_of(self.shape, starts, counts, strides)
        where = place(buffer, self.dtype, calls.elements(reuse) * self.dtype.itemsize, action)
        seconds, failed = ctypes.c_double(), ctypes.c_int64()
        status = kernel().hs_hdf5(
            ctypes.byref(_functions(action)), _Id(self._dataset), _Id(self._type), calls.rank,
            ctypes.c_int64(len(calls)), pointer(calls.starts), pointer(calls.counts),
            pointer(calls.strides), ctypes.c_void_p(where), ctypes.c_size_t(self.dtype.itemsize),
            int(keep_spaces), int(reuse), clock(each, len(calls)), ctypes.byref(seconds),
            ctypes.byref(failed),
        )  # fmt: skip
        if status:
            raise LibraryError(f"HDF5 cannot {action}, call {failed.value} of {len(calls)}")
        return seconds.value

    def sync(self) -> float:
        """Flush HDF5's buffers, and the system's to the device; return the seconds."""
        self._check_open()
        seconds = ctypes.c_double()
        functions, path = ctypes.byref(_functions("write")), os.fsencode(self._path)
        if kernel().hs_hdf5_sync(functions, _Id(self._file), path, ctypes.byref(seconds)):
            raise LibraryError(f"HDF5 cannot flush {self._path}")
        return seconds.value

    def close(self) -> float:
        """Close the file and return the seconds; closing again does nothing."""
        if not self._open:
            return 0.0
        self._open = False
        seconds = ctypes.c_double()
        status = kernel().hs_hdf5_close(
            ctypes.byref(_functions("read")), _Id(self._file), _Id(self._dataset),
            ctypes.byref(seconds),
        )  # fmt: skip
        if status:
            raise LibraryError(f"HDF5 cannot close {self._path}")
        return seconds.value

    def __enter__(self) -> Hdf5File:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if not self._open:
            raise ValueError(f"{self._path}: the file is closed; open it again")


@cache
def _functions(action: str) -> _Functions:
    names = (
        "H5Dread" if action == "read" else "H5Dwrite", "H5Dget_space", "H5Screate_simple",
        "H5Sselect_hyperslab", "H5Sclose", "H5Fflush", "H5Dclose", "H5Fclose",
    )  # fmt: skip
    return _Functions(*map(address, names))


def _prepare() -> None:
    kernel()
    _got("H5open", kind=ctypes.c_int)
    # Errors come as exceptions, not as text on standard error.
    function("H5Eset_auto2")(_Id(0), None, None)


def _got(name: str, *arguments: Any, kind: Any = _Id, said: str = "") -> int:
    """Call a function of HDF5; negative is its only word for an error."""
    call = function(name)
    call.restype = kind
    found = int(call(*arguments))
    if found < 0:
        raise LibraryError(f"{name} fails{f' on {said}' if said else ''}")
    return found


def _access(cache_bytes: int | None) -> _Id:
    """Give a list of access properties with a chunk cache, or the default one."""
    if cache_bytes is None:
        return _Id(0)
    made = _got("H5Pcreate", _Id(variable("H5P_CLS_DATASET_ACCESS_ID_g")))
    same_slots, same_preemption = ctypes.c_size_t(-1), ctypes.c_double(-1.0)
    _got(
        "H5Pset_chunk_cache", _Id(made), same_slots, ctypes.c_size_t(cache_bytes),
        same_preemption, kind=ctypes.c_int,
    )  # fmt: skip
    return _Id(made)


def _native(dtype: np.dtype[Any]) -> int:
    if dtype.kind in _STEMS:
        return int(variable(f"H5T_NATIVE_{_STEMS[dtype.kind]}{8 * dtype.itemsize}_g"))
    if dtype.kind == "f" and dtype.itemsize in _FLOATS:
        return int(variable(f"H5T_NATIVE_{_FLOATS[dtype.itemsize]}_g"))
    raise ValueError(f"dtype={dtype}: give an integer or a float of 4 or 8 bytes")


def _stored(dataset: int) -> np.dtype[Any]:
    stored = _got("H5Dget_type", _Id(dataset))
    kind = _CLASSES.get(_got("H5Tget_class", _Id(stored), kind=ctypes.c_int))
    size = _got("H5Tget_size", _Id(stored), kind=ctypes.c_ssize_t)
    if kind == "i" and _got("H5Tget_sign", _Id(stored), kind=ctypes.c_int) == 0:
        kind = "u"
    _got("H5Tclose", _Id(stored), kind=ctypes.c_int)
    if kind is None:
        raise ValueError("the dataset holds no numbers; give one of integers or floats")
    return np.dtype(f"{kind}{size}")
