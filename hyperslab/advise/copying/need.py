"""The memory that copying one variable needs: its pieces, caches, filters; what fits into it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperslab.io.chunk_shapes import padded_bytes
from hyperslab.io.layout import CLASSIC, Layout

from ..memory import mib
from ..sources.base import SourceVariable
from .chunk_cost import call_bytes, index_bytes, touched
from .slabs import Slabs, plan
from .staging import Staged, staged

SLAB_BYTES = 48 * 2**20  # larger pieces only where they save reading chunks twice
LEAST_CACHE_BYTES = 2**20
_FILTERING = 3  # chunks a library holds while it undoes or applies filters
_MOST_AT_ONCE = 10  # chunks zarr-python works on at the same time by itself


@dataclass(frozen=True)
class Room:
    """The memory shared for one variable.

    Parameters
    ----------
    slabs
        The pieces it is copied in.
    source_cache_bytes
        Chunk cache for reading the source.
    at_once
        Chunks that zarr-python may work on at the same time.
    enough_bytes
        With so much memory each chunk of the source would be read once; 0 when it is.
    staged
        The pieces of two passes, where these move fewer bytes; None where one does.
    """

    slabs: Slabs
    source_cache_bytes: int
    at_once: int
    enough_bytes: int = 0
    staged: Staged | None = None

    @property
    def pieces(self) -> Slabs:
        """The pieces that the copy is written, and read again, in."""
        return self.staged.second if self.staged else self.slabs


class Need:
    """What one variable needs beside its pieces, and the smallest piece.

    Parameters
    ----------
    variable, layout
        What is copied, and how it lies in the copy.
    source_format
    cache_bytes
        Chunk cache of the copy.
    count
        Variables that are copied.
    """

    def __init__(
        self,
        variable: SourceVariable,
        layout: Layout,
        source_format: str,
        cache_bytes: int,
        count: int,
    ) -> None:
        self.variable, self.layout = variable, layout
        size, shape = variable.itemsize, variable.shape
        self._unit = (layout.shards or layout.chunks) if shape else None
        self._unit_bytes = _bytes(self._unit, shape, size) if self._unit else size
        if self._unit is None and layout.format.startswith(("zarr", "nczarr")) and shape:
            self._unit, self._unit_bytes = tuple(max(n, 1) for n in shape), max(variable.nbytes, 1)
        source_zarr = source_format.startswith("zarr")
        self._zarr = source_zarr or layout.format.startswith("zarr")
        fetched = variable.chunk_bytes
        if fetched and not source_zarr:
            self._source_cache = max(min(fetched, 16 * LEAST_CACHE_BYTES), LEAST_CACHE_BYTES)
        else:
            self._source_cache = 0
        held = min(cache_bytes, _padded(variable, layout)) if layout.format not in CLASSIC else 0
        # NCZarr's cache is only freed when the file is closed.
        self._held = held * (count if layout.format == "nczarr" else 1)
        filtered = _FILTERING if variable.codec else 1
        compressed = _FILTERING if layout.codec or layout.shards else 1
        self._one = 2 * max(
            fetched * source_zarr, self._unit_bytes * layout.format.startswith("zarr")
        )
        self._fixed = (
            self._source_cache
            + self._held
            + (0 if source_zarr else fetched * filtered)
            + (
                0
                if layout.format.startswith("zarr") or not self._unit
                else self._chunk * compressed
            )
            + self._unit_bytes * 2 * bool(layout.shards)
            + index_bytes(layout.format, shape, layout.chunks if shape else None)
        )
        self._calls = (
            (call_bytes(source_format), variable.chunks if shape else None),
            (call_bytes(layout.format), layout.chunks if shape else None),
        )
        swapped = "big" in (variable.byteorder, layout.byteorder) and size > 1
        # Rounded values are compared with the source's, which are read once more for that.
        self._times = 1 + (swapped or self._zarr) + (layout.quantize is not None)

    @property
    def _chunk(self) -> int:
        return _bytes(self.layout.chunks, self.variable.shape, self.variable.itemsize)

    @property
    def words(self) -> str:
        """The pieces in words."""
        if self._unit is None:
            return f"contiguous {self.layout.format}"
        kind = "shards" if self.layout.shards else "chunks"
        return f"{kind} of {'x'.join(map(str, self._unit))} ({mib(self._unit_bytes)})"

    def least(self, comfortable: bool = False) -> int:
        """Return the bytes without which it cannot be copied, or not well."""
        piece = self._unit_bytes
        if comfortable:
            piece = max(2 * piece, min(SLAB_BYTES // 2, self.variable.nbytes))
        return self._fixed + self._one + self._times * piece + self._overhead(self._unit)

    def room(self, free: int, taken: int, *, staging: bool = False) -> Room:
        """Share what is free."""
        at_once = _MOST_AT_ONCE
        if self._zarr and self._one:
            at_once = min(max((free - self._fixed) // 4 // self._one, 1), _MOST_AT_ONCE)
        spent = self._fixed + self._one * at_once
        slabs = self._best(free - spent)
        enough = 0
        if slabs.reads > 1:
            once = next(n for n in _doubled(free - spent) if self._best(n).reads <= 1)
            enough = taken + spent + once
        both = self._staged(free - spent) if staging else None
        if both is None or not both.pays(slabs.reads):
            both = None
        return Room(slabs, self._source_cache, at_once, enough, both)

    def _staged(self, space: int) -> Staged | None:
        """Return the pieces of two passes; None where they do not fit, or cannot be compared."""
        variable, shape = self.variable, self.variable.shape
        if not shape or 0 in shape or self.layout.quantize is not None:
            return None
        times = self._times + 1  # a part of a piece lies beside it
        limit = space // times
        while True:
            try:
                found = staged(shape, variable.itemsize, variable.chunks, self._unit, limit)
            except ValueError:
                return None
            largest = max(found.first.elements, found.second.elements) * variable.itemsize
            used = times * largest + max(
                each * touched(pass_.lengths, chunks, shape, aligned=True)
                for pass_, (each, chunks) in zip(
                    (found.first, found.second), self._calls, strict=True
                )
            )
            if used <= space:
                return found
            limit = min(int(largest * space / used), limit * 9 // 10)

    def _best(self, space: int) -> Slabs:
        """Return the pieces for so much memory; large ones only where they save reading."""
        limit = max(space // self._times, self._unit_bytes)
        slabs = self._within(min(limit, max(SLAB_BYTES, self._unit_bytes)), space)
        if slabs.reads > 1 and limit > SLAB_BYTES:
            slabs = self._within(limit, space)
        return slabs

    def _within(self, limit: int, space: int) -> Slabs:
        """Return pieces that fit with what the libraries hold for each of their chunks."""
        while True:
            slabs = self._slabs(limit)
            nbytes = slabs.elements * self.variable.itemsize
            used = self._times * nbytes + self._overhead(slabs.lengths)
            if used <= space or limit <= self._unit_bytes:
                return slabs
            limit = max(min(int(nbytes * space / used), limit * 9 // 10), self._unit_bytes)

    def _overhead(self, lengths: Sequence[int] | None) -> int:
        """Return what the libraries hold for the chunks of one piece."""
        shape = self.variable.shape
        lengths = lengths or (1,) * len(shape)
        each = [n * touched(lengths, chunks, shape, aligned=True) for n, chunks in self._calls]
        # One kind of library gives the other's memory out again.
        return max(each) if self._calls[0][0] == self._calls[1][0] else sum(each)

    def _slabs(self, limit: int) -> Slabs:
        variable = self.variable
        return plan(variable.shape, variable.itemsize, variable.chunks, self._unit, limit)


def _doubled(limit: int) -> list[int]:
    return [int(limit * 1.25**n) for n in range(1, 400)]


def _bytes(lengths: Sequence[int] | None, shape: Sequence[int], itemsize: int) -> int:
    if not lengths:
        return 0
    # Zarr holds whole chunks, HDF5 too, also where they overhang.
    return math.prod(lengths) * itemsize


def _padded(variable: SourceVariable, layout: Layout) -> int:
    if not layout.chunks or not variable.shape:
        return 0
    return padded_bytes(np.maximum(variable.shape, 1).tolist(), layout.chunks, variable.itemsize)
