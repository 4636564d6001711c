"""One variable of a netCDF file, read and written by loops in C on netCDF-C."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from hyperslab.kernels.kernel_build import kernel
from hyperslab.kernels.library import address, checked, words
from hyperslab.kernels.loops import OpenedArray

# Bits of nc_create; without any the file gets the process's default format.
_FORMATS = {"netcdf3": 0x0000, "netcdf4": 0x1000}
_CHUNKED, _CONTIGUOUS = 0, 1
_CLASSIC, _NOFILL = 1, 0x100
_TYPES = {
    "i1": 1, "i2": 3, "i4": 4, "f4": 5, "f8": 6, "u1": 7, "u2": 8, "u4": 9, "i8": 10, "u8": 11,
}  # fmt: skip
_DTYPES = {number: np.dtype(name) for name, number in _TYPES.items()}


class NetcdfFile(OpenedArray):
    """One variable of an open netCDF file, by nc_get_vara and nc_put_vara, or vars for strides."""

    def __init__(self, path: Path, file: int, variable: str, cache_bytes: int | None) -> None:
        super().__init__(path)
        self._file, group = file, file
        *groups, name = variable.strip("/").split("/")
        for inner in groups:
            group = _got("nc_inq_ncid", group, inner.encode())
        self._where = group, _got("nc_inq_varid", group, name.encode())
        kind = _got("nc_inq_vartype", *self._where)
        self.dtype = _DTYPES.get(kind, np.dtype("O"))  # what holds no numbers is not read
        rank = _got("nc_inq_varndims", *self._where)
        dims = (ctypes.c_int * max(rank, 1))()
        checked("nc_inq_vardimid", *self._where, dims)
        lengths = (_got("nc_inq_dimlen", group, dim, kind=ctypes.c_size_t) for dim in dims[:rank])
        self.shape = tuple(lengths)
        if cache_bytes is not None and self._chunked():
            _, slots, preemption = self._cache()
            how = ctypes.c_size_t(cache_bytes), slots, preemption
            checked("nc_set_var_chunk_cache", *self._where, *how)

    @classmethod
    def open(cls, path: Path, variable: str, *, cache_bytes: int | None = None) -> Self:
        """Open one variable of a file to read it; None keeps netCDF-C's own chunk cache."""
        kernel()
        file = _got("nc_open", os.fsencode(path), 0)
        with _closed_if_it_fails(file):
            return cls(path, file, variable, cache_bytes)

    @classmethod
    def create(
        cls,
        path: Path,
        format: str,
        variable: str,
        dims: Sequence[str],
        shape: Sequence[int],
        dtype: str,
        *,
        chunks: Sequence[int] | None = None,
        cache_bytes: int | None = None,
        fill: bool = True,
    ) -> Self:
        """Create a file of netCDF-3 or 4 with one variable, and leave define mode."""
        kernel()
        # netCDF4-python changes the default to the format of the last file that it created.
        checked("nc_set_default_format", _CLASSIC, None)
        file = _got("nc_create", os.fsencode(path), _FORMATS[format])
        with _closed_if_it_fails(file):
            if not fill:  # netCDF-4 asks when the variable is defined, the others when it ends
                _got("nc_set_fill", file, _NOFILL)
            lengths = [
                _got("nc_def_dim", file, name.encode(), ctypes.c_size_t(length))
                for name, length in zip(dims, shape, strict=True)
            ]
            ids = (ctypes.c_int * max(len(lengths), 1))(*lengths)
            variable_id = _got("nc_def_var", file, variable.encode(), _TYPES[dtype], len(dims), ids)
            if chunks or format == "netcdf4":
                stored = _CONTIGUOUS if chunks is None else _CHUNKED
                sizes = None if chunks is None else (ctypes.c_size_t * len(chunks))(*chunks)
                checked("nc_def_var_chunking", file, variable_id, stored, sizes)
            checked("nc_enddef", file)
            return cls(path, file, variable, cache_bytes)

    def _call(self, action: str, strided: bool) -> tuple[str, Callable[..., int]]:
        name = f"nc_{'get' if action == 'read' else 'put'}_var{'s' if strided else 'a'}"
        function = ctypes.c_void_p(address(name))
        return name, partial(kernel().hs_netcdf, function, *self._where, len(self.shape))

    def _words(self, status: int) -> str:
        return words(status)

    def _chunked(self) -> bool:
        storage = ctypes.c_int()
        checked("nc_inq_var_chunking", *self._where, ctypes.byref(storage), None)
        return storage.value == _CHUNKED

    def chunk_cache_bytes(self) -> int:
        self._check()
        return self._cache()[0].value

    def sync(self, *, to_disk: bool = True) -> float:
        self._check()
        return self._done("nc_sync", os.fsencode(self._path) if to_disk else None)

    def _close(self) -> float:
        return self._done("nc_close", None)

    def _done(self, name: str, path: bytes | None) -> float:
        function = ctypes.c_void_p(address(name))
        return self._timed(kernel().hs_netcdf_done, function, self._file, path)

    def _cache(self) -> tuple[ctypes.c_size_t, ctypes.c_size_t, ctypes.c_float]:
        values = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_float()
        checked("nc_get_var_chunk_cache", *self._where, *[ctypes.byref(value) for value in values])
        return values


def _got(name: str, *arguments: Any, kind: Any = ctypes.c_int) -> int:
    """Return the number that a function of netCDF-C gives through its last pointer."""
    number = kind()
    checked(name, *arguments, ctypes.byref(number))
    return int(number.value)


@contextmanager
def _closed_if_it_fails(file: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        checked("nc_close", file)
        raise
