"""VirtualiZarr: HDF5 files behind URLs as Zarr, through obstore."""

from __future__ import annotations

import json
import warnings
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import MemoryStore, from_url
from virtualizarr.parsers import HDFParser, KerchunkJSONParser

from .by_zarr import opened_array
from .reading import Opened, Reader
from .references import references_of
from .urls import Place, Remote

_MEMORY, _REFERENCES = "memory://kept", "references.json"


class VirtualizarrReader(Reader):
    """Reads HDF5, and so netCDF-4, behind URLs as Zarr, through obstore.

    `virtualizarr` parses the variable's group each time; `virtualizarr-kerchunk` takes kerchunk's
    references, for variables in no group whose last chunks were written.
    """

    has_chunk_cache = False

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        assert isinstance(place, Remote)
        address = urlsplit(place.url)
        server = f"{address.scheme}://{address.netloc}"
        registry: Any = ObjectStoreRegistry({server: from_url(server, **place.obstore())})
        group, _, name = variable.rpartition("/")
        with warnings.catch_warnings():
            # It is said of each of HDF5's codecs that they are not in Zarr 3's specification.
            warnings.simplefilter("ignore", UserWarning)
            if self.name == "virtualizarr":
                store = HDFParser(group=group or None)(url=place.url, registry=registry)
            elif group:
                raise ValueError("it sees no groups in references")
            else:
                memory = MemoryStore()
                text = json.dumps({"version": 1, "refs": references_of(place)})
                memory.put(_REFERENCES, text.encode())
                registry.register(_MEMORY, memory)
                store = KerchunkJSONParser()(url=f"{_MEMORY}/{_REFERENCES}", registry=registry)
            return opened_array(store, variable, name, ExitStack())


READER = VirtualizarrReader
