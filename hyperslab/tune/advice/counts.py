"""What a read touches: calls, chunks, bytes and runs, counted without reading anything."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperslab.io.chunk_cache import ChunkCache, chunk_reads
from hyperslab.io.chunk_shapes import chunk_grid
from hyperslab.io.layout import CLASSIC, ZARR, Layout
from hyperslab.io.selection import Region, Selection, region
from hyperslab.network.link import Link

AHEAD_BYTES = 2**17  # gaps that are shorter are read on the way
SPACING_BYTES = 40 * 2**10  # between points of an index of `hyperslab.subchunk`
SIEVE_BYTES = 2**16  # what HDF5 fetches at a time of runs that are shorter
CLASSIC_BYTES = 2**13  # what netCDF-C fetches at a time of a classic file, whatever is asked
_MOST_FOLLOWED = 50_000  # chunks that are followed one by one through the chunk cache
_NETCDF_CACHE, _HDF5_CACHE = 64 * 2**20, 8 * 2**20


@dataclass(frozen=True)
class Read:
    """Selections of one variable, read one after another from a file that has just been opened."""

    shape: tuple[int, ...]  # of the variable, in elements
    dtype: str  # of what is stored
    layout: Layout
    selections: tuple[Selection, ...]  # a call each
    library: str  # name of a reader
    chunk_bytes: float | None = None  # as it is stored, on average; None without a codec
    cache: str = "warm"  # the file's bytes are in memory, or on the disk: "cold"
    link: Link | None = None  # behind which the file is opened too; None for this machine's disk
    cache_bytes: int | None = None  # HDF5's chunk cache; None for the library's own
    decode_s: float | None = None  # of a chunk, measured on the file; None predicts it

    @property
    def itemsize(self) -> int:
        return np.dtype(self.dtype).itemsize

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The lengths of a chunk; of a Zarr array without any, those of the array."""
        if self.layout.chunks is None and self.layout.format in ZARR:
            return self.shape
        return self.layout.chunks

    @property
    def chunk_stored(self) -> float:
        """Bytes of a chunk as it is stored, on average, also without a codec."""
        if self.chunk_bytes is not None:
            return self.chunk_bytes
        return float(math.prod(self.chunks or self.shape) * self.itemsize)

    @property
    def kind(self) -> str:
        """Which way a library takes: classic, binary, contiguous, chunked or zarr."""
        if self.layout.format in ZARR:
            return "zarr"
        if self.layout.format in CLASSIC:
            return "classic"
        if self.layout.format == "binary":
            return "binary"
        return "contiguous" if self.layout.chunks is None else "chunked"

    @property
    def held_bytes(self) -> int:
        """The bytes of the chunk cache that a read goes through; 0 where there is none."""
        if self.kind != "chunked" or self.library in ("subchunk", "hidefix"):
            return 0
        if self.cache_bytes is not None:
            return self.cache_bytes
        by_netcdf = self.library in ("netcdf4", "netcdf-c", "xarray-netcdf4")
        return _NETCDF_CACHE if by_netcdf else _HDF5_CACHE


@dataclass(frozen=True)
class Counts:
    """What a read touches."""

    calls: int = 1
    chunks: int = 0  # touched, summed over the calls; 0 in contiguous layouts
    fetched: int = 0  # chunks that are read and decoded: those that the chunk cache has are not
    useful_bytes: int = 0  # that are returned
    decoded_bytes: int = 0  # of the chunks that are fetched, padding included
    stored_bytes: float = 0.0  # of the file that are read
    runs: int = 0  # pieces that are contiguous both in what is stored and in what is returned
    requests: int = 0  # reads of the file
    extents: int = 0  # stretches of the file, with gaps that the system's read-ahead closes
    span_bytes: float = 0.0  # of these stretches
    steps: int = 0  # elements that are picked one by one, by a step along the last axis
    shards: int = 0  # of Zarr: chunks of one are asked for in turn, unless all are wanted

    def __add__(self, other: Counts) -> Counts:
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return Counts(*(a + b for a, b in pairs))


def counts_of(read: Read) -> Counts:
    """Count what a read touches; an IndexError says that a selection does not fit."""
    regions = [region(selection, read.shape) for selection in read.selections]
    total = Counts(calls=0)
    for slab in regions:
        if not slab.size:
            total += Counts()
        elif read.chunks is None:
            total += _contiguous(read, slab)
        else:
            total += _chunked(read, slab, read.chunks)
    return _cached(read, regions, total) if len(regions) > 1 and read.held_bytes else total


def _chunked(read: Read, slab: Region, chunks: tuple[int, ...]) -> Counts:
    layout = read.layout
    across = touched(slab, chunks).tolist()
    count, size = math.prod(across), math.prod(chunks) * read.itemsize
    useful, stored = slab.size * read.itemsize, read.chunk_stored
    runs, steps = _runs(slab, across, chunks)
    extents, span = chunk_stretches(read, slab, AHEAD_BYTES)
    counts = Counts(
        1, count, count, useful, count * size, count * stored, runs, count, extents,
        extents * span, steps,
    )  # fmt: skip
    if layout.codec is None and size > read.held_bytes > 0:
        # Chunks that no cache holds and no codec needs are read run by run.
        return replace(
            counts, decoded_bytes=0, stored_bytes=float(useful), requests=max(runs, steps)
        )
    if layout.shards is not None:
        held = math.prod(touched(slab, layout.shards).tolist())
        each = math.prod(s // c for s, c in zip(layout.shards, chunks, strict=True))
        return replace(
            counts,
            requests=held if count == held * each else count + held,
            shards=held,
            extents=max(extents, held),
            span_bytes=count * stored,
        )
    if layout.format in ZARR:
        return replace(counts, extents=count, span_bytes=count * stored)
    if read.library == "subchunk" and layout.codec == "deflate":
        pieces, share = _inside(read, slab, across, chunks)
        return replace(
            counts,
            requests=count * pieces,
            decoded_bytes=round(count * size * share),
            stored_bytes=count * stored * share,
        )
    return counts


def chunk_stretches(read: Read, slab: Region, window: int) -> tuple[int, float]:
    """Return the stretches that a region's chunks lie in, small gaps closed, and their bytes."""
    chunks, stored = read.chunks or read.shape, read.chunk_stored
    apart = tuple(max(step // c, 1) for step, c in zip(slab.steps, chunks, strict=True))
    at = slab._replace(counts=tuple(touched(slab, chunks).tolist()), steps=apart)
    return spans(at, chunk_grid(read.shape, chunks), stored, stored, window)


def _inside(
    read: Read, slab: Region, across: list[int], chunks: tuple[int, ...]
) -> tuple[int, float]:
    """Return the pieces of a chunk that are decoded between points of an index, and their share."""
    counts = chunk_grid(slab.counts, across)
    # Shuffled, the bytes of the elements lie in as many planes, each of which is entered.
    planes = read.itemsize if read.layout.shuffle else 1
    width = read.itemsize / planes
    inner = slab._replace(counts=counts)
    pieces, span = spans(inner, chunks, width, width * counts[-1], SPACING_BYTES)
    needed = planes * pieces * (span + SPACING_BYTES / 2)
    whole = math.prod(chunks) * read.itemsize
    return (planes * pieces, needed / whole) if needed < whole else (1, 1.0)


def _contiguous(read: Read, slab: Region) -> Counts:
    useful = slab.size * read.itemsize
    runs, steps = _runs(slab, [1] * len(read.shape), read.shape)
    run_bytes = read.itemsize if steps else useful // runs
    extents, span = spans(slab, read.shape, read.itemsize, run_bytes, AHEAD_BYTES)
    requests, stored = runs, float(useful)
    if read.kind != "binary":
        classic = read.kind == "classic"
        window = CLASSIC_BYTES if classic else SIEVE_BYTES
        pieces, piece = spans(slab, read.shape, read.itemsize, run_bytes, window)
        if classic or piece > run_bytes or run_bytes < window:
            windows = math.ceil(piece / window)
            requests, stored = pieces * windows, float(pieces * windows * window)
            stored = min(stored, pieces * math.prod(read.shape) * float(read.itemsize))
    elif steps:
        stored = extents * span
    return Counts(1, 0, 0, useful, 0, stored, runs, requests, extents, extents * span, steps)


def spans(
    slab: Region, shape: tuple[int, ...], itemsize: float, run_bytes: float, window: int
) -> tuple[int, float]:
    """Return how many stretches there are when gaps up to a window are closed, and their bytes."""
    span, stretches, stride = run_bytes, 1, itemsize
    for count, step, n in zip(slab.counts[::-1], slab.steps[::-1], shape[::-1], strict=True):
        if count > 1 and stride * step * count > span:
            if stride * step - span < window and stretches == 1:
                span = max(span, stride * step * (count - 1) + span)
            else:
                stretches *= count
        stride *= n
    return stretches, span


def touched(slab: Region, chunks: ArrayLike) -> NDArray[np.int64]:
    """Return how many chunks are touched along each axis; of several shapes, a row each."""
    starts, counts, steps = (np.array(n, "i8") for n in (slab.starts, slab.counts, slab.steps))
    last = starts + (counts - 1) * steps
    touches: NDArray[np.int64] = np.minimum(last // chunks - starts // chunks + 1, counts)
    return touches


def _runs(slab: Region, across: list[int], chunks: tuple[int, ...]) -> tuple[int, int]:
    """Return the pieces contiguous in chunks and result, and how many of them steps pick."""
    axis = len(chunks) - 1
    while axis > 0 and across[axis] == 1 and slab.counts[axis] == chunks[axis]:
        axis -= 1  # goes on into the next axis where one chunk covers this one, and all is taken
    outer = math.prod(slab.counts[:axis]) * math.prod(across[axis + 1 :])
    picked = outer * slab.counts[axis] if slab.steps[axis] != 1 and slab.counts[axis] > 1 else 0
    return outer * max(across[axis], 1), picked


def _cached(read: Read, regions: list[Region], total: Counts) -> Counts:
    """Take off what the chunk cache has from one call to the next."""
    stepping = any(max(slab.steps, default=1) > 1 for slab in regions)
    if total.chunks > _MOST_FOLLOWED or stepping:
        return total
    boxes = [
        [(start, start + count) for start, count in zip(slab.starts, slab.counts, strict=True)]
        for slab in regions
    ]
    chunks, cache = read.chunks or read.shape, ChunkCache(nbytes=read.held_bytes)
    fetched = chunk_reads(read.shape, chunks, read.itemsize, boxes, cache)
    share = fetched / total.chunks if total.chunks else 1.0
    return replace(
        total,
        fetched=fetched,
        decoded_bytes=fetched * math.prod(chunks) * read.itemsize,
        stored_bytes=total.stored_bytes * share,
        requests=max(round(total.requests * share), 1),
        extents=max(round(total.extents * share), 1),
        span_bytes=total.span_bytes * share,
        shards=0,
    )
