"""netCDF4-python, on files, on NCZarr directories and over HTTP."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from hyperslab.access.base import LibraryReader, Opened, OpenedArray
from hyperslab.access.card import Card
from hyperslab.access.urls import Remote
from hyperslab.storage.region import Region


class NetCDF4Reader(LibraryReader):
    """Reads stored values with netCDF4-python: masking and scaling are off.

    Over HTTP netCDF-C fetches ranges itself, as ``#mode=bytes`` asks it to.
    """

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        return self._array(self.address(path), variable, chunk_cache_bytes)

    def _open_remote(self, remote: Remote, variable: str, chunk_cache_bytes: int | None) -> Opened:
        return self._array(f"{remote.url}#mode=bytes", variable, chunk_cache_bytes)

    def _array(self, address: str, variable: str, chunk_cache_bytes: int | None) -> Opened:
        file = netCDF4.Dataset(address, "r")
        try:
            found = file[variable]
            if not isinstance(found, netCDF4.Variable):
                raise KeyError(f"{variable!r} is a group")
            return NetCDF4Array(variable, file, found, chunk_cache_bytes)
        except BaseException:
            file.close()
            raise

    def address(self, path: Path) -> str:
        """Give what netCDF-C opens."""
        return str(path)

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the variables, group by group."""
        with netCDF4.Dataset(self.address(path), "r") as file:
            return list(_walk(file, ""))

    def remote_names(self, remote: Remote) -> Iterable[str]:
        with netCDF4.Dataset(f"{remote.url}#mode=bytes", "r") as file:
            return list(_walk(file, ""))

    def version(self) -> str:
        """Give the versions of netCDF4-python and of the C libraries in it."""
        return (
            f"{netCDF4.__version__} (netCDF-C {netCDF4.__netcdf4libversion__}, "
            f"HDF5 {netCDF4.__hdf5libversion__})"
        )


def _walk(group: Any, before: str) -> Iterable[str]:
    for name in group.variables:
        yield before + name
    for name, inner in group.groups.items():
        yield from _walk(inner, f"{before}{name}/")


class NetCDF4Array(OpenedArray):
    """A variable of an open netCDF dataset."""

    def __init__(self, name: str, file: Any, variable: Any, chunk_cache_bytes: int | None) -> None:
        super().__init__(name, variable.shape, variable.dtype)
        variable.set_auto_maskandscale(False)
        # Without it a strided selection is one call of the C library for each element.
        variable.use_nc_get_vars(True)
        if chunk_cache_bytes is not None and variable.chunking() not in (None, "contiguous"):
            variable.set_var_chunk_cache(size=chunk_cache_bytes)
        self.stored_dtype = np.dtype(variable.dtype)
        self._file, self._variable = file, variable

    def _fetch(self, chosen: Region) -> Any:
        return self._variable[chosen.indices or ...]

    def _close(self) -> None:
        self._file.close()


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    return NetCDF4Reader(card)
