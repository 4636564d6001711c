"""h5py, on files and, through fsspec, behind URLs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import h5py

from hyperslab.access.base import LibraryReader, NotNumbersError, Opened, OpenedArray
from hyperslab.access.card import Card
from hyperslab.access.urls import Remote
from hyperslab.storage.region import Region

# fsspec's caches by the reader that takes one; `h5py` itself keeps fsspec's choice: 5 MiB of
# read-ahead over HTTP, 50 MiB over S3.
CACHES: dict[str, dict[str, Any]] = {
    "h5py-none": {"cache_type": "none"},
    "h5py-64k": {"cache_type": "readahead", "block_size": 2**16},
    "h5py-blocks": {"cache_type": "blockcache", "block_size": 2**20},
    # HDF5 fetches whole pages itself.
    "h5py-paged": {"cache_type": "none"},
}
PAGE_BUFFER_BYTES = 2**25


class H5pyReader(LibraryReader):
    """Reads HDF5, and so netCDF-4, with h5py.

    `h5py-none`, `h5py-64k` and `h5py-blocks` differ in fsspec's cache: none, 64 KiB of read-ahead,
    blocks of 1 MiB. `h5py-paged` reads files that were written in pages, with a buffer of 32 MiB
    for them.
    """

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        return self._array(path, variable, chunk_cache_bytes, ExitStack())

    def _open_remote(self, remote: Remote, variable: str, chunk_cache_bytes: int | None) -> Opened:
        held = ExitStack()
        stream = held.enter_context(remote.stream(CACHES.get(self.name)))
        return self._array(stream, variable, chunk_cache_bytes, held)

    def _array(
        self, place: Any, variable: str, chunk_cache_bytes: int | None, held: ExitStack
    ) -> Opened:
        options = {} if chunk_cache_bytes is None else {"rdcc_nbytes": chunk_cache_bytes}
        if self.name == "h5py-paged":
            options["page_buf_size"] = PAGE_BUFFER_BYTES
        with held:
            file = held.enter_context(h5py.File(place, "r", **options))
            found = file[variable]
            if not isinstance(found, h5py.Dataset):
                raise KeyError(f"{variable!r} is a group")
            array = _H5pyArray(variable, found)
            array.held = held.pop_all()
            return array

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the datasets, with their groups."""
        return dataset_names(path)

    def remote_names(self, remote: Remote) -> Iterable[str]:
        with remote.stream() as stream:
            return dataset_names(stream)

    def version(self) -> str:
        """Give the versions of h5py and of the HDF5 in it."""
        return f"{h5py.__version__} (HDF5 {h5py.version.hdf5_version})"


def dataset_names(place: Any) -> list[str]:
    """Give the names of the datasets of a file or stream, with their groups."""
    found: list[str] = []
    with h5py.File(place, "r") as file:
        file.visititems(
            lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None
        )
    return found


class _H5pyArray(OpenedArray):
    held: ExitStack

    def __init__(self, name: str, dataset: Any) -> None:
        if dataset.shape is None:
            raise NotNumbersError(f"{name!r} holds nothing; readers take integers and floats")
        super().__init__(name, dataset.shape, dataset.dtype)
        self._dataset = dataset

    def _fetch(self, chosen: Region) -> Any:
        return self._dataset[chosen.indices]

    def _close(self) -> None:
        self.held.close()


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
