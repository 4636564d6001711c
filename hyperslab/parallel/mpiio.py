"""The ranks' program for MPI-IO itself, through mpi4py; datasets lie one after the other."""

import ctypes
import json
import os
import pickle
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .job import JOB, RanksJob
from .plan import Part, SharedArray
from .ranks import WRONG_JOB

_COUNTS = 6
_ETYPES = {"f8": "DOUBLE", "f4": "FLOAT", "i4": "INT", "i1": "SIGNED_CHAR"}


def main(words: list[str]) -> None:
    from mpi4py import MPI, __version__

    world = MPI.COMM_WORLD
    options = dict(word.split("=", 1) for word in words)
    folder = Path(options["report"])
    if world.size != int(options["ranks"]):
        message = f"hyperslab: a job of {world.size} where ranks={options['ranks']} were asked for"
        print(message, file=sys.stderr, flush=True)
        world.Abort(WRONG_JOB)
    phases = Phases(MPI)
    try:
        _perform(MPI, pickle.loads((folder / JOB).read_bytes()), phases)
    except Exception as error:
        number = phases.counts()[5]
        why = os.strerror(number) if number else str(error).splitlines()[0]
        time.sleep(0 if number else 1)  # so that the rank speaks first whose own request failed
        message = f"hyperslab: rank {world.rank}: the file: {why}\n"
        (folder / f"failed-{world.rank}").write_text(message)
        world.Abort(1)
        sys.exit(1)  # where the launcher takes its time
    report = {
        "rank": world.rank,
        "ranks": world.size,
        "library": f"mpi4py {__version__}",
        "mpi": " ".join(MPI.Get_library_version().split("\n")[0].split()),
        "counted": phases.count is not None,
        "phases": phases.rows,
    }
    (folder / f"rank-{world.rank}.json").write_text(json.dumps(report))


class Phases:
    """What each phase of this rank cost; they begin and end together on all ranks."""

    def __init__(self, mpi: Any) -> None:
        self._mpi = mpi
        self.rows: list[dict[str, object]] = []
        # None where the library that counts is not preloaded.
        self.count = getattr(ctypes.CDLL(None), "hyperslab_requests", None)

    def counts(self) -> list[int]:
        into = (ctypes.c_longlong * _COUNTS)()
        if self.count is not None:
            self.count(into)
        return list(into)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        barrier, clock = self._mpi.COMM_WORLD.Barrier, self._mpi.Wtime
        barrier()
        before, used, began = self.counts(), resource.getrusage(resource.RUSAGE_SELF), clock()
        yield
        barrier()
        wall, after = clock() - began, resource.getrusage(resource.RUSAGE_SELF)
        self.rows.append(
            {
                "phase": name,
                "wall_s": wall,
                "user_s": after.ru_utime - used.ru_utime,
                "sys_s": after.ru_stime - used.ru_stime,
                "counts": [b - a for a, b in zip(before, self.counts(), strict=True)],
            }
        )


def _perform(mpi: Any, job: RanksJob, phases: Phases) -> None:
    plan, world = job.plan, mpi.COMM_WORLD
    hints = mpi.Info.Create()
    for name, value in job.hints.items():
        hints.Set(name, value)
    parts = [dataset.parts[world.rank] for dataset in plan.datasets]
    values: list[Any] = [plan.values(number, part) for number, part in enumerate(parts)]
    with phases("create"):
        path = str(job.path.absolute())
        file = mpi.File.Open(world, path, mpi.MODE_RDWR | mpi.MODE_CREATE, hints)
        file.Set_size(0)
    with phases("write"):
        offset = 0
        for dataset, part, own in zip(plan.datasets, parts, values, strict=True):
            if job.mode == "rowwise":  # as HDF5 did in 2006 when it wrote independently
                file.Set_view(0, mpi.BYTE, mpi.BYTE, "native", hints)
                for at, run in runs(dataset, part, own):
                    file.Write_at(offset + at, run)
            else:
                etype = getattr(mpi, _ETYPES[dataset.dtype])
                view = etype.Create_subarray(dataset.shape, part.count, part.start).Commit()
                file.Set_view(offset, etype, view, "native", hints)
                (file.Write_all if job.mode == "collective" else file.Write)(own)
                view.Free()
            offset += int(np.prod(dataset.shape)) * own.dtype.itemsize
    with phases("close"):
        file.Close()


def runs(dataset: SharedArray, part: Part, values: Any) -> Iterator[tuple[int, Any]]:
    """Give each contiguous run of a part: its place within the dataset in bytes, and its values."""
    axis = len(dataset.shape)  # from here on the part is as wide as the dataset
    while axis and part.count[axis - 1] == dataset.shape[axis - 1]:
        axis -= 1
    outer = part.count[: max(axis - 1, 0)]
    for index in np.ndindex(*outer):
        position = 0
        for dim, size in enumerate(dataset.shape):
            inside = index[dim] if dim < len(outer) else 0
            position = position * size + part.start[dim] + inside
        yield position * values.dtype.itemsize, np.ascontiguousarray(values[index])


if __name__ == "__main__":
    main(sys.argv[1:])
