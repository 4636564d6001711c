"""What a read takes over a link: round trips and bytes, by how a library fetches."""

from __future__ import annotations

import math
from dataclasses import dataclass

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
        Requests, one after another, until the variable is open.
    at_once
        Requests under way at a time.
    ahead_bytes
        What each fetches beyond what was asked for.
    """

    opening: int
    at_once: int = 1
    ahead_bytes: int = 0


FETCHES = {
    "h5py": Fetch(3, ahead_bytes=5 * MIB),
    "h5py-none": Fetch(11),
    "h5py-64k": Fetch(3, ahead_bytes=64 * KIB),
    "h5netcdf": Fetch(3, ahead_bytes=5 * MIB),
    "xarray-h5netcdf": Fetch(3, ahead_bytes=5 * MIB),
    "netcdf4": Fetch(22),
    "xarray-netcdf4": Fetch(22),
    "zarr": Fetch(3, at_once=10),
    "xarray-zarr": Fetch(4, at_once=10),
    "kerchunk": Fetch(2, at_once=10),
    "subchunk": Fetch(2, at_once=10),
}
"""Readers over HTTP; requests of opening are those that the study counted."""


@dataclass(frozen=True)
class Moved:
    """What a read moves over a network.

    Parameters
    ----------
    requests
        To the server, without those of opening.
    stages
        Round trips one after another: requests that are under way together take one.
    nbytes
        From the server, with what is fetched ahead.
    """

    requests: int
    stages: int
    nbytes: float


def moved(library: str, counts: Geometry) -> Moved:
    """Return what a reader asks of a server, and gets, once the file is open.

    Parameters
    ----------
    library
        Of `FETCHES`.
    counts
        What the read touches.

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
    if library not in FETCHES:
        raise UnknownLibraryError(
            f"how {library!r} fetches from a URL is not known: it is of {', '.join(FETCHES)}"
        )
    how = FETCHES[library]
    if not counts.requests:
        return Moved(0, 0, 0.0)
    each = counts.stored_bytes / counts.requests
    requests, size = counts.requests, counts.stored_bytes
    if how.ahead_bytes:
        # What was fetched ahead serves the requests that follow, where chunks are neighbours.
        beside = counts.requests / max(counts.extents, 1)
        served = min(1 + how.ahead_bytes // max(each, 1.0), beside)
        requests = math.ceil(counts.requests / served)
        size = requests * (each * served if served > 1 else each + how.ahead_bytes)
    return Moved(requests, math.ceil(requests / how.at_once), size)


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
    found = moved(read.library, counts)
    if not found.requests:
        return 0.0
    opening = FETCHES[read.library].opening if read.opens else 0
    connections = 1.0 if read.opens else 0.0
    return read.link.seconds(found.stages + opening, connections, found.nbytes)
