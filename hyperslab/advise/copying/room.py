"""How the memory that may be used is shared: pieces that are copied, chunk caches, filters.

What is taken before, by the interpreter and its libraries, counts where the limit is that of a
whole process: only the rest is shared.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from hyperslab.io.layout import NETCDF4, Layout

from ..memory import mib
from ..sources.base import SourceVariable
from .need import LEAST_CACHE_BYTES, Need, Room

MARGIN_BYTES = 20 * 2**20  # what the allocator holds back, attributes, buffers of the libraries


class MemoryLimitError(ValueError):
    """A copy does not fit into the memory that it may use."""


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
    staging: bool = False,
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
    staging
        Whether values may go through a temporary file of their size.

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
        needs = [Need(v, layout, source_format, held, len(variables)) for v, layout in variables]
        short = max(need.least(comfortable=held > LEAST_CACHE_BYTES) for need in needs) - free
        if short <= 0 or cache_bytes is not None or held <= LEAST_CACHE_BYTES:
            break
        held = max(held // 2, LEAST_CACHE_BYTES)
    worst = max(needs, key=lambda need: need.least())
    if worst.least() > free:
        raise MemoryLimitError(
            f"copying {worst.variable.name} into {worst.words} needs {mib(worst.least())}, and "
            f"{mib(max(free, 0))} of {mib(memory_bytes)} are left for it: allow at least "
            f"{mib(memory_bytes - free + worst.least())}, or take smaller chunks"
        )
    rooms = {
        need.variable.name: need.room(free, memory_bytes - free, staging=staging) for need in needs
    }
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
