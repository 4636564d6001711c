"""A server behind a link, both on this machine: what is read from it has a far store's delays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from hyperslab.network.link import Link
from hyperslab.network.server import Server, serving

NEEDED = ("aiohttp", "fsspec")
MODULES = ("aiohttp", "fsspec.implementations.http")
"""What the processes that read from it have imported besides."""
SCREENED = 2
"""Blocks after which what is clearly slower is left out: each read takes long."""
_CARRIED_S = 1.0
_LEAST_BYTES = 2**20


def missing() -> tuple[str, ...]:
    """Return what is not installed and is needed to serve a folder and read from it."""
    return tuple(name for name in NEEDED if find_spec(name) is None)


def sample_bytes(link: Link, most: int) -> int:
    """Return the bytes of values to measure on: what the link carries in a second, 1 MiB at least.

    Parameters
    ----------
    link
        The way to the store.
    most
        Bytes that the user allows.

    Examples
    --------
    >>> sample_bytes(Link(20e6, 0.08), 2**26), sample_bytes(Link(100e3, 0.1), 2**26)
    (20000000, 1048576)
    """
    carried = min(link.bytes_per_s * _CARRIED_S, most)
    return min(max(int(carried), _LEAST_BYTES), most)


@contextmanager
def served(folder: Path, link: Link) -> Iterator[Server]:
    """Serve a folder over HTTP on this machine, behind the link, as long as the context lasts.

    Parameters
    ----------
    folder
        With the files.
    link
        The way to the store.

    Examples
    --------
    >>> import tempfile
    >>> with served(Path(tempfile.mkdtemp()), Link(1e6, 0.01)) as server:
    ...     server.address("a.nc").startswith("http://127.0.0.1:")
    True
    """
    with serving(folder) as server, link.to(server.port) as line:
        yield server.through(line.port)
