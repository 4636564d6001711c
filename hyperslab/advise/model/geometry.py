"""What a read touches: calls, chunks, bytes and runs, counted without reading anything."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from hyperslab.io.chunk_cache import ChunkCache, chunk_reads
from hyperslab.io.layout import CLASSIC, NETCDF4, ZARR
from hyperslab.io.selection import Region, region

from .read import Read

MIB = 2**20
AHEAD_BYTES = 2**17  # gaps that are shorter are read on the way
SPACING_BYTES = 40 * 2**10  # between points of an index of `hyperslab.subchunk`
SIEVE_BYTES = 2**16  # what HDF5 fetches at a time of runs that are shorter
CLASSIC_BYTES = 2**13  # what netCDF-C fetches at a time of a classic file, whatever is asked
_MOST_FOLLOWED = 50_000  # chunks that are followed one by one through the chunk cache
_CACHES = {"netcdf4": 64 * MIB, "h5py": 8 * MIB}


@dataclass(frozen=True)
class Geometry:
    """What a read touches.

    Parameters
    ----------
    calls
        Calls of the library.
    chunks
        Chunks touched, summed over the calls; 0 in contiguous layouts.
    fetched
        Chunks that are read from the file and decoded: those the chunk cache has are not.
    useful_bytes
        Bytes that are returned.
    decoded_bytes
        Bytes of the chunks that are fetched, decoded, padding included.
    stored_bytes
        Bytes of the file that are read.
    runs
        Pieces that are contiguous both in what is stored and in what is returned: each is copied
        at once.
    requests
        Reads of the file.
    extents
        Stretches of the file that these lie in, with gaps that the system's read-ahead closes.
    span_bytes
        Bytes of these stretches.
    steps
        Elements that are picked one by one, by a step along the last axis that is read.
    shards
        Zarr's shards touched: the chunks of one are asked for one after another, unless all of them
        are wanted.
    """

    calls: int
    chunks: int
    fetched: int
    useful_bytes: int
    decoded_bytes: int
    stored_bytes: float
    runs: int
    requests: int
    extents: int
    span_bytes: float
    steps: int = 0
    shards: int = 0

    def __add__(self, other: Geometry) -> Geometry:
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return Geometry(*(a + b for a, b in pairs))


def geometry(read: Read) -> Geometry:
    """Count what a read touches.

    Parameters
    ----------
    read : Read

    Raises
    ------
    IndexError
        When a selection does not fit the shape.

    Examples
    --------
    >>> from hyperslab.io import Layout
    >>> layout = Layout("netcdf4", chunks=(1, 721, 1440))
    >>> found = geometry(Read((100, 721, 1440), "f4", layout, ((slice(None), 0, 0),), "h5py"))
    >>> found.chunks, found.useful_bytes, found.runs, found.extents
    (100, 400, 100, 1)
    """
    regions = [region(selection, read.shape) for selection in read.selections]
    chunks = chunk_lengths(read)
    if chunks is None:
        parts = [_contiguous(read, one) for one in regions]
    else:
        parts = [_chunked(read, one, chunks) for one in regions]
    found = parts[0]
    for part in parts[1:]:
        found = found + part
    if len(parts) > 1 and chunks is not None:
        found = _cached(read, regions, chunks, found)
    return found


def chunk_lengths(read: Read) -> tuple[int, ...] | None:
    """Return the lengths of a chunk; of a Zarr array without any, those of the array."""
    if read.layout.chunks is None and read.layout.format in ZARR:
        return read.shape
    return read.layout.chunks


def kind(read: Read) -> str:
    """Return which way a library takes: classic, binary, contiguous, chunked or zarr.

    Examples
    --------
    >>> from hyperslab.io import Layout
    >>> kind(Read((9,), "f4", Layout("netcdf3"), (...,), "netcdf4"))
    'classic'
    """
    format = read.layout.format
    if format in ZARR:
        return "zarr"
    if format in CLASSIC:
        return "classic"
    if format == "binary":
        return "binary"
    return "contiguous" if read.layout.chunks is None else "chunked"


def cache_bytes(read: Read) -> int:
    """Return the bytes of the chunk cache that a read goes through; 0 where there is none."""
    if kind(read) != "chunked" or read.library in ("subchunk", "hidefix"):
        return 0
    if read.cache_bytes is not None:
        return read.cache_bytes
    through_netcdf = read.library in ("netcdf4", "netcdf-c", "xarray-netcdf4")
    return _CACHES["netcdf4" if through_netcdf else "h5py"]


def _chunked(read: Read, one: Region, chunks: tuple[int, ...]) -> Geometry:
    touched = [
        _touched(*axis) for axis in zip(one.starts, one.counts, one.steps, chunks, strict=True)
    ]
    count = math.prod(touched)
    size = math.prod(chunks) * read.itemsize
    useful = one.size * read.itemsize
    if not one.size:
        return Geometry(1, 0, 0, 0, 0, 0.0, 0, 0, 0, 0.0)
    stored = read.chunk_bytes if read.chunk_bytes is not None else float(size)
    grid = [-(-n // c) for n, c in zip(read.shape, chunks, strict=True)]
    runs, steps = _runs(one, touched, chunks)
    extents, span = _stretches(one, touched, chunks, grid, stored)
    requests, shards = count, 0
    if read.layout.codec is None and _uncached(read, size):
        # Chunks that no cache holds and no codec needs are read run by run.
        pieces = max(runs, steps)
        span_bytes = float(extents * span)
        return Geometry(
            1, count, count, useful, 0, float(useful), runs, pieces, extents, span_bytes, steps
        )
    if read.layout.shards is not None:
        held = math.prod(
            _touched(*axis)
            for axis in zip(one.starts, one.counts, one.steps, read.layout.shards, strict=True)
        )
        each = math.prod(s // c for s, c in zip(read.layout.shards, chunks, strict=True))
        requests = held if count == held * each else count + held
        shards, extents = held, max(extents, held)
        span = count * stored / extents
    elif read.layout.format in ZARR:
        extents, span = count, stored
    decoded, total = count * size, count * stored
    if read.library == "subchunk" and read.layout.codec == "deflate":
        pieces, share = _inside(read, one, touched, chunks)
        requests, decoded, total = count * pieces, round(decoded * share), total * share
    return Geometry(
        1, count, count, useful, decoded, total, runs, requests, extents, extents * span, steps,
        shards,
    )  # fmt: skip


def _stretches(
    one: Region,
    touched: list[int],
    chunks: tuple[int, ...],
    grid: list[int],
    stored: float,
) -> tuple[int, float]:
    """Return in how many stretches of the file the chunks lie, in their order, and their bytes."""
    apart = [max(step // c, 1) for step, c in zip(one.steps, chunks, strict=True)]
    at = Region((0,) * len(grid), tuple(touched), tuple(apart), (), (), 0)
    return _spans(at, tuple(grid), stored, stored, AHEAD_BYTES)


def _inside(
    read: Read, one: Region, touched: list[int], chunks: tuple[int, ...]
) -> tuple[int, float]:
    """Return the pieces of a chunk that are decoded between points of an index, and their share."""
    counts = tuple(-(-n // t) for n, t in zip(one.counts, touched, strict=True))
    within = Region((0,) * len(chunks), counts, one.steps, (), (), 0)
    # Shuffled, the bytes of the elements lie in as many planes, each of which is entered.
    planes = read.itemsize if read.layout.shuffle else 1
    width = read.itemsize / planes
    every = read.every_bytes or SPACING_BYTES
    pieces, span = _spans(within, chunks, width, width * counts[-1], every)
    whole = math.prod(chunks) * read.itemsize
    wanted = planes * pieces * (span + every / 2)
    return (planes * pieces, wanted / whole) if wanted < whole else (1, 1.0)


def _contiguous(read: Read, one: Region) -> Geometry:
    if not one.size:
        return Geometry(1, 0, 0, 0, 0, 0.0, 0, 0, 0, 0.0)
    useful = one.size * read.itemsize
    runs, steps = _runs(one, [1] * len(read.shape), read.shape)
    run_bytes = read.itemsize if steps else useful // runs
    extents, span = _spans(one, read.shape, read.itemsize, run_bytes, AHEAD_BYTES)
    requests, stored = runs, float(useful)
    if read.layout.format != "binary":
        classic = read.layout.format in CLASSIC
        window = CLASSIC_BYTES if classic else SIEVE_BYTES
        pieces, piece = _spans(one, read.shape, read.itemsize, run_bytes, window)
        if classic or piece > run_bytes or run_bytes < window:
            windows = math.ceil(piece / window)
            requests, stored = pieces * windows, float(pieces * windows * window)
            stored = min(stored, pieces * math.prod(read.shape) * float(read.itemsize))
    elif steps:
        stored = float(extents * span)
    return Geometry(1, 0, 0, useful, 0, stored, runs, requests, extents, extents * span, steps)


def _spans(
    one: Region, shape: tuple[int, ...], itemsize: float, run_bytes: float, window: int
) -> tuple[int, float]:
    """Return how many stretches there are when gaps up to a window are closed, and their bytes."""
    span, spans = run_bytes, 1
    stride = itemsize
    for count, step, n in zip(one.counts[::-1], one.steps[::-1], shape[::-1], strict=True):
        if count > 1 and stride * step * count > span:
            if stride * step - span < window and spans == 1:
                span = max(span, stride * step * (count - 1) + span)
            else:
                spans *= count
        stride *= n
    return spans, span


def _touched(start: int, count: int, step: int, chunk: int) -> int:
    """Return how many chunks are touched along an axis."""
    if not count:
        return 0
    if step >= chunk:
        return len({(start + i * step) // chunk for i in range(count)})
    return (start + (count - 1) * step) // chunk - start // chunk + 1


def _runs(one: Region, touched: list[int], chunks: tuple[int, ...]) -> tuple[int, int]:
    """Return how many pieces are contiguous in the chunks and in the result, and elements picked.

    Along an axis with a step each element is a piece, but is told apart: libraries have a way of
    their own for these.
    """
    axis = len(chunks) - 1
    while axis > 0:
        # Goes on into the next axis only where one chunk covers this one, and all of it is taken.
        if touched[axis] != 1 or one.counts[axis] != chunks[axis]:
            break
        axis -= 1
    outer = math.prod(one.counts[:axis]) * math.prod(touched[axis + 1 :])
    runs = outer * max(touched[axis], 1)
    if one.steps[axis] != 1 and one.counts[axis] > 1:
        return runs, outer * one.counts[axis]
    return runs, 0


def _uncached(read: Read, size: int) -> bool:
    """Whether chunks are too large for the chunk cache of HDF5."""
    return kind(read) == "chunked" and read.layout.format != "zarr" and size > cache_bytes(read) > 0


def _cached(
    read: Read, regions: list[Region], chunks: tuple[int, ...], found: Geometry
) -> Geometry:
    """Take off what the chunk cache has from one call to the next."""
    if read.layout.format not in (*NETCDF4, "hdf5") or not cache_bytes(read):
        return found
    if found.chunks > _MOST_FOLLOWED or any(max(one.steps, default=1) > 1 for one in regions):
        return found
    boxes = [
        [(start, start + count) for start, count in zip(one.starts, one.counts, strict=True)]
        for one in regions
    ]
    cache = ChunkCache(nbytes=cache_bytes(read))
    fetched = chunk_reads(read.shape, chunks, read.itemsize, boxes, cache)
    share = fetched / found.chunks if found.chunks else 1.0
    return Geometry(
        found.calls,
        found.chunks,
        fetched,
        found.useful_bytes,
        fetched * math.prod(chunks) * read.itemsize,
        found.stored_bytes * share,
        found.runs,
        max(round(found.requests * share), 1),
        max(round(found.extents * share), 1),
        found.span_bytes * share,
        found.steps,
    )
