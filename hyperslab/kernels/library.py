"""Find the functions of the netCDF-C and HDF5 that netCDF4-python has loaded."""

from __future__ import annotations

import ctypes
import importlib
import os
from functools import cache
from typing import Any

from hyperslab.kernels.kernel_build import KernelError


class LibraryError(OSError):
    """A call of netCDF-C, HDF5 or the system failed."""


@cache
def _loaded() -> ctypes.CDLL:
    # Not in h5py's HDF5, which has the same names in the same process.
    extension = importlib.import_module("netCDF4._netCDF4")
    return ctypes.CDLL(str(extension.__file__), mode=os.RTLD_NOLOAD | os.RTLD_NOW)


@cache
def function(name: str) -> Any:
    """Return a function of netCDF-C or HDF5; it gives a C int unless `restype` is set."""
    try:
        return _loaded()[name]
    except AttributeError as error:
        raise KernelError(
            f"{name} is not found in the libraries of netCDF4: it was built with netCDF-C inside "
            "it; install the wheel (pip install netCDF4)"
        ) from error


def address(name: str) -> int:
    pointer = ctypes.cast(function(name), ctypes.c_void_p).value
    assert pointer is not None
    return pointer


def variable(name: str) -> int:
    """Return the value of a variable of HDF5: the identifier of a type or a class."""
    return ctypes.c_int64.in_dll(_loaded(), name).value


def checked(name: str, *arguments: Any) -> None:
    """Call a function of netCDF-C, or say with its own words why it failed."""
    if status := function(name)(*arguments):
        raise LibraryError(f"{name}: {words(status)}")


def words(status: int) -> str:
    explain = function("nc_strerror")
    explain.restype = ctypes.c_char_p
    return str(explain(ctypes.c_int(status)).decode())
