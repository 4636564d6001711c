"""What a read moves over a link: round trips and bytes, by how a library fetches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.metadata import version
from typing import NamedTuple

from packaging.version import Version

from hyperslab.io.chunk_shapes import chunk_grid
from hyperslab.io.selection import region

from .counts import Counts, Read, chunk_stretches, spans

MIB = 2**20
# Whether this zarr-python asks for chunks of a shard at once, near ones in one request.
MERGING = Version(version("zarr")) >= Version("3.3")
_MOST_MERGED = 16 * MIB  # bytes of chunks in one request, and gaps between them of up to 1 MiB
_LEAF_CHUNKS = 58  # that a node of HDF5's index of chunks holds, nine tenths full


class UncalibratedError(ValueError):
    """Something was asked of the cost model that it does not know: nothing is guessed."""


@dataclass(frozen=True)
class Fetch:
    """How a reader fetches from a URL."""

    opening: int  # requests until the variable is open
    opening_stages: int  # round trips that they take one after another
    at_once: int = 1  # requests under way at a time
    ahead_bytes: int = 0  # what each fetches beyond what was asked for


FETCHES = {
    "h5py": Fetch(2, 2, ahead_bytes=5 * MIB),
    "h5netcdf": Fetch(2, 2, ahead_bytes=5 * MIB),
    "xarray-h5netcdf": Fetch(2, 2, ahead_bytes=5 * MIB),
    "netcdf4": Fetch(22, 22),
    "xarray-netcdf4": Fetch(22, 22),
    "zarr": Fetch(3, 1, at_once=10),
    "xarray-zarr": Fetch(4, 2, at_once=10),
    "subchunk": Fetch(2, 1, at_once=100),
}
"""Readers over HTTP, as counted; without any read-ahead it depends on the file's metadata."""


class Moved(NamedTuple):
    """What a read moves over a network."""

    requests: int
    stages: int  # round trips one after another: requests under way together take one
    nbytes: float  # from the server, with what is fetched ahead


def moved(read: Read, counts: Counts) -> Moved:
    """Return what a reader asks of a server and gets, to open a file of one variable and read."""
    if read.library not in FETCHES:
        raise UncalibratedError(
            f"how {read.library!r} fetches from a URL is not known: it is of {', '.join(FETCHES)}"
        )
    how = FETCHES[read.library]
    if how.ahead_bytes:
        return _read_ahead(read, counts, how)
    stages = how.opening_stages
    requests, nbytes = counts.requests, counts.stored_bytes
    if requests > counts.shards > 0 and MERGING:
        requests, nbytes = _merged(read, counts)
        stages += math.ceil(counts.shards / how.at_once)  # their indexes, then all the rest
        stages += math.ceil((requests - counts.shards) / how.at_once)
    elif requests:
        # Zarr asks for the chunks of a shard one after another, for several shards at once.
        lines = counts.shards or requests
        stages += math.ceil(lines / how.at_once) * math.ceil(requests / lines)
    return Moved(how.opening + requests, stages, nbytes)


def _merged(read: Read, counts: Counts) -> tuple[int, float]:
    """Return requests and bytes where chunks that lie near each other in a shard come as one."""
    each = math.prod(read.layout.shards or ()) / math.prod(read.layout.chunks or ())
    touched = (counts.requests - counts.shards) / counts.shards  # of the chunks of a shard
    size = counts.stored_bytes / (touched * counts.shards)  # of a chunk
    if (each / touched - 1) * size > MIB:  # lies between two of them
        return counts.requests, counts.stored_bytes
    stretch = each * size
    pieces = counts.shards * math.ceil(stretch / _MOST_MERGED)
    return counts.shards + pieces, counts.shards * stretch


def _read_ahead(read: Read, counts: Counts, how: Fetch) -> Moved:
    """Return what windows move; each leaf of HDF5's index of chunks lies elsewhere."""
    ahead, grid = how.ahead_bytes, chunk_grid(read.shape, read.chunks or read.shape)
    size = math.prod(grid) * read.chunk_stored  # of the file
    requests, nbytes = how.opening, float(ahead)
    if size <= ahead:
        return Moved(requests, requests, size)
    for slab in (region(selection, read.shape) for selection in read.selections):
        if not slab.size:
            continue
        if read.chunks is None:
            piece = counts.useful_bytes / max(counts.runs, 1)
            stretches, span = spans(slab, read.shape, read.itemsize, piece, ahead)
        else:
            piece = read.chunk_stored
            stretches, span = chunk_stretches(read, slab, ahead)
            leaves = math.ceil(stretches * span / piece / _LEAF_CHUNKS)
            apart = math.prod(grid) > _LEAF_CHUNKS and _LEAF_CHUNKS * piece > ahead
            jumps = 2 * leaves - 1 if apart else 0
            requests, nbytes = requests + jumps, nbytes + jumps * ahead
        requests += stretches * math.ceil(max(span / (piece + ahead), 1.0))
        nbytes += min(stretches * (span + ahead), size)
    return Moved(requests, requests, nbytes)


def wire_seconds(read: Read, counts: Counts) -> float:
    """Return the seconds that round trips and bytes take, without the work of the client."""
    if read.link is None:
        return 0.0
    traffic, how = moved(read, counts), FETCHES[read.library]
    # What is asked for at once takes connections, which are made at once too.
    more = how.at_once > 1 and traffic.requests - how.opening > how.opening
    return read.link.seconds(traffic.stages, 1.0 + more, traffic.nbytes)
