"""HDF5's functions as the kernel calls them: handles, types, property lists."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from hyperslab.kernels.build import kernel
from hyperslab.kernels.library import LibraryError, address, function, variable

Id = ctypes.c_int64
_STEMS = {"i": "INT", "u": "UINT"}
_FLOATS = {4: "FLOAT", 8: "DOUBLE"}
_CLASSES = {0: "i", 1: "f"}


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


def file_access(sieve_bytes: int | None) -> Id:
    """Give a list of access properties with a sieve buffer, or the default one."""
    if sieve_bytes is None:
        return Id(0)
    made = got("H5Pcreate", Id(variable("H5P_CLS_FILE_ACCESS_ID_g")))
    got("H5Pset_sieve_buf_size", Id(made), ctypes.c_size_t(sieve_bytes), kind=ctypes.c_int)
    return Id(made)


def dataset_access(cache_bytes: int | None) -> Id:
    """Give a list of access properties with a chunk cache, or the default one."""
    if cache_bytes is None:
        return Id(0)
    made = got("H5Pcreate", Id(variable("H5P_CLS_DATASET_ACCESS_ID_g")))
    same_slots, same_preemption = ctypes.c_size_t(-1), ctypes.c_double(-1.0)
    got(
        "H5Pset_chunk_cache", Id(made), same_slots, ctypes.c_size_t(cache_bytes),
        same_preemption, kind=ctypes.c_int,
    )  # fmt: skip
    return Id(made)


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
    found = got("H5Dget_type", Id(dataset))
    kind = _CLASSES.get(got("H5Tget_class", Id(found), kind=ctypes.c_int))
    size = got("H5Tget_size", Id(found), kind=ctypes.c_ssize_t)
    if kind == "i" and got("H5Tget_sign", Id(found), kind=ctypes.c_int) == 0:
        kind = "u"
    got("H5Tclose", Id(found), kind=ctypes.c_int)
    if kind is None:
        raise ValueError("the dataset holds no numbers; give one of integers or floats")
    return np.dtype(f"{kind}{size}")
