"""Samples of a bench through MPI: ranks write a variable together, and read it again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from hyperslab.io.creation import blocks
from hyperslab.io.layout import NETCDF4, Layout
from hyperslab.io.source import Source, SourceVariable
from hyperslab.io.writing import sync_files
from hyperslab.measure.case import Stopwatch
from hyperslab.parallel.cases import cost
from hyperslab.parallel.found import Program, find
from hyperslab.parallel.job import RanksJob, run
from hyperslab.parallel.mpi_errors import AbsentError, ParallelError
from hyperslab.parallel.plan import Part, SharedArray, WritePlan
from hyperslab.parallel.report import Report

from ..process_memory import evicted
from ..report.differences import WrongValuesError
from ..specs.target import COPY, Target

_MOST_DIMS = 4
_TIMEOUT_S = 3600.0
_NOT_WITH_RANKS = ("patterns", "quantize", "cache")


def writable(
    arguments: argparse.Namespace,
    targets: Sequence[Target],
    variables: Sequence[SourceVariable],
    *,
    explicit: bool,
) -> list[Target]:
    """Return the layouts that ranks can write; one that was asked for is refused, not left out."""
    if arguments.ranks < 1:
        raise ValueError(f"--ranks {arguments.ranks}: give at least 1")
    if given := [name for name in _NOT_WITH_RANKS if getattr(arguments, name)]:
        raise ValueError(f"--ranks with --{given[0]}: ranks write and read the whole variable as "
                         "it is, and compare it: leave one of them out")  # fmt: skip
    try:
        find()["hdf5"]
    except AbsentError as error:
        raise ValueError(f"--ranks: {error}") from error
    variable = variables[0]
    if len(variables) > 1:
        raise ValueError("--ranks writes one variable: name one with --variables")
    if not 1 <= len(variable.shape) <= _MOST_DIMS:
        raise ValueError(
            f"--ranks: {variable.name} has {len(variable.shape)} dimensions ({variable.shown_dims})"
            f": name a variable of 1 to {_MOST_DIMS} with --variables"
        )
    accepted, refused = [], []
    for target in targets:
        layout = target.layouts(variables)[variable.name]
        if not (fault := _fault(layout, arguments.independent)):
            accepted.append(target)
        elif not explicit or target.name != COPY:
            refused.append(f"{target.name}: {fault}")
    if refused and (explicit or not accepted):
        raise ValueError(f"--ranks: {refused[0]}: give others")
    return accepted


def _fault(layout: Layout, independent: bool) -> str:
    if layout.format not in (*NETCDF4, "hdf5"):
        return f"ranks write netcdf4 and hdf5, not {layout.format}"
    if layout.codec not in (None, "deflate"):
        return f"ranks write uncompressed or with deflate, not {layout.codec}"
    if layout.byteorder == "big" or layout.fletcher32:
        return "ranks write the machine's byte order, and no checksums"
    if independent and layout.codec:
        return "HDF5 compresses in collective calls only, and these are --independent"
    return ""


@dataclass(frozen=True)
class RanksTrial:
    """Write a variable by several ranks, and read it warm and then cold, in phases of `Trial`."""

    job: RanksJob  # the write; its path is that of the copy
    program: Program  # what runs it

    def __call__(self, watch: Stopwatch) -> None:
        def note(report: Report, phase: str, name: str, **columns: object) -> None:
            with watch(name, **columns):
                pass
            watch.note(**cost(report[phase], self.job))

        path = self.job.path
        written = run(self.job, self.program)
        note(written, "create", "meta_write")
        note(written, "write", "data_write")
        with watch("sync"):
            sync_files(path)
        note(written, "close", "close")
        watch.note(file_bytes=path.stat().st_size)
        read = self._read()
        note(read, "open", "meta_reread", cache_state="warm")
        note(read, "read", "data_reread", cache_state="warm")
        note(read, "read", "pattern:whole", cache_state="warm", pattern="whole")
        if evicted(path):
            note(self._read(), "read", "pattern:whole", cache_state="cold", pattern="whole")

    def _read(self) -> Report:
        try:
            return run(replace(self.job, reads=True, read_only=True), self.program)
        except ParallelError as error:
            if "differs" in str(error):
                raise WrongValuesError(str(error)) from error
            raise


def trial(variable: SourceVariable, layout: Layout, ranks: int, *, independent: bool) -> RanksTrial:
    """Return the sample of a layout, but for the paths of the copy and of the values."""
    shape, length = variable.shape, variable.shape[0]
    if ranks > length:
        raise ValueError(f"--ranks {ranks}: {variable.name} has {length} along {variable.dims[0]}, "
                         f"which ranks share: give at most {length}")  # fmt: skip
    # Ranks share the slowest dimension, in whole chunks where there are enough.
    unit = layout.chunks[0] if layout.chunks and -(-length // layout.chunks[0]) >= ranks else 1
    ends = [min(-(-length // unit) * rank // ranks * unit, length) for rank in range(ranks + 1)]
    rest = shape[1:]
    parts = tuple(Part((a, *(0 for _ in rest)), (b - a, *rest)) for a, b in pairwise(ends))
    dtype = variable.dtype.replace("u", "i")  # what is stored are bytes: a sign changes none
    job = RanksJob(
        "hdf5",
        WritePlan((SharedArray("data", dtype, shape, parts, layout.chunks or ()),)),
        Path(),
        "independent" if independent else "collective",
        timeout_s=_TIMEOUT_S,
        deflate=layout.effective_level or 0,
        shuffle=layout.shuffle,
    )
    return RanksTrial(job, find()["hdf5"])


def put_values(source: Source, variable: SourceVariable, path: Path, limit_bytes: int) -> None:
    """Write the values of a variable into a plain file, which ranks take them from."""
    with path.open("wb") as file:
        file.truncate(variable.nbytes)
    for block in blocks(variable.shape, variable.chunks, variable.itemsize, limit_bytes):
        # Mapped anew: what is mapped and written stays in memory until it is not mapped any more.
        values = np.memmap(path, variable.dtype, "r+", shape=variable.shape)
        values[block] = source.read(variable.name, block)
        del values
