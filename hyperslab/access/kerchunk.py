"""kerchunk's references to HDF5 files, read by zarr-python through fsspec."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import kerchunk
import zarr
from fsspec.implementations.reference import ReferenceFileSystem
from zarr.storage import FsspecStore

from hyperslab.access.base import LibraryReader, Opened, no_cache
from hyperslab.access.card import Card
from hyperslab.access.references import array_names, references_of
from hyperslab.access.urls import Remote, system_in_zarr
from hyperslab.access.zarr import opened_array


class KerchunkReader(LibraryReader):
    """Reads HDF5, and so netCDF-4, behind URLs as Zarr, by references made before.

    They lie beside the file, or where the option "references" says, and opening reads them:
    ``hyperslab.access.references.write(path)`` makes them.
    """

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        raise NotImplementedError

    def _open_remote(self, remote: Remote, variable: str, chunk_cache_bytes: int | None) -> Opened:
        no_cache(self.name, chunk_cache_bytes)
        refs = references_of(remote)
        system, _, close = system_in_zarr(remote.without("references"))
        files: Any = ReferenceFileSystem(
            refs, fs=system, asynchronous=True, skip_instance_cache=True
        )
        store = FsspecStore(files, path="", read_only=True)
        return opened_array(store, variable, variable, close, zarr_format=2)

    def names(self, path: Path) -> Iterable[str]:
        """Nothing: it reads URLs."""
        raise NotImplementedError

    def remote_names(self, remote: Remote) -> Iterable[str]:
        return array_names(references_of(remote))

    def exists(self, place: Path | Remote) -> bool:
        return isinstance(place, Remote) and place.without("references").exists()

    def version(self) -> str:
        """Give the versions of kerchunk and zarr-python."""
        return f"{kerchunk.__version__} (zarr {zarr.__version__})"


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    return KerchunkReader(card)
