"""HDF5's functions as the kernel calls them: handles, types, property lists."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from hyperslab.kernels.build import kernel
from hyperslab.kernels.library import LibraryError, address, function, variable

Id = ctypes.c_int64
_STEMS = {"i": "INT", "u": "UINT"}
_FLOATS = {4: "FLOAT", 8: "DOUBLE"}
_CLASSES = {0: "i", 1: "f"}
ALLOCS = {"default": 0, "early": 1, "late": 2, "incremental": 3}
_NEVER_FILL = 1


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
