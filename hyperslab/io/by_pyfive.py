"""pyfive, which reads HDF5 in Python alone, on files and, through fsspec, behind URLs."""

from __future__ import annotations

import math
from typing import Any

import pyfive

from .chunk_shapes import chunk_grid
from .reading import StreamReader


class PyfiveReader(StreamReader):
    """Reads HDF5, and so netCDF-4, with pyfive: no C library and no chunk cache."""

    has_chunk_cache = False

    def file(self, source: Any, **cache: int) -> Any:
        return pyfive.File(source)

    def checked(self, item: Any) -> Any:
        """Refuse chunks that were never written, among some that were: pyfive fills none."""
        if getattr(item, "shape", None) and item.chunks:
            written = item.id.get_num_chunks()
            if 0 < written < math.prod(chunk_grid(item.shape, item.chunks)):
                raise OSError("it has chunks that were never written, which pyfive does not fill")
        return item


READER = PyfiveReader
