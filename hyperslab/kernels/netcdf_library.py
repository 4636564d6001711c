"""What a netCDF file holds, asked of netCDF-C: names, shapes, and how a variable is stored."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from hyperslab.kernels.library import checked

# Bits of nc_create; without any the file gets the process's default format.
FORMATS = {
    "netcdf3": 0x0000,
    "netcdf3-64bit": 0x0200,
    "cdf5": 0x0020,
    "netcdf4": 0x1000,
    "netcdf4-classic": 0x1100,
}
CHUNKED, CONTIGUOUS = 0, 1
_CLASSIC, _NOFILL = 1, 0x100
_NAME_BYTES = 257


def names(path: str | Path) -> list[str]:
    """Return the names of all variables of a file, with their groups.

    Raises
    ------
    LibraryError
        If netCDF-C cannot open it.
    """
    file = ctypes.c_int()
    checked("nc_open", os.fsencode(path), 0, ctypes.byref(file))
    try:
        return list(_walk(file.value, ""))
    finally:
        checked("nc_close", file)


def _walk(group: int, before: str) -> Iterator[str]:
    name = ctypes.create_string_buffer(_NAME_BYTES)
    for variable in _listed("nc_inq_varids", group):
        checked("nc_inq_varname", group, variable, name)
        yield before + name.value.decode()
    for inner in _listed("nc_inq_grps", group):
        checked("nc_inq_grpname", inner, name)
        yield from _walk(inner, f"{before}{name.value.decode()}/")


def _listed(function: str, group: int) -> list[int]:
    count = ctypes.c_int()
    checked(function, group, ctypes.byref(count), None)
    found = (ctypes.c_int * max(count.value, 1))()
    checked(function, group, ctypes.byref(count), found)
    return list(found)[: count.value]


def new_file(path: str | Path, format: str, fill: bool) -> ctypes.c_int:
    """Create a file, in define mode, and return its handle."""
    file, before = ctypes.c_int(), ctypes.c_int()
    # netCDF4-python changes the default to the format of the last file that it created.
    checked("nc_set_default_format", _CLASSIC, ctypes.byref(before))
    try:
        checked("nc_create", os.fsencode(path), FORMATS[format], ctypes.byref(file))
    finally:
        checked("nc_set_default_format", before, None)
    if not fill:  # netCDF-4 asks when the variable is defined, the others when it ends
        checked("nc_set_fill", file, _NOFILL, ctypes.byref(ctypes.c_int()))
    return file


def find(file: int, variable: str) -> tuple[int, int]:
    """Return the handles of a variable's group and of the variable."""
    *groups, name = variable.strip("/").split("/")
    group, inner, found = file, ctypes.c_int(), ctypes.c_int()
    for part in groups:
        checked("nc_inq_ncid", group, part.encode(), ctypes.byref(inner))
        group = inner.value
    checked("nc_inq_varid", group, name.encode(), ctypes.byref(found))
    return group, found.value


def shape_of(group: int, variable: int, rank: int) -> tuple[int, ...]:
    """Return the lengths of a variable's dimensions, as they are now."""
    dims, length, shape = (ctypes.c_int * max(rank, 1))(), ctypes.c_size_t(), []
    checked("nc_inq_vardimid", group, variable, dims)
    for dim in list(dims)[:rank]:
        checked("nc_inq_dimlen", group, dim, ctypes.byref(length))
        shape.append(length.value)
    return tuple(shape)


def store(
    file: ctypes.c_int,
    variable: ctypes.c_int,
    chunks: Sequence[int] | None,
    deflate: int | None,
    shuffle: bool,
) -> None:
    """Choose how a variable of netCDF-4 is stored, in define mode."""
    if chunks is None:
        checked("nc_def_var_chunking", file, variable, CONTIGUOUS, None)
    else:
        lengths = (ctypes.c_size_t * len(chunks))(*chunks)
        checked("nc_def_var_chunking", file, variable, CHUNKED, lengths)
    if deflate is not None or shuffle:
        checked(
            "nc_def_var_deflate", file, variable, int(shuffle), int(deflate is not None),
            deflate or 0,
        )  # fmt: skip
