"""One file read by several threads, and by several processes, through each library."""

import math
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..io import reader
from ..io.experiment import File, columns
from ..io.reading import Opened
from ..io.work import Values
from ..measure.case import Stopwatch
from ..measure.worker import cores
from ..subchunk.index.index import SUFFIX

ALONE, THREADS, PROCESSES = "alone", "threads", "processes"
BEYOND = "more than cores"
# Two threads must not call it at once: a lock stands between, as in xarray.
LOCKED = ("netcdf4", "netcdf-c")
_BYTES = 4

Map = tuple[int, float, float, float]  # number, checksum, CPU seconds of user and system
Team = Callable[[Iterable[int]], list[Map]]


def workers(beyond: bool) -> list[int]:
    """Return how many workers are tried: doubling up to the cores, and once beyond them."""
    most = max(cores(), 2)
    doubling = [2**k for k in range(1, 12) if 2**k < most]
    return [*doubling, most, *([2 * most] if beyond else [])]


@dataclass(frozen=True)
class ReadMaps:
    """Read every map of a file once, and take the sum of its bits: phases start and read."""

    file: File
    reader: str
    mode: str = ALONE  # `ALONE`, `THREADS` or `PROCESSES`
    workers: int = 1  # threads or processes

    def parts(self, cache_state: str) -> dict[str, Any]:
        array, path = self.file.array, self.file.path
        index = path.with_name(path.name + SUFFIX)
        return {
            "run": ReadTogether(
                path, self.reader, array.variable, array.shape, self.mode, self.workers
            ),
            "check": partial(are_sums, self.file.part(np.s_[:, :, :])),
            "columns": {
                **columns(self.file.layout, self.reader),
                "pattern": "maps",
                "mode": self.mode,
                "ranks": self.workers,
                "hints": BEYOND if self.workers > max(cores(), 2) else "",
                "predicted_reads": array.shape[0],
            },
            "files": (path, index) if self.reader == "subchunk" else (path,),
            "pinned": False,
        }


@dataclass(frozen=True)
class ReadTogether:
    """Read maps by one reader or several; starting is opening, and having the workers ready."""

    path: Path
    library: str
    variable: str
    shape: tuple[int, ...]
    mode: str
    workers: int

    needs: ClassVar = ("multiprocessing.pool", __name__)

    def __call__(self, watch: Stopwatch) -> NDArray[np.float64]:
        with _TEAMS[self.mode](self, watch) as team:
            with watch("read"):
                maps = sorted(team(range(self.shape[0])))
            watch.note(useful_bytes=_BYTES * math.prod(self.shape))
            if self.mode == PROCESSES:  # which this process's own counters know nothing of
                watch.note(user_s=sum(m[2] for m in maps), sys_s=sum(m[3] for m in maps))
        return np.array([total for _, total, _, _ in maps])

    def opened(self) -> Opened:
        return reader(self.library).open(self.path, self.variable)


def are_sums(values: Values, sums: NDArray[np.float64]) -> bool:
    return np.array_equal(sums, [checksum(frame) for frame in values()])


def checksum(values: NDArray[np.float32]) -> float:
    """Return the sum of the bits of values, which any other value changes."""
    return float(values.view("u4").sum(dtype="u8"))


def _read_map(opened: Opened, number: int, lock: "Lock | None" = None) -> Map:
    with lock or nullcontext():
        values = opened.read((number, slice(None), slice(None)))
    return number, checksum(values), 0.0, 0.0


@contextmanager
def _alone(job: ReadTogether, watch: Stopwatch) -> Iterator[Team]:
    with watch("start"):
        opened = job.opened()
    with opened:
        yield lambda numbers: [_read_map(opened, number) for number in numbers]


@contextmanager
def _threads(job: ReadTogether, watch: Stopwatch) -> Iterator[Team]:
    lock = Lock() if job.library in LOCKED else None
    with watch("start"):
        opened, pool = job.opened(), ThreadPoolExecutor(job.workers)
    with opened, pool:
        yield lambda numbers: list(pool.map(lambda n: _read_map(opened, n, lock), numbers))


@contextmanager
def _processes(job: ReadTogether, watch: Stopwatch) -> Iterator[Team]:
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    with watch("start"):
        pool = context.Pool(job.workers, _open_mine, (job,))
        pool.map(abs, range(job.workers), chunksize=1)
    with pool:
        yield lambda numbers: pool.map(_of_mine, numbers, chunksize=1)


_TEAMS: Mapping[str, Any] = {ALONE: _alone, THREADS: _threads, PROCESSES: _processes}
_mine: list[Opened] = []


def _open_mine(job: ReadTogether) -> None:
    _mine.append(job.opened())


def _of_mine(number: int) -> Map:
    before = resource.getrusage(resource.RUSAGE_SELF)
    _, total, *_ = _read_map(_mine[-1], number)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return number, total, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
