"""The ranks' program for MPI-IO itself, through mpi4py.

Started as ``mpiexec -n N python -m hyperslab.parallel.mpiio ranks=N plan=… file=… report=…``, with
the options of the C programs; the datasets lie in the file one after the other. The mode "rowwise"
makes a call for each contiguous run, as HDF5 did in 2006 when it wrote independently.
"""

import ctypes
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .plan import TYPES, Part, SharedArray, WritePlan
from .ranks import WRONG_JOB

_COUNTS = 102
_TYPES = {letter: dtype for dtype, letter in TYPES.items()}


def main(words: list[str]) -> None:
    """Do what the options say, as one rank of a job."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    options = dict(word.split("=", 1) for word in words)
    if world.size != int(options["ranks"]):
        told = f"hyperslab: a job of {world.size} where ranks={options['ranks']} were asked for\n"
        sys.stderr.write(told)
        sys.stderr.flush()
        world.Abort(WRONG_JOB)
    phases = Phases(world)
    try:
        _perform(MPI, world, options, phases)
    except Exception as error:
        number = phases.counts()[5]
        why = os.strerror(number) if number else str(error).splitlines()[0]
        time.sleep(0 if number else 1)  # so that the rank speaks first whose own request failed
        told = f"hyperslab: rank {world.rank}: the file: {why}\n"
        Path(options["report"], f"failed-{world.rank}").write_text(told)
        sys.stderr.write(told)
        sys.stderr.flush()
        world.Abort(1)
        sys.exit(1)  # where the launcher takes its time
    said = {
        "rank": world.rank,
        "ranks": world.size,
        "library": f"mpi4py {__import__('mpi4py').__version__}",
        "mpi": " ".join(MPI.Get_library_version().split("\n")[0].split()),
        "counted": phases.count is not None,
        "phases": phases.rows(),
    }
    Path(options["report"], f"rank-{world.rank}.json").write_text(json.dumps(said))


class Phases:
    """What each phase of this rank cost; they begin and end together on all ranks."""

    def __init__(self, world: Any) -> None:
        self._world, self._rows = world, list[dict[str, object]]()
        # None where the library that counts is not preloaded.
        self.count = getattr(ctypes.CDLL(None), "hyperslab_requests", None)

    def counts(self) -> list[int]:
        """Return what has been counted so far."""
        into = (ctypes.c_longlong * _COUNTS)()
        if self.count is not None:
            self.count(into, _COUNTS)
        return list(into)

    def rows(self) -> list[dict[str, object]]:
        """Return what is reported."""
        return self._rows

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time the body and count its requests."""
        from mpi4py import MPI

        self._world.Barrier()
        before, used, began = self.counts(), resource.getrusage(resource.RUSAGE_SELF), MPI.Wtime()
        yield
        self._world.Barrier()
        wall, after = MPI.Wtime() - began, resource.getrusage(resource.RUSAGE_SELF)
        counts = [b - a for a, b in zip(before, self.counts(), strict=True)]
        self._rows.append(
            {
                "phase": name,
                "wall_s": wall,
                "user_s": after.ru_utime - used.ru_utime,
                "sys_s": after.ru_stime - used.ru_stime,
                "counts": counts[:6],
                "write_sizes": counts[6:54],
                "read_sizes": counts[54:],
            }
        )


def read_plan(path: Path, ranks: int) -> WritePlan:
    """Read a plan as the C programs do."""
    lines = iter(path.read_text().splitlines())
    return WritePlan(tuple(_dataset(line.split(), lines, ranks) for line in lines))


def _dataset(head: list[str], lines: Iterator[str], ranks: int) -> SharedArray:
    name, kind, *rest = head
    guard, dims, *sizes = map(int, rest)
    parts = []
    for _ in range(ranks):
        own = tuple(map(int, next(lines).split()))
        parts.append(Part(own[:dims], own[dims:]))
    chunks = tuple(sizes[dims:]) if any(sizes[dims:]) else ()
    return SharedArray(name, _TYPES[kind], tuple(sizes[:dims]), tuple(parts), chunks, guard)


def _perform(mpi: Any, world: Any, options: dict[str, str], phases: Phases) -> None:
    plan = read_plan(Path(options["plan"]), world.size)
    hints = mpi.Info.Create()
    for name, value in options.items():
        if name.startswith("hint."):
            hints.Set(name.removeprefix("hint."), value)
    reads, mode = options.get("do") == "read", options.get("mode", "independent")
    parts = [dataset.parts[world.rank] for dataset in plan.datasets]
    values: list[Any] = [plan.values(number, part) for number, part in enumerate(parts)]
    if reads:
        values = [np.zeros_like(own) for own in values]
    access = mpi.MODE_RDWR | (0 if reads else mpi.MODE_CREATE)
    if reads and options.get("access") == "r":
        access = mpi.MODE_RDONLY
    with phases("open" if reads else "create"):
        file = mpi.File.Open(world, options["file"], access, hints)
        if not reads:
            file.Set_size(0)
    with phases("read" if reads else "write"):
        for _ in range(int(options.get("times", "1"))):
            offset = 0
            for dataset, part, own in zip(plan.datasets, parts, values, strict=True):
                _transfer(mpi, file, hints, dataset, part, own, offset, reads, mode)
                offset += int(np.prod(dataset.shape)) * own.dtype.itemsize
    with phases("close"):
        file.Close()
    for number, (part, own) in enumerate(zip(parts, values, strict=True)):
        if reads and not np.array_equal(own, plan.values(number, part)):
            raise ValueError("what was read differs from what was written")


def _transfer(
    mpi: Any,
    file: Any,
    hints: Any,
    dataset: SharedArray,
    part: Part,
    values: Any,
    offset: int,
    reads: bool,
    mode: str,
) -> None:
    if mode == "rowwise":
        file.Set_view(0, mpi.BYTE, mpi.BYTE, "native", hints)
        for at, run in runs(dataset, part, values):
            (file.Read_at if reads else file.Write_at)(offset + at, run)
        return
    etype = {"f8": mpi.DOUBLE, "f4": mpi.FLOAT, "i4": mpi.INT, "i1": mpi.SIGNED_CHAR}[dataset.dtype]
    view = etype.Create_subarray(dataset.shape, part.count, part.start).Commit()
    file.Set_view(offset, etype, view, "native", hints)
    verb = "Read" if reads else "Write"
    getattr(file, verb + ("_all" if mode == "collective" else ""))(values)
    view.Free()


def runs(dataset: SharedArray, part: Part, values: Any) -> Iterator[tuple[int, Any]]:
    """Give each contiguous run of a part: its place within the dataset in bytes, and its values.

    Examples
    --------
    >>> from hyperslab.parallel import pattern
    >>> plan = pattern("interleaved", rows=3, columns=2, ranks=4)
    >>> part = plan.datasets[0].parts[1]
    >>> [at for at, _ in runs(plan.datasets[0], part, plan.values(0, part))]
    [16, 80, 144]
    """
    axis = len(dataset.shape)  # from here on the part is as wide as the dataset
    while axis and part.count[axis - 1] == dataset.shape[axis - 1]:
        axis -= 1
    outer = part.count[: max(axis - 1, 0)]
    for index in np.ndindex(*outer):
        place = 0
        for dim, size in enumerate(dataset.shape):
            inside = index[dim] if dim < len(outer) else 0
            place = place * size + part.start[dim] + inside
        yield place * values.dtype.itemsize, np.ascontiguousarray(values[index])


if __name__ == "__main__":
    main(sys.argv[1:])
