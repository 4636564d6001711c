"""Where the default chunk cache stops being large enough: to the byte, by counting read calls."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ...storage.chunk_cache import PROMISED_CHUNKS, ChunkCache, chunk_reads, row_boxes
from .cache import library_cache

EDGES = {"one chunk": 1, "ten chunks": PROMISED_CHUNKS}
SLOT_CHUNKS = (1000, 1001, 1200, 2000)
LARGEST_SEARCHED = 128 * 2**20
COUNTS = Path("/proc/thread-self/io")  # of this thread: Jupyter reads in others


def edges(folder: Path) -> Iterator[dict[str, object]]:
    """Yield the largest chunk that stays in the default cache, and the smallest that does not.

    Found by bisection, from what our model of the cache says: a chunk stays if reading from it
    once more asks the system for nothing. ``syscr`` counts the calls of that second reading.

    Parameters
    ----------
    folder : Path
        For files that are deleted again.
    """
    if not COUNTS.exists():
        yield {"case": "edges", "phase": "read", "status": f"no {COUNTS} to count read calls"}
        return
    default = library_cache("netcdf4").nbytes
    for name, together in EDGES.items():
        calls: dict[int, int] = {}

        def stays(size: int, together: int = together, calls: dict[int, int] = calls) -> bool:
            calls[size] = second_calls(folder, size, together)
            return calls[size] == 0

        last = last_staying(stays, 1, LARGEST_SEARCHED // together, default // together)
        for which, size in (("stays", last), ("does not", last + 1)):
            yield {
                "case": f"{name}/{which}",
                "phase": "read",
                "library": "netCDF4",
                "chunks": str(size),
                "useful_bytes": size,
                "predicted_bytes": default // together + (which != "stays"),
                "cache_bytes": default,
                "syscr": calls[size],
            }


def last_staying(stays: Callable[[int], bool], low: int, high: int, guess: int) -> int:
    """Return the largest size that stays, by bisection that begins around a guess.

    Parameters
    ----------
    stays : callable
        Whether a size stays; no larger one does when one does not.
    low, high : int
        Sizes known to stay, and not to.
    guess : int
        Tried first, with the next one.

    Examples
    --------
    >>> last_staying(lambda size: size <= 777, 1, 10**6, 500)
    777
    """
    tries = [guess, guess + 1]
    while high - low > 1:
        size = next((size for size in tries if low < size < high), (low + high) // 2)
        if stays(size):
            low = size
        else:
            high = size
    return low


def slots(folder: Path) -> Iterator[dict[str, object]]:
    """Yield what a further row costs when a row has more chunks than the cache has slots.

    ``syscr`` counts the calls of reading the second row, ``predicted_reads`` the chunks that are
    fetched for it; all chunks together are far smaller than the cache.

    Parameters
    ----------
    folder : Path
        For files that are deleted again.
    """
    if not COUNTS.exists():
        yield {"case": "slots", "phase": "read", "status": f"no {COUNTS} to count read calls"}
        return
    default = library_cache("netcdf4")
    ample = ChunkCache(default.nbytes, 10007, default.preemption)
    for across in SLOT_CHUNKS:
        for name, cache in (("default", default), ("more slots", ample)):
            shape, chunks = (2, 16 * across), (2, 16)
            both, once = (chunk_reads(shape, chunks, 1, row_boxes(shape, n), cache) for n in (2, 1))
            path = folder / "slots.nc"
            _write(path, shape, chunks)
            yield {
                "case": f"{name}/{across}",
                "phase": "read",
                "library": "netCDF4",
                "useful_bytes": 16 * across,
                "cache_bytes": cache.nbytes,
                "predicted_reads": both - once,
                "syscr": _calls_of_second(path, [0, 1], cache.slots),
            }
            path.unlink()


def second_calls(folder: Path, size: int, together: int) -> int:
    """Return how many read calls it takes to read a value of each of some chunks again.

    Parameters
    ----------
    folder : Path
        For a file that is deleted again.
    size : int
        Bytes of a chunk.
    together : int
        How many chunks.
    """
    path = folder / "edge.nc"
    _write(path, (size * together,), (size,))
    places = [size * i for i in range(together)]
    calls = _calls_of_second(path, [*places, *places], rounds=together)
    path.unlink()
    return calls


def _write(path: Path, shape: tuple[int, ...], chunks: tuple[int, ...]) -> None:
    import netCDF4

    with netCDF4.Dataset(path, "w") as file:
        for axis, n in enumerate(shape):
            file.createDimension(f"d{axis}", n)
        made = file.createVariable(
            "v", "i1", file.dimensions, zlib=True, complevel=1, chunksizes=chunks
        )
        made.set_auto_maskandscale(False)
        first = shape[0] if len(shape) > 1 else chunks[0]
        for start in range(0, shape[0], first):  # chunk by chunk: they may be large
            made[start : start + first] = np.zeros((first, *shape[1:]), "i1")


def _calls_of_second(
    path: Path, starts: Sequence[int], slots: int | None = None, rounds: int = 1
) -> int:
    """Read at all starts, and return the read calls that those after the first round took."""
    import netCDF4

    with netCDF4.Dataset(path) as file:
        variable = file["v"]
        variable.set_auto_maskandscale(False)
        if slots is not None:
            variable.set_var_chunk_cache(nelems=slots)
        for start in starts[:rounds]:
            variable[start]
        before = _read_calls()
        for start in starts[rounds:]:
            variable[start]
        return _read_calls() - before - 1  # the first count is itself a read call


def _read_calls() -> int:
    """Return the read calls of this thread so far."""
    descriptor = os.open(COUNTS, os.O_RDONLY)
    text = os.read(descriptor, 4096).decode()
    os.close(descriptor)
    return int(text.split("syscr:")[1].split()[0])
