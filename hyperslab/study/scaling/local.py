"""One file read by several threads, and by several processes, through each library."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ...access import reader
from ...access.base import Opened
from ...measure.case import Case, Stopwatch
from .local_files import LAYOUTS, VARIABLE, SharedFiles, checksum

WAYS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "netcdf4": ("netcdf4", "netcdf"),
        "h5py": ("h5py", "netcdf"),
        "subchunk": ("subchunk", "netcdf"),
        "zarr-deflate": ("zarr", "zarr-deflate"),
        "zarr": ("zarr", "zarr"),
    }
)
"""Reader and store by the name that records have."""
UNSAFE = ("netcdf4",)
"""Readers that two threads must not call at once; a lock of ours stands between, as in xarray."""
ALONE, THREADS, PROCESSES = "alone", "threads", "processes"
BEYOND = "more than cores"
MODULES = (
    "netCDF4", "h5py", "zarr", "multiprocessing.pool", "hyperslab.study.scaling.local",
    "hyperslab.access.netcdf4", "hyperslab.access.h5py", "hyperslab.access.zarr",
    "hyperslab.access.subchunk",
)  # fmt: skip

Frame = tuple[int, float, float, float]
"""Its number, its checksum, and the seconds of CPU that it took, of user and system."""
Team = Callable[[Iterable[int]], list[Frame]]


@dataclass(frozen=True)
class ReadMaps:
    """Read every map of a file once and take its checksum: phases start and read.

    Starting is opening the file and having the workers ready; it is not part of reading.

    Parameters
    ----------
    path : Path
    library : str
        Name of a reader.
    frames : int
        Maps of the file.
    mode : str
        `ALONE`, `THREADS` or `PROCESSES`.
    workers : int
        Threads or processes.
    """

    path: Path
    library: str
    frames: int
    mode: str
    workers: int

    def __call__(self, watch: Stopwatch) -> NDArray[np.float64]:
        with _TEAMS[self.mode](self, watch) as team:
            with watch("read"):
                found = sorted(team(range(self.frames)))
            watch.note(useful_bytes=self.frames * 4 * int(np.prod(LAYOUTS["netcdf"].chunks or ())))
            if self.mode == PROCESSES:  # which this process's own counters know nothing of
                watch.note(user_s=sum(f[2] for f in found), sys_s=sum(f[3] for f in found))
        return np.array([total for _, total, _, _ in found])

    def opened(self) -> Opened:
        """Open the variable."""
        return reader(self.library).open(self.path, VARIABLE)


@dataclass(frozen=True)
class Sums:
    """Check that the checksums are those of the maps as they were drawn.

    Parameters
    ----------
    truth : Path
    """

    truth: Path

    def __call__(self, found: object) -> bool:
        return isinstance(found, np.ndarray) and np.array_equal(found, np.load(self.truth))


def workers(cores: int, *, beyond: bool) -> tuple[int, ...]:
    """Return how many workers are tried: doubling up to the cores, and once beyond them.

    Examples
    --------
    >>> workers(2, beyond=False), workers(6, beyond=True)
    ((2,), (2, 4, 6, 12))
    """
    doubling = [2**k for k in range(1, 12) if 2**k < cores]
    return tuple(dict.fromkeys([*doubling, max(cores, 2), *([2 * cores] if beyond else ())]))


def cases(files: SharedFiles, several: Iterable[int]) -> list[Case]:
    """Return every library alone, in threads and in processes.

    Parameters
    ----------
    files : SharedFiles
    several : iterable of int
        From `workers`.
    """
    chosen = [(ALONE, 1), *((mode, n) for n in several for mode in (THREADS, PROCESSES))]
    return [_case(files, way, mode, n) for way in WAYS for mode, n in chosen]


def name(way: str, mode: str, several: int) -> str:
    """Return the name of a case.

    Examples
    --------
    >>> name("h5py", "threads", 2), name("h5py", "alone", 1)
    ('h5py/threads-2', 'h5py/alone')
    """
    return f"{way}/{mode}" if mode == ALONE else f"{way}/{mode}-{several}"


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _case(files: SharedFiles, way: str, mode: str, several: int) -> Case:
    library, store = WAYS[way]
    path = files.path(store)
    return Case(
        name(way, mode, several),
        ReadMaps(path, library, files.frames, mode, several),
        check=Sums(files.truth),
        columns={
            **LAYOUTS[store].record(),
            "library": reader(library).library,
            "pattern": "maps",
            "mode": mode,
            "ranks": several,
            "hints": BEYOND if several > cores() else "",
            "predicted_reads": files.frames,
        },
        files=(path, files.index) if library == "subchunk" else (path,),
        cache_state="warm",
        aa=(way, mode) == ("h5py", ALONE),
        pinned=False,
    )


def _one(opened: Opened, frame: int, lock: Lock | None = None) -> Frame:
    with lock or nullcontext():
        values = opened.read((frame, slice(None), slice(None)))
    return frame, checksum(values), 0.0, 0.0


@contextmanager
def _alone(job: ReadMaps, watch: Stopwatch) -> Iterator[Team]:
    with watch("start"):
        opened = job.opened()
    with opened:
        yield lambda frames: [_one(opened, frame) for frame in frames]


@contextmanager
def _threads(job: ReadMaps, watch: Stopwatch) -> Iterator[Team]:
    lock = Lock() if job.library in UNSAFE else None
    with watch("start"):
        opened, pool = job.opened(), ThreadPoolExecutor(job.workers)
    with opened, pool:
        yield lambda frames: list(pool.map(lambda frame: _one(opened, frame, lock), frames))


@contextmanager
def _processes(job: ReadMaps, watch: Stopwatch) -> Iterator[Team]:
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    with watch("start"):
        pool = context.Pool(job.workers, _open_mine, (job,))
        pool.map(abs, range(job.workers), chunksize=1)
    with pool:
        yield lambda frames: pool.map(_of_mine, frames, chunksize=1)


_TEAMS = MappingProxyType({ALONE: _alone, THREADS: _threads, PROCESSES: _processes})
_mine: list[Opened] = []


def _open_mine(job: ReadMaps) -> None:
    _mine.append(job.opened())


def _of_mine(frame: int) -> Frame:
    before = resource.getrusage(resource.RUSAGE_SELF)
    _, total, *_ = _one(_mine[-1], frame)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return frame, total, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
