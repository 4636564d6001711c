"""One dataset of an HDF5 file, read and written by loops in C straight on HDF5."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from hyperslab.kernels.kernel_build import kernel
from hyperslab.kernels.library import LibraryError, address, function, variable
from hyperslab.kernels.loops import OpenedArray

Id = ctypes.c_int64
_READ_ONLY, _TRUNCATE = ctypes.c_uint(0), ctypes.c_uint(2)
_INTEGERS, _SIGNED, _EARLY = 0, 1, 1
# What the kernel calls, in its order, after H5Dread or H5Dwrite.
_CALLED = (
    "H5Dget_space", "H5Screate_simple", "H5Sselect_hyperslab", "H5Sclose", "H5Pcreate", "H5Pclose",
    "H5Dclose", "H5Fclose",
)  # fmt: skip


class Hdf5File(OpenedArray):
    """One dataset of integers in an open HDF5 file; each block is one H5Dread or H5Dwrite."""

    def __init__(self, path: Path, file: int, dataset: int) -> None:
        super().__init__(path)
        self._file, self._dataset = Id(file), Id(dataset)
        self.shape = _lengths(self._dataset)
        self.dtype = _stored(self._dataset)
        self._type = native(self.dtype)

    @classmethod
    def open(cls, path: Path, dataset: str, *, sieve_bytes: int | None = None) -> Self:
        """Open one dataset of a file to read it; None keeps HDF5's own sieve buffer."""
        prepare()
        sieve = sieve_bytes is not None and ("sieve_buf_size", ctypes.c_size_t(sieve_bytes))
        with _properties("FILE_ACCESS", sieve) as plan:
            file = got("H5Fopen", os.fsencode(path), _READ_ONLY, plan, subject=str(path))
            return cls._with_dataset(path, file, "H5Dopen2", dataset, Id(0))

    @classmethod
    def create(
        cls,
        path: Path,
        dataset: str,
        shape: Sequence[int],
        dtype: str,
        *,
        chunks: Sequence[int] | None = None,
        cache_bytes: int | None = None,
        early: bool = False,
    ) -> Self:
        prepare()
        kind = native(np.dtype(dtype))
        lengths = (ctypes.c_uint64 * max(len(shape), 1))(*shape)
        settings = [
            chunks is not None and ("chunk", len(chunks), (ctypes.c_uint64 * len(chunks))(*chunks)),
            early and ("alloc_time", _EARLY),
        ]
        slots, preemption = ctypes.c_size_t(-1), ctypes.c_double(-1.0)  # as they are
        sized = "chunk_cache", slots, ctypes.c_size_t(cache_bytes or 0), preemption
        with (
            _properties("DATASET_CREATE", *settings) as plan,
            _properties("DATASET_ACCESS", cache_bytes is not None and sized) as options,
            closing("H5Sclose", got("H5Screate_simple", len(shape), lengths, None)) as space,
        ):
            named = os.fsencode(path)
            file = got("H5Fcreate", named, _TRUNCATE, Id(0), Id(0), subject=str(path))
            how = Id(kind), space, Id(0), plan, options
            return cls._with_dataset(path, file, "H5Dcreate2", dataset, *how)

    @classmethod
    def _with_dataset(cls, path: Path, file: int, call: str, dataset: str, *arguments: Any) -> Self:
        with ExitStack() as undo:
            undo.callback(function("H5Fclose"), Id(file))
            identifier = got(call, Id(file), dataset.encode(), *arguments, subject=dataset)
            undo.callback(function("H5Dclose"), Id(identifier))
            opened = cls(path, file, identifier)
            undo.pop_all()
        return opened

    # Both are got once for all calls, or made and closed in every one, as netCDF-C does.
    def _call(
        self, action: str, strided: bool, keep_spaces: bool = True, keep_list: bool = True
    ) -> tuple[str, Callable[..., int]]:
        kind = 0 if keep_list else variable("H5P_CLS_DATASET_XFER_ID_g")
        handles = _functions(action), self._dataset, Id(self._type)
        how = int(keep_spaces), Id(kind), len(self.shape)
        return f"H5D{action}", partial(kernel().hs_hdf5, *handles, *how)

    def _words(self, status: int) -> str:
        return "HDF5 cannot do it"

    def chunk_cache_bytes(self) -> int:
        self._check()
        slots, size, preemption = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_double()
        into = [ctypes.byref(number) for number in (slots, size, preemption)]
        with closing("H5Pclose", got("H5Dget_access_plist", self._dataset)) as plan:
            got("H5Pget_chunk_cache", plan, *into, kind=ctypes.c_int)
        return size.value

    def _close(self) -> float:
        handles = _functions("write"), self._file, self._dataset
        return self._timed(kernel().hs_hdf5_close, *handles)


@cache
def _functions(action: str) -> Any:
    addresses = [address(name) for name in (f"H5D{action}", *_CALLED)]
    return (ctypes.c_void_p * len(addresses))(*addresses)


def prepare() -> None:
    kernel()
    got("H5open", kind=ctypes.c_int)
    # Errors come as exceptions, not as text on standard error.
    function("H5Eset_auto2")(Id(0), None, None)


def got(name: str, *arguments: Any, kind: Any = Id, subject: str = "") -> int:
    """Call a function of HDF5; negative is its only word for an error."""
    call = function(name)
    call.restype = kind
    number = int(call(*arguments))
    if number < 0:
        raise LibraryError(f"{name} fails{f' on {subject}' if subject else ''}")
    return number


@contextmanager
def closing(close: str, identifier: int) -> Iterator[Id]:
    try:
        yield Id(identifier)
    finally:
        function(close)(Id(identifier))


@contextmanager
def _properties(kind: str, *settings: Any) -> Iterator[Id]:
    """Give a list of properties: (name of H5Pset_…, values); what is false leaves the default."""
    chosen = [setting for setting in settings if setting]
    if not chosen:
        yield Id(0)
        return
    with closing("H5Pclose", got("H5Pcreate", Id(variable(f"H5P_CLS_{kind}_ID_g")))) as plan:
        for name, *values in chosen:
            got(f"H5Pset_{name}", plan, *values, kind=ctypes.c_int)
        yield plan


def _lengths(dataset: Id) -> tuple[int, ...]:
    with closing("H5Sclose", got("H5Dget_space", dataset)) as space:
        rank = got("H5Sget_simple_extent_ndims", space, kind=ctypes.c_int)
        lengths = (ctypes.c_uint64 * max(rank, 1))()
        got("H5Sget_simple_extent_dims", space, lengths, None, kind=ctypes.c_int)
    return tuple(lengths[:rank])


def native(dtype: np.dtype[Any]) -> int:
    return variable(f"H5T_NATIVE_INT{8 * dtype.itemsize}_g")


def _stored(dataset: Id) -> np.dtype[Any]:
    with closing("H5Tclose", got("H5Dget_type", dataset)) as type_id:
        size = got("H5Tget_size", type_id, kind=ctypes.c_ssize_t)
        signed = got("H5Tget_class", type_id, kind=ctypes.c_int) == _INTEGERS
        signed = signed and got("H5Tget_sign", type_id, kind=ctypes.c_int) == _SIGNED
    if not signed:
        raise ValueError("the dataset holds no signed integers")
    return np.dtype(f"i{size}")
