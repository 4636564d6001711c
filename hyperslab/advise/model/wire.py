"""What a read takes over a link: round trips and bytes, by how a library fetches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hyperslab.io.chunk_shapes import chunk_grid, padded_bytes

from .errors import UnknownLibraryError
from .geometry import Geometry
from .read import Read
from .window import Window, pieces

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
    "subchunk": Fetch(2, 1, at_once=100),
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


def moved(read: Read, counts: Geometry) -> Moved:
    """Return what a reader asks of a server, and gets; with opening, where that is part of a read.

    With fsspec's read-ahead pieces are followed through its window, in a file that was written in
    order and holds nothing but the variable and its index: others take more.

    Parameters
    ----------
    read
        By a library of `FETCHES`.
    counts
        What it touches.

    Raises
    ------
    UnknownLibraryError
        For a reader whose way of fetching is not known.

    Examples
    --------
    >>> from hyperslab.io import Layout
    >>> from .geometry import geometry
    >>> layout = Layout("netcdf4", chunks=(1, 1000))
    >>> series = Read((20, 1000), "f4", layout, ((slice(None), 0),), "h5py", opens=True)
    >>> moved(series, geometry(series))  # all of the file, when it is opened
    Moved(requests=2, stages=2, nbytes=80000.0)
    """
    if read.library not in FETCHES:
        raise UnknownLibraryError(
            f"how {read.library!r} fetches from a URL is not known: it is of {', '.join(FETCHES)}"
        )
    how = FETCHES[read.library]
    if how.ahead_bytes:
        return _through_window(read, how)
    opening = Moved(how.opening, how.opening_stages, 0.0) if read.opens else Moved(0, 0, 0.0)
    if not counts.requests:
        return opening
    # Zarr asks for the chunks of a shard one after another, for several shards at once.
    lines = counts.shards or counts.requests
    stages = math.ceil(lines / how.at_once) * math.ceil(counts.requests / lines)
    return opening + Moved(counts.requests, stages, counts.stored_bytes)


def _through_window(read: Read, how: Fetch) -> Moved:
    size = file_bytes(read)
    window = Window(how.ahead_bytes, math.ceil(size))
    opening = 0
    if read.opens:
        window.ask(0, 1)
        opening = how.opening
    before = Moved(window.requests, window.requests, window.nbytes)
    reads, times = pieces(read, size)
    for start, stop in reads:
        window.ask(start, min(stop, math.ceil(size)))
    requests = opening + round((window.requests - before.requests) * times)
    return Moved(requests, requests, before.nbytes + (window.nbytes - before.nbytes) * times)


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
    >>> from hyperslab.io import Layout
    >>> layout = Layout("zarr2", chunks=(1, 1000))
    >>> far = Read((20, 1000), "f4", layout, ((slice(None), 0),), "zarr", link=Link(1e6, 0.1))
    >>> from .geometry import geometry
    >>> round(wire_seconds(far, geometry(far)), 3)
    0.28
    """
    if read.link is None:
        return 0.0
    found = moved(read, counts)
    if not found.requests:
        return 0.0
    how = FETCHES[read.library]
    # What is asked for at once takes connections, which are made at once too.
    more = how.at_once > 1 and found.requests - how.opening > how.opening
    return read.link.seconds(found.stages, (1.0 + more) * read.opens, found.nbytes)


def file_bytes(read: Read) -> float:
    """Return the bytes that the values of a variable take in its file.

    Examples
    --------
    >>> from hyperslab.io import Layout
    >>> layout = Layout("netcdf4", chunks=(6, 6), codec="deflate")
    >>> file_bytes(Read((10, 10), "f4", layout, (...,), "h5py", chunk_bytes=50.0))
    200.0
    """
    chunks = read.layout.chunks
    if chunks is None or read.chunk_bytes is None:
        return float(padded_bytes(read.shape, chunks or read.shape, np.dtype(read.dtype).itemsize))
    return math.prod(chunk_grid(read.shape, chunks)) * read.chunk_bytes
