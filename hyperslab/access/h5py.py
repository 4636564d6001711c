"""h5py."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import h5py

from hyperslab.access.base import LibraryReader, NotNumbersError, Opened, OpenedArray
from hyperslab.access.card import Card
from hyperslab.storage.region import Region


class H5pyReader(LibraryReader):
    """Reads HDF5, and so netCDF-4, with h5py."""

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        options = {} if chunk_cache_bytes is None else {"rdcc_nbytes": chunk_cache_bytes}
        file = h5py.File(path, "r", **options)
        try:
            found = file[variable]
            if not isinstance(found, h5py.Dataset):
                raise KeyError(f"{variable!r} is a group")
            return _H5pyArray(variable, file, found)
        except BaseException:
            file.close()
            raise

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the datasets, with their groups."""
        found: list[str] = []
        with h5py.File(path, "r") as file:
            file.visititems(
                lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None
            )
        return found

    def version(self) -> str:
        """Give the versions of h5py and of the HDF5 in it."""
        return f"{h5py.__version__} (HDF5 {h5py.version.hdf5_version})"


class _H5pyArray(OpenedArray):
    def __init__(self, name: str, file: Any, dataset: Any) -> None:
        if dataset.shape is None:
            raise NotNumbersError(f"{name!r} holds nothing; readers take integers and floats")
        super().__init__(name, dataset.shape, dataset.dtype)
        self._file, self._dataset = file, dataset

    def _fetch(self, chosen: Region) -> Any:
        return self._dataset[chosen.indices]

    def _close(self) -> None:
        self._file.close()


def find_plugins() -> None:
    """Let HDF5 read zstd, Blosc and bzip2 with the plugins that netCDF4's wheel brings."""
    found = find_spec("netCDF4")
    for folder in (found.submodule_search_locations or ()) if found else ():
        plugins = os.fsencode(Path(folder) / "plugins")
        known = [h5py.h5pl.get(i) for i in range(h5py.h5pl.size())]
        if Path(os.fsdecode(plugins)).is_dir() and plugins not in known:
            h5py.h5pl.append(plugins)


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    find_plugins()
    return H5pyReader(card)
