"""hyperslab.subchunk: inside of compressed chunks, where a file has an index."""

from __future__ import annotations

from contextlib import ExitStack

from .. import subchunk
from ..subchunk.deflate.inflate import inflater
from .reading import Indexed, Opened, Reader
from .urls import Place, Remote


class SubchunkReader(Reader):
    """Reads HDF5, and so netCDF-4, with the index beside the file; without one chunk by chunk."""

    has_chunk_cache = False

    def prepare(self) -> None:
        inflater()

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        with ExitStack() as held:
            file = held.enter_context(self._file(place))
            return Indexed(variable, file[variable], held)

    def _file(self, place: Place) -> subchunk.File:
        if not isinstance(place, Remote):
            return subchunk.open(place)
        options = dict(place.options)
        if self.name == "subchunk-obstore":
            options = {"backend": "obstore"} | place.obstore()
        return subchunk.open(place.url, storage_options=options)


READER = SubchunkReader
