"""Jobs of several ranks as cases and as observations."""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ...io.work import Remove
from ...measure.case import Case, Stopwatch
from ...measure.records import frame_of
from ...parallel import LIBRARIES, Found, Phase, Program, RanksJob, Report, find, holds, run
from ...parallel import counted as in_words
from ..privacy import scrubber
from ..profile import root
from ..session import Session

MODULES = ("hyperslab.study.chilan.jobs", "h5py", "netCDF4")
_OF_THE_LAUNCHER = ("minflt", "majflt", "read_bytes", "write_bytes")


@dataclass(frozen=True)
class Task:
    """A job with the name of its case.

    Parameters
    ----------
    case : str
        Library, pattern or file, and mode.
    job : RanksJob
    described : tuple of (str, object)
        Record columns beside those that follow from the job.
    most_blocks : int
        After how many blocks it is not timed again; 0 is never.
    """

    case: str
    job: RanksJob
    described: tuple[tuple[str, object], ...] = ()
    most_blocks: int = 0

    @property
    def columns(self) -> dict[str, object]:
        """Record columns that describe it."""
        job = self.job
        return {
            "case": self.case,
            "library": job.library,
            "mode": job.mode,
            "hints": " ".join(f"{name}={value}" for name, value in job.hints.items()),
            "ranks": job.plan.ranks,
            "latency_s": job.latency_s,
            **dict(self.described),
        }


@dataclass(frozen=True)
class Sample:
    """Run a job; its phases are those of its slowest rank, its requests those of all.

    Parameters
    ----------
    job : RanksJob
    program : Program
    """

    job: RanksJob
    program: Program

    def __call__(self, watch: Stopwatch) -> None:
        report = run(self.job, self.program)
        for phase in report.phases:
            with watch(phase.name):
                pass
            watch.note(**cost(phase, self.job), **dict.fromkeys(_OF_THE_LAUNCHER, math.nan))
        watch.note(file_bytes=self.job.path.stat().st_size)


@dataclass(frozen=True)
class Kept:
    """Check that the file of a job holds what was to be written."""

    job: RanksJob

    def __call__(self, _: object) -> bool:
        return holds(self.job.plan, self.job.path, self.job.library)


def cost(phase: Phase, job: RanksJob) -> dict[str, object]:
    """Return the record columns of a phase.

    `requests` are those that write, and when reading those that read; `stages` are all requests of
    the rank that makes the most, which it makes one after another.
    """
    writes, reads = sum(phase.writes), sum(phase.reads)
    moved = phase.name in ("write", "read")
    return {
        "wall_s": phase.wall_s,
        "user_s": phase.user_s,
        "sys_s": phase.sys_s,
        "requests": reads if job.reads else writes,
        "syscw": writes,
        "syscr": reads,
        "wchar": sum(phase.written_bytes),
        "rchar": sum(phase.read_bytes),
        "stages": phase.busiest,
        "useful_bytes": job.plan.nbytes * job.times if moved else math.nan,
    }


def here(found: Callable[[], Found] = find) -> Iterator[dict[str, object]]:
    """Give one row a library: whether it writes in parallel here, and why not."""
    seen = found()
    clean = scrubber(root())  # a compiler or a loader may name a path
    for library in LIBRARIES:
        note = clean(seen.missing.get(library, ""))
        yield {"case": library, "library": library, "note": note}
    yield {"case": "install", "note": seen.what_to_install()}


def present(seen: pd.DataFrame) -> list[str]:
    """Return the libraries that were here when it was measured.

    Examples
    --------
    >>> present(frame_of([{"case": "hdf5", "note": "no mpicc"}, {"case": "mpiio"}]))
    ['mpiio']
    """
    return [name for name in LIBRARIES if ((seen["case"] == name) & (seen["note"] == "")).any()]


def cases(tasks: Sequence[Task]) -> list[Case]:
    """Return tasks as cases; the first is the A/A pair.

    Records have the task's name; a case's own also says what else sets it apart.
    """
    programs = find().programs
    return [
        Case(
            f"{task.case}, {in_words(task.job.plan.ranks)}, {1e3 * task.job.latency_s:g} ms",
            Sample(task.job, programs[task.job.library]),
            check=Kept(task.job),
            columns=task.columns,
            prepare=Remove(task.job.path),
            cleanup=Remove(task.job.path),
            aa=number == 0,
            most_blocks=task.most_blocks if number else 0,
        )
        for number, task in enumerate(_apart([t for t in tasks if t.job.library in programs]))
    ]


def observe(tasks: Sequence[Task]) -> Iterator[tuple[Task, Report]]:
    """Run jobs that are only counted, two at a time, and check each file."""
    programs = find().programs
    wanted = [task for task in _apart(tasks) if task.job.library in programs]

    def one(task: Task) -> Report:
        report = run(task.job, programs[task.job.library])
        if not task.job.reads:
            if not holds(task.job.plan, task.job.path, task.job.library):
                raise ValueError(
                    f"{task.case}, {in_words(task.job.plan.ranks)}: the file differs from what was "
                    "to be written. A folder that machines share may lag behind: run it again, "
                    "and with another --workdir if the file differs still"
                )
            task.job.path.unlink()
        return report

    with ThreadPoolExecutor(2) as pool:
        yield from zip(wanted, pool.map(one, wanted), strict=True)


def totals(done: Sequence[tuple[Task, Report]]) -> Iterator[dict[str, object]]:
    """Give one row a job: its requests from the file's creation to its end."""
    for task, report in done:
        yield {
            "phase": "write",
            **task.columns,
            "requests": report.writes,
            "syscw": report.writes,
            "syscr": report.reads,
            "stages": report["write"].busiest,
            "wchar": sum(sum(phase.written_bytes) for phase in report.phases),
            "rchar": sum(sum(phase.read_bytes) for phase in report.phases),
            "useful_bytes": task.job.plan.nbytes,
            "library_version": f"{report.library}, {report.mpi}",
        }


def sizes(done: Sequence[tuple[Task, Report]]) -> Iterator[dict[str, object]]:
    """Give the requests of each job by phase and power of two: that size, up to twice of it.

    Those that write, and of a job that reads those that read.
    """
    for task, report in done:
        for phase in report.phases:
            found = phase.read_sizes if task.job.reads else phase.write_sizes
            for size, count in found.items():
                yield {**task.columns, "phase": phase.name, "chunk_bytes": size, "requests": count}


def timed(
    session: Session,
    seen: pd.DataFrame,
    experiment: str,
    tasks: Sequence[Task],
    *,
    blocks: str = "blocks",
    timeout_s: float = 600.0,
) -> pd.DataFrame:
    """Measure tasks, or return their records; an empty table where nothing can write here.

    Parameters
    ----------
    session : Session
    seen : pandas.DataFrame
        From `here`.
    experiment : str
    tasks : sequence of Task
    blocks : str
        The setting that gives the number of blocks.
    timeout_s : float
    """
    if not present(seen) or not tasks:
        return frame_of([])
    built = [] if session.drawing else cases(tasks)
    needed = max((2 * task.job.plan.nbytes for task in tasks), default=0)
    return session.measure(
        experiment,
        built,
        modules=MODULES,
        scratch_bytes=needed,
        blocks=blocks,
        timeout_s=max([timeout_s, *(2 * task.job.timeout_s for task in tasks)]),
    )


def counted(
    session: Session,
    seen: pd.DataFrame,
    experiment: str,
    rows: Callable[[], Any],
    *,
    needs: str = "",
) -> pd.DataFrame:
    """Observe, or return what was observed; an empty table where what it needs is not here.

    Parameters
    ----------
    session : Session
    seen : pandas.DataFrame
        From `here`.
    experiment : str
    rows : callable
        Gives the rows.
    needs : str
        The library without which there are none; any will do by default.
    """
    found = present(seen)
    if not found or (needs and needs not in found):
        return frame_of([])
    return session.observe(experiment, rows)


def _apart(tasks: Sequence[Task]) -> list[Task]:
    """Give each task that writes a file of its own."""
    return [
        task
        if task.job.reads
        else replace(task, job=replace(task.job, path=_numbered(task.job.path, number)))
        for number, task in enumerate(tasks)
    ]


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}-{number}{path.suffix}")
