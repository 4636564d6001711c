"""h5netcdf, on files and, through fsspec, behind URLs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import h5netcdf
import h5py

from hyperslab.access.base import LibraryReader, Opened, OpenedArray
from hyperslab.access.card import Card
from hyperslab.access.h5py import find_plugins
from hyperslab.access.urls import Remote
from hyperslab.storage.region import Region


class H5netcdfReader(LibraryReader):
    """Reads netCDF-4 and HDF5 with h5netcdf; dimensions without names are given some."""

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        return self._array(path, variable, chunk_cache_bytes, ExitStack())

    def _open_remote(self, remote: Remote, variable: str, chunk_cache_bytes: int | None) -> Opened:
        held = ExitStack()
        return self._array(held.enter_context(remote.stream()), variable, chunk_cache_bytes, held)

    def _array(
        self, place: Any, variable: str, chunk_cache_bytes: int | None, held: ExitStack
    ) -> Opened:
        options = {} if chunk_cache_bytes is None else {"rdcc_nbytes": chunk_cache_bytes}
        with held:
            file = held.enter_context(h5netcdf.File(place, "r", phony_dims="access", **options))
            found = file[variable]
            if not isinstance(found, h5netcdf.Variable):
                raise KeyError(f"{variable!r} is a group")
            array = _H5netcdfArray(variable, found)
            array.held = held.pop_all()
            return array

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the variables, group by group."""
        return _names(path)

    def remote_names(self, remote: Remote) -> Iterable[str]:
        with remote.stream() as stream:
            return _names(stream)

    def version(self) -> str:
        """Give the versions of h5netcdf, h5py and HDF5."""
        return f"{h5netcdf.__version__} (h5py {h5py.__version__}, HDF5 {h5py.version.hdf5_version})"


def _names(place: Any) -> list[str]:
    with h5netcdf.File(place, "r", phony_dims="access") as file:
        return list(_walk(file, ""))


def _walk(group: Any, before: str) -> Iterable[str]:
    for name in group.variables:
        yield before + name
    for name, inner in group.groups.items():
        yield from _walk(inner, f"{before}{name}/")


class _H5netcdfArray(OpenedArray):
    held: ExitStack

    def __init__(self, name: str, variable: Any) -> None:
        super().__init__(name, variable.shape, variable.dtype)
        self._variable = variable

    def _fetch(self, chosen: Region) -> Any:
        return self._variable[chosen.indices or ...]

    def _close(self) -> None:
        self.held.close()


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    find_plugins()
    return H5netcdfReader(card)
