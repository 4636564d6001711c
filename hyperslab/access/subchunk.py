"""hyperslab.subchunk: inside of compressed chunks, where a file has an index."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hyperslab import __version__, subchunk
from hyperslab.access.base import LibraryReader, Opened, OpenedArray, no_cache
from hyperslab.access.card import Card
from hyperslab.access.urls import Remote
from hyperslab.storage.region import Region
from hyperslab.subchunk.deflate.inflate import inflater


class SubchunkReader(LibraryReader):
    """Reads HDF5, and so netCDF-4, with the index beside the file; without one chunk by chunk.

    A cold case names the index among its files too. Behind a URL the index lies beside the file as
    well; `subchunk-obstore` fetches both by obstore, `subchunk` by fsspec.
    """

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        no_cache(self.name, chunk_cache_bytes)
        return self._array(subchunk.open(path), variable)

    def _open_remote(self, remote: Remote, variable: str, chunk_cache_bytes: int | None) -> Opened:
        no_cache(self.name, chunk_cache_bytes)
        return self._array(self._file(remote), variable)

    def _file(self, remote: Remote) -> subchunk.File:
        options = dict(remote.options)
        if self.name == "subchunk-obstore":
            options = {"backend": "obstore"} | remote.obstore()
        return subchunk.open(remote.url, storage_options=options)

    def _array(self, file: subchunk.File, variable: str) -> Opened:
        try:
            return _SubchunkArray(variable, file, file[variable])
        except BaseException:
            file.close()
            raise

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the variables, with their groups."""
        with subchunk.open(path) as file:
            return list(file)

    def remote_names(self, remote: Remote) -> Iterable[str]:
        with self._file(remote) as file:
            return list(file)

    def version(self) -> str:
        """Give the version, and the module that inflates."""
        name = vars(inflater())["__name__"]
        return f"{__version__} ({name})"


class _SubchunkArray(OpenedArray):
    def __init__(self, name: str, file: subchunk.File, reader: subchunk.VariableReader) -> None:
        super().__init__(name, reader.shape, reader.dtype)
        self._file, self._reader = file, reader

    def _fetch(self, chosen: Region) -> Any:
        return self._reader[chosen.indices]

    def _close(self) -> None:
        self._file.close()


def make(card: Card) -> LibraryReader:
    """Make the reader of a card; what inflates is imported now, so that no open pays for it."""
    inflater()
    return SubchunkReader(card)
