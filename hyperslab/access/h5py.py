"""h5py, on files and, through fsspec, behind URLs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import h5py

from hyperslab.access.base import Reader, StreamReader, streamed, visited
from hyperslab.access.cards import Card
from hyperslab.access.urls import Place

PAGE_BUFFER_BYTES = 2**25


class H5pyReader(StreamReader):
    """Reads HDF5, and so netCDF-4, with h5py.

    `h5py-none`, `h5py-64k` and `h5py-blocks` differ in fsspec's cache: none, 64 KiB of read-ahead,
    blocks of 1 MiB. `h5py-paged` reads files that were written in pages, with a buffer of 32 MiB
    for them.
    """

    def file(self, source: Any, chunk_cache_bytes: int | None = None) -> Any:
        """Open a file."""
        options = {} if chunk_cache_bytes is None else {"rdcc_nbytes": chunk_cache_bytes}
        if self.name == "h5py-paged":
            options["page_buf_size"] = PAGE_BUFFER_BYTES
        return h5py.File(source, "r", **options)

    def names(self, place: Place) -> Iterable[str]:
        """Give the names of the datasets, with their groups."""
        return dataset_names(place)

    def version(self) -> str:
        """Give the versions of h5py and of the HDF5 in it."""
        return f"{h5py.__version__} (HDF5 {h5py.version.hdf5_version})"


def dataset_names(place: Place) -> list[str]:
    """Give the names of the datasets of a file, with their groups."""
    with ExitStack() as held:
        return visited(held.enter_context(h5py.File(streamed(place, held), "r")))


def find_plugins() -> None:
    """Let HDF5 read zstd, Blosc and bzip2 with the plugins that netCDF4's wheel brings."""
    found = find_spec("netCDF4")
    for folder in (found.submodule_search_locations or ()) if found else ():
        plugins = os.fsencode(Path(folder) / "plugins")
        known = [h5py.h5pl.get(i) for i in range(h5py.h5pl.size())]
        if Path(os.fsdecode(plugins)).is_dir() and plugins not in known:
            h5py.h5pl.append(plugins)


def make(card: Card) -> Reader:
    """Make the reader of a card."""
    find_plugins()
    return H5pyReader(card)
