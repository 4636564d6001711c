"""What a read takes over a link: round trips and bytes, by how a library fetches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hyperslab.storage.geometry import chunk_grid, padded_bytes

from .errors import UnknownLibraryError
from .geometry import Geometry
from .read import Read

KIB, MIB = 2**10, 2**20


@dataclass(frozen=True)
class Fetch:
    """How a reader fetches from a URL.

    Parameters
    ----------
    opening
        Requests until the variable is open.
    opening_stages
        Round trips that they take one after another.
    at_once
        Requests under way at a time.
    ahead_bytes
        What each fetches beyond what was asked for.
    """

    opening: int
    opening_stages: int
    at_once: int = 1
    ahead_bytes: int = 0


FETCHES = {
    "h5py": Fetch(2, 2, ahead_bytes=5 * MIB),
    "h5py-none": Fetch(11, 11),
    "h5py-64k": Fetch(2, 2, ahead_bytes=64 * KIB),
    "h5netcdf": Fetch(2, 2, ahead_bytes=5 * MIB),
    "xarray-h5netcdf": Fetch(2, 2, ahead_bytes=5 * MIB),
    "netcdf4": Fetch(22, 22),
    "xarray-netcdf4": Fetch(22, 22),
    "zarr": Fetch(3, 1, at_once=10),
    "xarray-zarr": Fetch(4, 2, at_once=10),
    "kerchunk": Fetch(1, 1, at_once=10),
    "subchunk": Fetch(2, 1, at_once=10),
}
"""Readers over HTTP, as counted; without any read-ahead it depends on the file's metadata."""


@dataclass(frozen=True)
class Moved:
    """What opening a file, or a read of it, moves over a network.

    Parameters
    ----------
    requests
        To the server.
    stages
        Round trips one after another: requests that are under way together take one.
    nbytes
        From the server, with what is fetched ahead.
    """

    requests: int
    stages: int
    nbytes: float

    def __add__(self, other: Moved) -> Moved:
        return Moved(
            self.requests + other.requests,
            self.stages + other.stages,
            self.nbytes + other.nbytes,
        )


def opening(library: str, file_bytes: float) -> Moved:
    """Return what a reader moves until the variable is open.

    Parameters
    ----------
    library
        Of `FETCHES`.
    file_bytes
        Size of the file: what is fetched ahead ends with it.

    Raises
    ------
    UnknownLibraryError
        For a reader whose way of fetching is not known.

    Examples
    --------
    >>> opening("h5py", 1e6), opening("zarr", 1e6).nbytes
    (Moved(requests=2, stages=2, nbytes=1000000.0), 0)
    """
    how = _fetch(library)
    return Moved(how.opening, how.opening_stages, min(how.ahead_bytes, file_bytes))


def moved(library: str, counts: Geometry, file_bytes: float = math.inf) -> Moved:
    """Return what a reader asks of a server, and gets, once the file is open.

    Parameters
    ----------
    library
        Of `FETCHES`.
    counts
        What the read touches.
    file_bytes
        Size of the file: one that opening has fetched whole is not asked for again.

    Raises
    ------
    UnknownLibraryError
        For a reader whose way of fetching is not known.

    Examples
    --------
    >>> from hyperslab.storage import Layout
    >>> from .geometry import geometry
    >>> layout = Layout("netcdf4", chunks=(1, 1000))
    >>> series = geometry(Read((20, 1000), "f4", layout, ((slice(None), 0),), "h5py"))
    >>> moved("h5py", series)
    Moved(requests=1, stages=1, nbytes=80000.0)
    """
    how = _fetch(library)
    if not counts.requests or file_bytes <= how.ahead_bytes:
        return Moved(0, 0, 0.0)
    each = counts.stored_bytes / counts.requests
    requests, size = counts.requests, counts.stored_bytes
    if how.ahead_bytes:
        # What was fetched ahead serves the requests that follow, where chunks are neighbours.
        beside = counts.requests / max(counts.extents, 1)
        served = min(1 + how.ahead_bytes // max(each, 1.0), beside)
        requests = math.ceil(counts.requests / served)
        size = requests * (each * served if served > 1 else each + how.ahead_bytes)
    # Zarr asks for the chunks of a shard one after another, for several shards at once.
    lines = counts.shards or requests
    stages = math.ceil(lines / how.at_once) * math.ceil(requests / lines)
    return Moved(requests, stages, size)


def wire_seconds(read: Read, counts: Geometry) -> float:
    """Return the seconds that round trips and bytes take, without the work of the client.

    Parameters
    ----------
    read
        With a link.
    counts
        What it touches.

    Raises
    ------
    UnknownLibraryError
        For a reader whose way of fetching is not known.

    Examples
    --------
    >>> from hyperslab.network import Link
    >>> from hyperslab.storage import Layout
    >>> layout = Layout("zarr2", chunks=(1, 1000))
    >>> far = Read((20, 1000), "f4", layout, ((slice(None), 0),), "zarr", link=Link(1e6, 0.1))
    >>> from .geometry import geometry
    >>> round(wire_seconds(far, geometry(far)), 3)
    0.28
    """
    if read.link is None:
        return 0.0
    if not read.opens:
        found = moved(read.library, counts)
        return read.link.seconds(found.stages, 0.0, found.nbytes) if found.requests else 0.0
    size = file_bytes(read)
    first, then = opening(read.library, size), moved(read.library, counts, size)
    # What is asked for at once takes connections, which are made at once too.
    more = then.stages < then.requests and then.requests > first.requests
    found = first + then
    return read.link.seconds(found.stages, 2.0 if more else 1.0, found.nbytes)


def file_bytes(read: Read) -> float:
    """Return the bytes that the values of a variable take in its file.

    Examples
    --------
    >>> from hyperslab.storage import Layout
    >>> layout = Layout("netcdf4", chunks=(6, 6), codec="deflate")
    >>> file_bytes(Read((10, 10), "f4", layout, (...,), "h5py", chunk_bytes=50.0))
    200.0
    """
    chunks = read.layout.chunks
    if chunks is None or read.chunk_bytes is None:
        return float(padded_bytes(read.shape, chunks or read.shape, np.dtype(read.dtype).itemsize))
    return math.prod(chunk_grid(read.shape, chunks)) * read.chunk_bytes


def _fetch(library: str) -> Fetch:
    if library not in FETCHES:
        raise UnknownLibraryError(
            f"how {library!r} fetches from a URL is not known: it is of {', '.join(FETCHES)}"
        )
    return FETCHES[library]
