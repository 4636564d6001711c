"""hidefix: HDF5 chunks read by many threads, without the HDF5 library."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import h5py
import hidefix

from .reading import Indexed, Opened, Reader
from .selection import Region
from .urls import Place


class HidefixReader(Reader):
    """Reads HDF5 in native byte order, every chunk written, with deflate and shuffle alone."""

    has_chunk_cache = False

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        assert isinstance(place, Path)
        with h5py.File(place, "r") as file:
            array = _HidefixArray(variable, file[variable], ExitStack())
            if not file[variable].dtype.isnative:
                raise ValueError("it is not in native byte order")
        array.variable = hidefix.Index(os.fspath(place)).dataset(variable)
        return array


class _HidefixArray(Indexed):
    def _fetch(self, chosen: Region) -> Any:
        spans = [
            slice(start, start + (count - 1) * step + 1)
            for start, count, step in zip(chosen.starts, chosen.counts, chosen.steps, strict=True)
        ]
        # hidefix 0.12 gives wrong values, and writes beyond its memory, for many boxes that cover
        # axes after the first in part. Right in each of some ten thousand were: all of these axes,
        # or one place along each of them where a chunk covers them whole.
        requested = spans[:1] + [slice(0, length) for length in self.shape[1:]]
        single = all(count == 1 for count in chosen.counts[1:])
        if single and tuple(self.variable.chunk_shape())[1:] == self.shape[1:]:
            requested = spans
        values = self.variable[tuple(requested) or (slice(0, 1),)]
        # It drops axes of length one.
        values = values.reshape([span.stop - span.start for span in requested])
        cut = (
            slice(span.start - whole.start, span.stop - whole.start, step)
            for span, whole, step in zip(spans, requested, chosen.steps, strict=True)
        )
        return values[tuple(cut)].reshape(chosen.shape)


READER = HidefixReader
