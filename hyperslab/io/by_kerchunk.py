"""kerchunk's references to HDF5 files, read by zarr-python through fsspec."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import kerchunk
import zarr
from fsspec.implementations.reference import ReferenceFileSystem
from kerchunk.utils import subchunk
from zarr.storage import FsspecStore

from .by_zarr import opened_array
from .reading import Opened, Reader
from .references import array_names, references_of
from .urls import Place, Remote, system_in_zarr


class KerchunkReader(Reader):
    """Reads HDF5, and so netCDF-4, behind URLs as Zarr, by references made before.

    They lie beside the file, or where the option "references" says, and opening reads them:
    ``hyperslab.io.references.write(path)`` makes them. The option "parts" gives factors by which
    kerchunk then divides each chunk, one after another, along its first axis that is longer than 1;
    it takes chunks that are not compressed.
    """

    has_chunk_cache = False

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        assert isinstance(place, Remote)
        refs = references_of(place.without("parts"))
        for factor in place.options.get("parts", ()):
            refs = subchunk(refs, variable, factor)
        with ExitStack() as held:
            system, _, close = system_in_zarr(_bare(place))
            held.callback(close)
            files: Any = ReferenceFileSystem(
                refs, fs=system, asynchronous=True, skip_instance_cache=True
            )
            store = FsspecStore(files, path="", read_only=True)
            return opened_array(store, variable, variable, held, zarr_format=2)

    def names(self, place: Place) -> Iterable[str]:
        """Give the names of the arrays in the references."""
        assert isinstance(place, Remote)
        return array_names(references_of(place.without("parts")))

    def exists(self, place: Place) -> bool:
        return isinstance(place, Remote) and _bare(place).exists()

    def version(self) -> str:
        """Give the versions of kerchunk and zarr-python."""
        return f"{kerchunk.__version__} (zarr {zarr.__version__})"


def _bare(place: Remote) -> Remote:
    """Return a place without what is an option of the reader alone."""
    return place.without("references", "parts")


READER = KerchunkReader
