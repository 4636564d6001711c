"""h5netcdf."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import h5netcdf
import h5py

from hyperslab.access.base import LibraryReader, Opened, OpenedArray
from hyperslab.access.card import Card
from hyperslab.access.h5py import find_plugins
from hyperslab.storage.region import Region


class H5netcdfReader(LibraryReader):
    """Reads netCDF-4 and HDF5 with h5netcdf; dimensions without names are given some."""

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        options = {} if chunk_cache_bytes is None else {"rdcc_nbytes": chunk_cache_bytes}
        file = h5netcdf.File(path, "r", phony_dims="access", **options)
        try:
            found = file[variable]
            if not isinstance(found, h5netcdf.Variable):
                raise KeyError(f"{variable!r} is a group")
            return _H5netcdfArray(variable, file, found)
        except BaseException:
            file.close()
            raise

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the variables, group by group."""
        with h5netcdf.File(path, "r", phony_dims="access") as file:
            return list(_walk(file, ""))

    def version(self) -> str:
        """Give the versions of h5netcdf, h5py and HDF5."""
        return f"{h5netcdf.__version__} (h5py {h5py.__version__}, HDF5 {h5py.version.hdf5_version})"


def _walk(group: Any, before: str) -> Iterable[str]:
    for name in group.variables:
        yield before + name
    for name, inner in group.groups.items():
        yield from _walk(inner, f"{before}{name}/")


class _H5netcdfArray(OpenedArray):
    def __init__(self, name: str, file: Any, variable: Any) -> None:
        super().__init__(name, variable.shape, variable.dtype)
        self._file, self._variable = file, variable

    def _fetch(self, chosen: Region) -> Any:
        return self._variable[chosen.indices or ...]

    def _close(self) -> None:
        self._file.close()


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    find_plugins()
    return H5netcdfReader(card)
