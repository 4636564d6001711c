"""A strided read of small pieces, made in several ways: the sample and its cases."""

import os
import resource
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from threading import Barrier, Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...measure.case import Case, Stopwatch
from .files import ITEMSIZE, VARIABLE, Files, truth
from .reads import LONGEST_S

PIECE_BYTES = 4096
STRIDE = 4
"""One piece is wanted of so many, as in the document's strided reads."""
BLOCK_BYTES = 2**20
"""What is read on and picked from."""
PIECE, RUN = PIECE_BYTES // ITEMSIZE, BLOCK_BYTES // STRIDE // PIECE_BYTES
"""Values of a piece, and how many are wanted of a block."""
THREADS = 4
MANY = 4096

Get = Callable[[int, int], NDArray[Any]]
Found = tuple[NDArray[np.float64], list[int]]
"""The pieces, and the first of each run of them that was read."""


@dataclass(frozen=True)
class Quarter:
    """Read one piece of four: phases open, read and close; before reading start, of threads.

    The pieces are read in runs of `RUN`; after a limit of time no run is begun. Nothing is
    extrapolated: ``useful_bytes`` and ``stages``, the number of reads, are of what was read.

    Parameters
    ----------
    path : Path
        Of the netCDF-4 file.
    library, manner : str
        Of `LIBRARIES` and `MANNERS`.
    pieces : int
        How many are wanted, a multiple of `RUN`.
    limit_s : float
        Seconds of reading after which it stops.
    """

    path: Path
    library: str
    manner: str
    pieces: int
    limit_s: float = LONGEST_S

    def __call__(self, watch: Stopwatch) -> Found:
        out = np.empty((self.pieces, PIECE))
        runs = range(0, self.pieces, RUN)
        with ExitStack() as held:
            with watch("open"):
                get = LIBRARIES[self.library](self.path, held)
            read, threads = MANNERS[self.manner]
            each = partial(read, get, out)
            pool = None
            if threads > 1:
                with watch("start"):
                    pool = started(threads, held)
            watch.chill()
            before = resource.getrusage(resource.RUSAGE_SELF)
            with watch("read"):
                done = _until(time.perf_counter() + self.limit_s, each, runs, pool)
            after = resource.getrusage(resource.RUSAGE_SELF)
            watch.note(
                useful_bytes=len(done) * RUN * PIECE_BYTES,
                stages=len(done) * (1 if self.manner == "contiguous" else RUN),
                voluntary_switches=after.ru_nvcsw - before.ru_nvcsw,
                forced_switches=after.ru_nivcsw - before.ru_nivcsw,
            )
            with watch("close"):
                held.close()
        return out, done


def started(threads: int, held: ExitStack) -> ThreadPoolExecutor:
    """Return a pool whose threads run already, so that reads are timed and not their start."""
    pool = held.enter_context(ThreadPoolExecutor(threads))
    there = Barrier(threads)
    list(pool.map(lambda _: there.wait(), range(threads)))
    return pool


def _until(
    end: float, each: Callable[[int], None], runs: range, pool: ThreadPoolExecutor | None
) -> list[int]:
    """Make the runs until their end or that of the time; return those that were made."""

    def some(mine: range) -> list[int]:
        done = []
        for first in mine:
            if time.perf_counter() >= end:
                break
            each(first)
            done.append(first)
        return done

    if pool is None:
        return some(runs)
    share = -(-len(runs) // THREADS)
    parts = (runs[n * share : (n + 1) * share] for n in range(THREADS))
    return [first for part in pool.map(some, parts) for first in part]


def right(read: object) -> bool:
    """Whether `Quarter` read what it should; the check of its cases."""
    assert isinstance(read, tuple)
    out, done = read
    for first in done:
        whole = truth(first * STRIDE * PIECE, RUN * STRIDE * PIECE)
        if not np.array_equal(out[first : first + RUN], whole.reshape(RUN, STRIDE, PIECE)[:, 0]):
            return False
    return bool(done)


@dataclass(frozen=True)
class AllCores:
    """Let this process use all the cores of the one that started it; samples have one."""

    def __call__(self) -> None:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, os.sched_getaffinity(os.getppid()))


def cases(files: Mapping[str, Files], pieces: int) -> list[Case]:
    """Return the reads of one piece of four, by library and manner.

    Parameters
    ----------
    files : mapping
        From cache state to files.
    pieces : int
        How many are wanted; all the pieces lie in the first 4 × 4 KiB × pieces of the variable.

    Raises
    ------
    ValueError
        When the variable has fewer, or they fill no whole number of blocks.
    """
    span = pieces * STRIDE * PIECE_BYTES
    if span % BLOCK_BYTES or any(span > each.nbytes for each in files.values()):
        raise ValueError(
            f"{pieces} pieces lie in {span} bytes: give a multiple of "
            f"{RUN} that the variable has room for"
        )
    return [
        Case(
            f"{library}/{manner}",
            Quarter(
                found.path("netcdf4"), library, manner, _pieces_of(library, state, pieces, found)
            ),
            check=right,
            columns={"library": library, "format": "netcdf4", "pattern": "strided"},
            files=(found.path("netcdf4"),),
            cache_state=state,
            prepare=AllCores() if manner == "threads" else None,
            aa=(library, manner) == ("netcdf4-python", "pieces"),
        )
        for state, found in files.items()
        for library, manner in WAYS
    ]


def _pieces_of(library: str, state: str, pieces: int, files: Files) -> int:
    """Return how many pieces are read; out of memory by os.pread so many that it takes a while."""
    if (library, state) != ("pread", "warm"):
        return pieces
    return max(pieces, min(MANY, files.nbytes // BLOCK_BYTES * RUN))


def _netcdf4(path: Path, held: ExitStack) -> Get:
    import netCDF4

    file = netCDF4.Dataset(path)
    held.callback(file.close)
    variable, lock = file[VARIABLE], Lock()

    def get(first: int, count: int) -> NDArray[Any]:
        with lock:  # netCDF-C must not be called by two threads at once
            return np.asarray(variable[first : first + count])

    return get


def _h5py(path: Path, held: ExitStack) -> Get:
    import h5py

    variable = held.enter_context(h5py.File(path))[VARIABLE]
    return lambda first, count: np.asarray(variable[first : first + count])


def _pread(path: Path, held: ExitStack) -> Get:
    import h5py

    with h5py.File(path) as file:
        offset = file[VARIABLE].id.get_offset()
    number = os.open(path, os.O_RDONLY)
    held.callback(os.close, number)

    def get(first: int, count: int) -> NDArray[Any]:
        data = os.pread(number, count * ITEMSIZE, offset + first * ITEMSIZE)
        return np.frombuffer(data, np.float64)

    return get


def _pieces(get: Get, out: NDArray[np.float64], first: int) -> None:
    for at in range(first, first + RUN):
        out[at] = get(STRIDE * PIECE * at, PIECE)


def _contiguous(get: Get, out: NDArray[np.float64], first: int) -> None:
    found = get(STRIDE * PIECE * first, RUN * STRIDE * PIECE)
    out[first : first + RUN] = found.reshape(RUN, STRIDE, PIECE)[:, 0]


LIBRARIES: Mapping[str, Callable[[Path, ExitStack], Get]] = {
    "netcdf4-python": _netcdf4,
    "h5py": _h5py,
    "pread": _pread,
}
MANNERS: Mapping[str, tuple[Callable[[Get, NDArray[np.float64], int], None], int]] = {
    "pieces": (_pieces, 1),
    "contiguous": (_contiguous, 1),
    "threads": (_pieces, THREADS),
}
"""How a run of pieces is read, and in how many threads."""
WAYS = (
    *product(("netcdf4-python", "h5py"), MANNERS),
    *product(("pread",), ("pieces", "threads")),
)
"""The libraries and manners that are measured."""
