"""How a file is copied within a memory limit: the pieces of each variable, in one pass or two."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from hyperslab.io.chunk_shapes import chunk_grid, cut, padded_bytes
from hyperslab.io.file_plan import CHUNK_CACHED
from hyperslab.io.layout import CLASSIC, NETCDF4, ZARR
from hyperslab.io.source import SourceVariable
from hyperslab.tune.process_memory import mib
from hyperslab.tune.specs.auto import along
from hyperslab.tune.specs.target import Fitted

Slab = tuple[slice, ...]
Lengths = tuple[int, ...]

RECHUNK_BYTES, BENCH_BYTES = 2**30, 256 * 2**20  # of memory, where nobody says it
MARGIN_BYTES = 20 * 2**20  # what the allocator holds back, attributes, buffers of the libraries
LEAST_CACHE_BYTES = 2**20
MOST_READS = 2.0  # of a source chunk in one pass; with more there are two
_SLAB_BYTES = 48 * 2**20  # larger pieces only where they save reading chunks twice
_FILTERING = 3  # chunks a library holds while it undoes or applies filters
_MOST_PIECES = 2**24  # a sparse file may claim any shape
_MOST_AT_ONCE = 10  # chunks zarr-python works on at the same time by itself
# Resident memory over the chunks of a call, of 4x4 and 5x5 float32, written and read: HDF5 6.5 to
# 6.8 kB (it makes a selection for each), zarr-python 2.2 to 3.6 kB (a task).
_HDF5_CALL_BYTES, _ZARR_CALL_BYTES = 7_000, 4_000
_INDEX_BYTES, _MOST_INDEX_BYTES = 200, 32 * 2**20  # of HDF5, for each chunk that was written
_RUN_BYTES = 2**16  # a read of contiguous data moves at least so much: HDF5's sieve buffer
_CALL_BYTES = 2**18  # what one more piece costs, in bytes that could be read in that time


@dataclass(frozen=True)
class Slabs:
    """The pieces of an array that are copied one after the other; those at the ends are shorter."""

    shape: Lengths
    lengths: Lengths

    def __iter__(self) -> Iterator[Slab]:
        return cut(self.whole, self.lengths)

    def __len__(self) -> int:
        return math.prod(chunk_grid(self.shape, self.lengths))

    @property
    def whole(self) -> Slab:
        return tuple(slice(0, n) for n in self.shape)

    @property
    def elements(self) -> int:
        """Elements of the largest piece."""
        return math.prod(self.lengths) if 0 not in self.shape else 0

    def reads(self, chunks: Sequence[int]) -> float:
        """Return how many pieces touch a chunk, on average over all chunks."""
        axes = zip(self.shape, self.lengths, chunks, strict=True)
        touched = math.prod(-(-n // a) + -(-n // b) - -(-n // math.lcm(a, b)) for n, a, b in axes)
        return touched / max(math.prod(chunk_grid(self.shape, chunks)), 1)

    def around(self, part: Slab) -> Slab:
        """Return the piece that a part lies in."""
        axes = zip((s.start for s in part), self.lengths, self.shape, strict=True)
        return tuple(
            slice(i - i % length, min(i - i % length + length, n)) for i, length, n in axes
        )


def runs(shape: Sequence[int], itemsize: int) -> Lengths:
    """Return a block of contiguous data that one read moves anyway, as if it were a chunk."""
    return along(shape, itemsize, range(len(shape)), _RUN_BYTES)


def choose(shape: Sequence[int], itemsize: int, source: Lengths, unit: Lengths, most: int) -> Slabs:
    """Choose pieces of whole units, of at most so many elements, that read the source the least."""
    shape = tuple(shape)
    if not shape or 0 in shape:
        return Slabs(shape, tuple(max(n, 1) for n in shape))
    nbytes = math.prod(shape) * itemsize

    def cost(lengths: Lengths) -> tuple[float, Lengths]:
        slabs = Slabs(shape, lengths)
        moved = slabs.reads(source) * nbytes + len(slabs) * _CALL_BYTES
        return moved, tuple(-n for n in reversed(lengths))  # and then in the longest runs

    lengths = tuple(min(u, n) for u, n in zip(unit, shape, strict=True))
    axes = [axis for axis, n in enumerate(shape) if lengths[axis] < n]
    while axes:  # one after another, that first which saves the most
        tried = {
            (*lengths[:axis], length, *lengths[axis + 1 :]): axis
            for axis in axes
            for length in _steps(
                shape[axis], lengths[axis], source[axis], most * lengths[axis] // math.prod(lengths)
            )
        }
        lengths = min(tried, key=cost)
        axes.remove(tried[lengths])
    return Slabs(shape, lengths)


def _steps(n: int, unit: int, chunk: int, room: int) -> set[int]:
    """Return lengths of whole units worth a try: all that fits, in step with source chunks, one."""
    both = math.lcm(unit, chunk)
    longest = n if room >= n else max(room // unit, 1) * unit
    return {longest, max(longest // both * both, unit) if longest < n else n, min(both, longest)}


class MemoryLimitError(ValueError):
    """A copy does not fit into the memory that it may use."""


@dataclass(frozen=True)
class Route:
    """How the values of one variable go from the source to the copy."""

    pieces: Slabs  # whole chunks of the copy, which is written, and read again, in them
    reads: float  # of a chunk of the source, on average
    source_cache_bytes: int
    at_once: int  # chunks that zarr-python may work on
    first: Slabs | None = None  # what the source is read in, where there is a scratch file
    scratch_bytes: int = 0

    def parts(self, slab: Slab) -> Iterator[Slab]:
        """Yield one of `pieces` by what the scratch file has in one place; whole without one."""
        return iter([slab]) if self.first is None else cut(slab, self.first.lengths)


@dataclass(frozen=True)
class CopyPlan:
    """How all variables of a copy go."""

    each: dict[str, Route]  # by name
    cache_bytes: int | None  # of each variable of the copy; None leaves the library's own
    piece_bytes: int  # most that the copy should be read in at once, when it is made


def plan_copy(
    copy: Fitted,
    *,
    source_format: str,
    cache_bytes: int | None,
    memory_bytes: int,
    taken_bytes: int = 0,
    scratch: bool = False,
) -> CopyPlan:
    """Settle how variables are copied, within a memory limit of which so much is taken before."""
    free = memory_bytes - taken_bytes - MARGIN_BYTES
    own = library_cache_bytes(copy.format)
    caches = (own, min(own, LEAST_CACHE_BYTES)) if cache_bytes is None else (cache_bytes,)
    for held in caches:
        needs = [_Need(v, copy, source_format, held) for v in copy.sources]
        if max(need.least + need.comfort for need in needs) <= free:
            break
    worst = max(needs, key=lambda need: need.least)
    if worst.least > free:
        raise MemoryLimitError(
            f"copying {worst.variable.name} into {worst.unit_words} needs {mib(worst.least)}, "
            f"and {mib(max(free, 0))} of {mib(memory_bytes)} are left for it: allow at least "
            f"{mib(memory_bytes - free + worst.least)}, or take smaller chunks"
        )
    each = {need.variable.name: need.route(free, scratch=scratch) for need in needs}
    for name, route in each.items():
        if len(route.pieces) > _MOST_PIECES:
            raise MemoryLimitError(f"{name} would be copied in {len(route.pieces):,} pieces: allow "
                                   "more memory, or leave it out")  # fmt: skip
    return CopyPlan(
        each,
        None if not own or (cache_bytes is None and held == own) else held,
        # A piece, and as much again for its chunks; the copy's cache is there as well.
        max((free - min(held, free // 2)) // 4, 2**16),
    )


@contextmanager
def zarr_at_once(plan: CopyPlan) -> Iterator[None]:
    """Let zarr-python work on no more chunks at the same time than fit into memory."""
    if "zarr" not in sys.modules:
        yield
        return
    import zarr

    most = min(route.at_once for route in plan.each.values())
    with zarr.config.set({"async.concurrency": most}):
        yield


def library_cache_bytes(format: str) -> int:
    """Return the chunk cache, in bytes, that a library gives a variable; 0 where it has none."""
    if format not in CHUNK_CACHED:
        return 0
    from hyperslab.io.chunk_cached import library_cache  # it imports both libraries

    return library_cache("h5py" if format == "hdf5" else "netcdf4").nbytes


def call_bytes(format: str) -> int:
    """Return what a library holds, in bytes, for each chunk that one call touches."""
    if format in (*NETCDF4, "hdf5"):
        return _HDF5_CALL_BYTES
    return _ZARR_CALL_BYTES if format in ZARR else 0


class _Need:
    """What one variable needs: beside its pieces, for each element of them, and at least."""

    def __init__(
        self, variable: SourceVariable, copy: Fitted, source_format: str, cache: int
    ) -> None:
        self.variable, self.layout = variable, (layout := copy.layouts[variable.name])
        size, shape = variable.itemsize, variable.shape
        from_zarr = source_format.startswith("zarr")
        to_zarr = layout.format.startswith("zarr")
        before, chunks = (variable.chunks, layout.chunks) if shape else (None, None)
        unit = layout.shards if shape and layout.shards else chunks
        if unit is None and layout.format in ZARR:
            unit = chunks = tuple(max(n, 1) for n in shape)
        self.source: Lengths = before or runs(shape, size)
        self.unit: Lengths = unit or runs(shape, size)
        # Libraries hold whole chunks, also where they overhang.
        unit_bytes = max(math.prod(self.unit) * size, 1)
        fetched = variable.chunk_bytes if shape else 0
        chunk_bytes = math.prod(chunks) * size if chunks else 0
        self.at_once_bytes = 2 * max(fetched * from_zarr, unit_bytes * to_zarr)
        self.source_cache = 0
        if fetched and not from_zarr:
            self.source_cache = min(max(fetched, LEAST_CACHE_BYTES), 16 * LEAST_CACHE_BYTES)
        held = 0
        if chunks and layout.format not in CLASSIC:
            held = min(cache, padded_bytes(np.maximum(shape, 1).tolist(), chunks, size))
        # NCZarr's cache is only freed when the file is closed.
        held *= len(copy.sources) if layout.format == "nczarr" else 1
        self.fixed = self.source_cache + held
        self.fixed += 0 if from_zarr else fetched * (_FILTERING if variable.codec else 1)
        self.fixed += 0 if to_zarr else chunk_bytes * (_FILTERING if layout.codec else 1)
        self.fixed += 2 * unit_bytes if layout.shards else 0
        if chunks and layout.format in (*NETCDF4, "hdf5") and 0 not in shape:
            indexed = padded_bytes(shape, chunks, 1) // math.prod(chunks) * _INDEX_BYTES
            self.fixed += min(indexed, _MOST_INDEX_BYTES)
        swapped = "big" in (variable.byteorder, layout.byteorder) and size > 1
        # Rounded values are compared with the source's, which are read once more for that.
        times = 1 + (swapped or from_zarr or to_zarr) + (layout.quantize is not None)
        called = ((source_format, before), (layout.format, chunks))
        self.element_bytes = times * max(size, 1) + math.ceil(
            sum(call_bytes(format) / math.prod(each) for format, each in called if each)
        )
        unit_elements = math.prod(min(u, max(n, 1)) for u, n in zip(self.unit, shape, strict=True))
        self.least = self.fixed + self.at_once_bytes + self.element_bytes * unit_elements
        self.comfort = min(_SLAB_BYTES // 2, times * variable.nbytes)

    @property
    def unit_words(self) -> str:
        """What the copy writes at once, in words."""
        if self.layout.chunks is None or not self.variable.shape:
            return f"contiguous {self.layout.format}"
        kind = "shards" if self.layout.shards else "chunks"
        nbytes = math.prod(self.unit) * self.variable.itemsize
        return f"{kind} of {'x'.join(map(str, self.unit))} ({mib(nbytes)})"

    def route(self, free: int, *, scratch: bool) -> Route:
        """Choose the pieces that fit into what is free: larger only where they save reading."""
        at_once = _MOST_AT_ONCE
        if self.at_once_bytes:
            able = (free - self.fixed) // 4 // self.at_once_bytes
            at_once = min(max(able, 1), _MOST_AT_ONCE)
        space = free - self.fixed - self.at_once_bytes * at_once
        once = self._within(min(space, _SLAB_BYTES), self.source, self.unit)
        if once.reads(self.source) > 1:
            once = self._within(space, self.source, self.unit)
        reads = once.reads(self.source) if self.variable.nbytes else 1.0
        if reads > MOST_READS and scratch and self.layout.quantize is None:
            size = self.variable.itemsize  # of a part of each piece, on its way
            second = self._within(space, self.source, self.unit, size)
            first = self._within(space, second.lengths, self.source, size)
            largest = max(first.elements, second.elements)
            staged_reads = first.reads(self.source)
            if staged_reads < reads and largest * (self.element_bytes + size) <= space:
                nbytes = self.variable.nbytes
                return Route(second, staged_reads, self.source_cache, at_once, first, nbytes)
        return Route(once, reads, self.source_cache, at_once)

    def _within(self, space: int, source: Lengths, unit: Lengths, beside: int = 0) -> Slabs:
        """Return pieces that fit, with so many bytes an element that lie beside them."""
        most = max(space // (self.element_bytes + beside), 1)
        return choose(self.variable.shape, max(self.variable.itemsize, 1), source, unit, most)
