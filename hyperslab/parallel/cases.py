"""Jobs of several ranks as the work of cases: timed by turns, or only counted."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from ..io.experiment import Case
from ..measure.case import Stopwatch
from .found import Program, find
from .job import RanksJob, run
from .report import Phase
from .verify import holds

INTERFACES = {"HDF5": "hdf5", "PnetCDF": "pnetcdf", "MPI-IO": "mpiio"}  # as tables call them
_OF_THE_LAUNCHER = ("minflt", "majflt", "read_bytes", "write_bytes")
_LEAST_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class InRanks:
    """What several ranks do with one file: the phases of the slowest, and the requests of all."""

    job: RanksJob
    size: str = ""

    @property
    def columns(self) -> dict[str, object]:
        job = self.job
        return {
            "library": job.library, "ranks": job.plan.ranks, "latency_s": job.latency_s,
            "size": self.size,
        }  # fmt: skip

    def parts(self, cache_state: str) -> dict[str, Any]:
        remove = partial(self.job.path.unlink, missing_ok=True)
        return {
            "run": Sample(self.job, find()[self.job.library]),
            "check": partial(_holds, self.job),
            "columns": self.columns,
            "prepare": remove,
            "cleanup": remove,
        }


@dataclass(frozen=True)
class Sample:
    needs: ClassVar = (__name__, "h5py")
    job: RanksJob
    program: Program

    def __call__(self, watch: Stopwatch) -> None:
        report = run(self.job, self.program)
        for phase in report.phases:
            with watch(phase.name):
                pass
            watch.note(**cost(phase, self.job), **dict.fromkeys(_OF_THE_LAUNCHER, math.nan))
        watch.note(file_bytes=self.job.path.stat().st_size)


def _holds(job: RanksJob, _: object = None) -> bool:
    return holds(job.plan, job.path, job.library)


def cost(phase: Phase, job: RanksJob) -> dict[str, object]:
    """Return the record columns of a phase; `requests` write, and when reading they read."""
    # `stages` are all requests of the rank that makes the most, one after another.
    moved = phase.name in ("write", "read")
    return {
        "wall_s": phase.wall_s,
        "user_s": phase.user_s,
        "sys_s": phase.sys_s,
        "requests": phase.reads if job.reads else phase.writes,
        "syscw": phase.writes,
        "syscr": phase.reads,
        "wchar": phase.written_bytes,
        "rchar": phase.read_bytes,
        "stages": phase.busiest,
        "useful_bytes": job.plan.nbytes * job.times if moved else math.nan,
    }


def here() -> Iterator[dict[str, object]]:
    """Give a row for each library, with why it cannot be used here, and what installs the rest."""
    libraries = find()
    for name, library in INTERFACES.items():
        yield {"interface": name, "library": library, "note": libraries.missing.get(library, "")}
    yield {"interface": "to install", "note": libraries.what_to_install()}


def limits(cases: Sequence[Case]) -> dict[str, float]:
    """Return how long a sample of these cases may take, in seconds, and what room files need."""
    jobs = [case.work.job for case in cases if isinstance(case.work, InRanks)]
    return {
        "timeout_s": max([_LEAST_TIMEOUT_S, *(2 * job.timeout_s for job in jobs)]),
        "scratch_bytes": max([0, *(2 * job.plan.nbytes for job in jobs)]),
    }


def paired(cases: Sequence[Case]) -> list[Case]:
    return [
        replace(case, aa=not number, most_blocks=case.most_blocks if number else 0)
        for number, case in enumerate(cases)
    ]


def counted(cases: Sequence[Case]) -> Iterator[dict[str, object]]:
    """Run cases that are only counted, and give their rows: one a write, one a phase of a read."""
    # Writes two at a time, each into a file of its own; reads share theirs.
    alone = any(isinstance(case.work, InRanks) and case.work.job.reads for case in cases)
    with ThreadPoolExecutor(1 if alone else 2) as pool:
        for rows in pool.map(_counted, cases):
            yield from rows


def _counted(case: Case) -> list[dict[str, object]]:
    assert isinstance(case.work, InRanks)
    job, columns = case.work.job, {**case.labels, **case.work.columns}
    report = run(job)
    if job.reads:
        # Counted, and not timed by turns: its time means nothing.
        return [
            {**columns, "phase": phase.name, **cost(phase, job), "wall_s": math.nan}
            for phase in report.phases
        ]
    if not _holds(job):
        raise ValueError(
            f"{', '.join(case.labels.values())}: the file differs from what was to be written. A "
            "folder that machines share may lag behind: run it again, and with another --workdir "
            "if the file differs still"
        )
    job.path.unlink()
    writes = report.total("writes")
    return [
        {
            **columns,
            "phase": "write",
            "requests": writes,
            "syscw": writes,
            "syscr": report.total("reads"),
            "stages": report["write"].busiest,
            "wchar": report.total("written_bytes"),
            "rchar": report.total("read_bytes"),
            "useful_bytes": job.plan.nbytes,
            "library_version": f"{report.library}, {report.mpi}",
        }
    ]
