"""kerchunk's references to HDF5 files, read by zarr-python through fsspec."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from kerchunk.utils import subchunk

from .by_zarr import opened_array
from .reading import Opened, Reader
from .references import references_of, store_of
from .urls import Place, Remote


class KerchunkReader(Reader):
    """Reads HDF5, and so netCDF-4, behind URLs as Zarr, by references that lie beside the file.

    ``hyperslab.io.references.write(path)`` makes them. The option "parts" gives factors by which
    chunks that are not compressed are divided along their first axis that is longer than 1.
    """

    has_chunk_cache = False

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        assert isinstance(place, Remote)
        options = dict(place.options)
        factors = options.pop("parts", ())
        bare = replace(place, options=options)
        refs = references_of(bare)
        for factor in factors:
            refs = subchunk(refs, variable, factor)
        with ExitStack() as held:
            store = store_of(refs, bare, held)
            return opened_array(store, variable, variable, held, zarr_format=2)


READER = KerchunkReader
