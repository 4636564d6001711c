"""How the memory that may be used is shared: pieces that are copied, chunk caches, filters.

What is taken before, by the interpreter and its libraries, counts where the limit is that of a
whole process: only the rest is shared.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from hyperslab.storage.geometry import padded_bytes
from hyperslab.storage.layout import CLASSIC, NETCDF4, Layout

from ..memory import mib
from ..sources.base import SourceVariable
from .chunk_cost import call_bytes, index_bytes, touched
from .slabs import Slabs, plan

MARGIN_BYTES = 20 * 2**20  # what the allocator holds back, attributes, buffers of the libraries
SLAB_BYTES = 48 * 2**20  # larger pieces only where they save reading chunks twice
_FILTERING = 3  # chunks a library holds while it undoes or applies filters
_LEAST_CACHE_BYTES = 2**20
_MOST_AT_ONCE = 10  # chunks zarr-python works on at the same time by itself


class MemoryLimitError(ValueError):
    """A copy does not fit into the memory that it may use."""


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
    """

    slabs: Slabs
    source_cache_bytes: int
    at_once: int
    enough_bytes: int = 0


@dataclass(frozen=True)
class Rooms:
    """The memory shared for a whole copy.

    Parameters
    ----------
    each
        The room of each variable, by name.
    cache_bytes
        Chunk cache of each variable of the copy; None leaves the library's own.
    reduced
        Whether that is less than the library's own, which does not fit.
    piece_bytes
        Most bytes of what a pattern reads at once.
    """

    each: dict[str, Room]
    cache_bytes: int | None
    reduced: bool
    piece_bytes: int = 0


def share(
    variables: Sequence[tuple[SourceVariable, Layout]],
    *,
    source_format: str,
    cache_bytes: int | None,
    memory_bytes: int,
    taken_bytes: int = 0,
) -> Rooms:
    """Share the memory that may be used among what a copy needs.

    Parameters
    ----------
    variables
        With the layouts that they get.
    source_format
        Format of the source.
    cache_bytes
        Chunk cache asked for; None is the library's own, or less where that does not fit.
    memory_bytes
        What there is.
    taken_bytes
        What of that is taken before the copy begins.

    Raises
    ------
    MemoryLimitError
        When not even the smallest piece fits, with the memory that would do.
    """
    free = memory_bytes - taken_bytes - MARGIN_BYTES
    format = variables[0][1].format
    own = library_cache_bytes(format)
    asked = own if cache_bytes is None else cache_bytes
    held = asked
    while True:
        needs = [_Need(v, layout, source_format, held, len(variables)) for v, layout in variables]
        short = max(need.least(comfortable=held > _LEAST_CACHE_BYTES) for need in needs) - free
        if short <= 0 or cache_bytes is not None or held <= _LEAST_CACHE_BYTES:
            break
        held = max(held // 2, _LEAST_CACHE_BYTES)
    worst = max(needs, key=lambda need: need.least())
    if worst.least() > free:
        raise MemoryLimitError(
            f"copying {worst.variable.name} into {worst.words} needs {mib(worst.least())}, and "
            f"{mib(max(free, 0))} of {mib(memory_bytes)} are left for it: allow at least "
            f"{mib(memory_bytes - free + worst.least())}, or take smaller chunks"
        )
    rooms = {need.variable.name: need.room(free, memory_bytes - free) for need in needs}
    changed = cache_bytes is not None or held < own
    # A piece, and as much again for its chunks; the copy's cache is there as well.
    piece = max((free - min(held, free // 2)) // 4, 2**16)
    reduced = held < own and cache_bytes is None
    return Rooms(rooms, held if changed and own else None, reduced, piece)


@contextmanager
def zarr_at_once(rooms: Rooms) -> Iterator[None]:
    """Let zarr-python work on no more chunks at the same time than fit into memory."""
    most = min(room.at_once for room in rooms.each.values())
    if "zarr" not in sys.modules:
        yield
        return
    import zarr

    with zarr.config.set({"async.concurrency": most}):
        yield


def library_cache_bytes(format: str) -> int:
    """Return the chunk cache, in bytes, that a library gives a variable; 0 where it has none.

    Examples
    --------
    >>> library_cache_bytes("netcdf3"), library_cache_bytes("netcdf4") > 0
    (0, True)
    """
    if format in (*NETCDF4, "nczarr"):
        import netCDF4

        return int(netCDF4.get_chunk_cache()[0])
    if format == "hdf5":
        import h5py

        return int(h5py.h5p.create(h5py.h5p.FILE_ACCESS).get_cache()[2])
    return 0


class _Need:
    """What one variable needs beside its pieces, and the smallest piece."""

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
            self._source_cache = max(min(fetched, 16 * _LEAST_CACHE_BYTES), _LEAST_CACHE_BYTES)
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

    def room(self, free: int, taken: int) -> Room:
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
        return Room(slabs, self._source_cache, at_once, enough)

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
