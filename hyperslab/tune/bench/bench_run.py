"""Try a file in several layouts: how large, how quick to write, how quick to read."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from hyperslab.io.by_h5py import HDF5Source
from hyperslab.io.layout import CLASSIC, Layout
from hyperslab.io.opening import local_path, open_source
from hyperslab.io.source import Source, SourceVariable
from hyperslab.io.writing import remove
from hyperslab.measure import machine
from hyperslab.measure.case import Case
from hyperslab.measure.harness import RETAKES, Plan, measure
from hyperslab.measure.journal import Journal
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import DISCARDED, frame_of

from ..copy_plan import BENCH_BYTES, CopyPlan, MemoryLimitError, plan_copy
from ..partial import scratch_folder
from ..process_memory import evicted, mib
from ..report.differences import WrongValuesError
from ..report.text import notes
from ..specs.axes import Reads
from ..specs.target import Target
from .mpi_ranks import RanksTrial, put_values
from .mpi_ranks import trial as ranks_trial
from .trial import Trial

EXPERIMENT = "bench"
VALUES = "values.bin"  # the file that ranks take the values from
SAMPLE_BYTES = 88 * 2**20  # what the libraries take in a sample's process, about
TIMEOUT_S = 86_400.0
_MODULES = (
    "hyperslab.tune.bench.trial",
    "hyperslab.io.by_netcdf4", "hyperslab.io.by_h5py",
)  # fmt: skip
_ZARR_MODULES = ("hyperslab.io.by_zarr",)


def bench(
    address: str | Path,
    targets: Sequence[Target],
    *,
    variables: Sequence[str] | None = None,
    reads: Reads | None = None,
    repeats: int = 7,
    memory_bytes: int = BENCH_BYTES,
    workdir: Path,
    seed: int = 0,
    ranks: int = 0,
    independent: bool = False,
    say: Callable[[str], None] | None = None,
) -> pd.DataFrame:
    """Copy a file into each layout, read the copies, and return the records of it."""
    path = local_path(str(address))
    with open_source(address) as source:
        chosen = source.choose(variables)
        settled = {
            target.name: prepare_ranks(chosen, target, ranks, independent)
            if ranks
            else prepare(source, chosen, target, reads or {}, memory_bytes)
            for target in targets
        }
        rows = _described(source, chosen, settled)
        threads, before = source.threads, _stamp(path) if path else None
    if say:
        for note in notes(pd.DataFrame(rows)):
            say(note)
    with scratch_folder(workdir, EXPERIMENT) as scratch:
        if ranks:
            with open_source(address) as source:
                put_values(source, chosen[0], scratch / VALUES, memory_bytes // 4)
        cold = path is not None and not ranks and evicted(path)
        cases = [
            _case(settled[target.name], target, scratch, path if cold else None, threads, not n)
            for n, target in enumerate(targets)
        ]
        zarr = _ZARR_MODULES * any(not case.pinned for case in cases)
        plan = Plan(repeats, seed, timeout_s=TIMEOUT_S, retakes=RETAKES)
        journal = Journal(scratch / "journal.jsonl", {}, "")
        needed = max(prepared.disk_bytes for prepared in settled.values())
        with Processes(_MODULES + zarr) as running:
            measured = measure(
                EXPERIMENT, cases, plan, journal, running, scratch=scratch, scratch_bytes=needed
            )
    counted = [row for row in measured if row.get("aa") != DISCARDED]
    if all(row["status"] != "ok" for row in counted):
        raise RuntimeError(_reason(str(counted[0]["status"])))
    rows += [*measured, *_spoiled(counted, memory_bytes)]
    if path and _stamp(path) != before:
        rows.append(_note("", "the file changed while it was measured: do not trust the numbers."))
    if path and not ranks and not cold:
        rows.append(_note("", "the file could not be evicted from memory: its reads are not cold."))
    run_id = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{uuid.uuid4().hex[:6]}"
    return frame_of({**row, "run_id": run_id} for row in rows)


@dataclass(frozen=True)
class Prepared:
    """What is known of one target before it is measured."""

    trial: Trial | RanksTrial  # the sample, but for the path of the copy
    layout: Layout  # of the largest variable
    notes: tuple[str, ...]
    disk_bytes: int  # the room on the disk that is asked for


def prepare(
    source: Source,
    chosen: Sequence[SourceVariable],
    target: Target,
    reads: Reads,
    memory_bytes: int,
) -> Prepared:
    """Settle how variables of a source are copied into one layout, in one process."""
    fitted = target.fit(chosen, source.attrs)
    try:
        plan = plan_copy(
            fitted,
            source_format=source.format,
            cache_bytes=target.cache_bytes,
            memory_bytes=memory_bytes,
            taken_bytes=SAMPLE_BYTES,
        )
    except MemoryLimitError as error:
        raise MemoryLimitError(f"{target.name}: {error}") from error
    trial = Trial(
        address=source.address,
        format=source.format,
        library="h5py" if isinstance(source, HDF5Source) else "",
        path=Path(),
        fitted=fitted,
        reads=reads,
        cache_bytes=target.cache_bytes,
        memory_bytes=memory_bytes,
    )
    largest = max(chosen, key=lambda variable: variable.nbytes)
    notes = (*fitted.notes, *fitted.lost, *_plan_notes(plan, target))
    return Prepared(trial, fitted.layouts[largest.name], notes, fitted.likely_bytes + 2**20)


def prepare_ranks(
    chosen: Sequence[SourceVariable], target: Target, ranks: int, independent: bool
) -> Prepared:
    """Settle how several ranks write a variable in one layout."""
    (variable,) = chosen
    fitted = target.fit(chosen, {})
    layout = fitted.layouts[variable.name]
    trial = ranks_trial(variable, layout, ranks, independent=independent)
    return Prepared(trial, layout, (), variable.nbytes + fitted.most_bytes + 2**20)


def _plan_notes(plan: CopyPlan, target: Target) -> Iterator[str]:
    for name, route in plan.each.items():
        if route.reads > 1.005:
            yield (
                f"of {name} a piece of whole new chunks does not hold whole old ones, so each of "
                f"these is read {route.reads:.1f} times; with more memory it would be less."
            )
    if plan.cache_bytes is not None and target.cache_bytes is None:
        cut = f"the library's chunk cache is cut to {mib(plan.cache_bytes)}"
        yield f"{cut} to keep within the memory allowed."


def _case(
    prepared: Prepared,
    target: Target,
    scratch: Path,
    source: Path | None,  # that is evicted before each sample
    threads: bool,
    first: bool,
) -> Case:
    layout, trial, cache = prepared.layout, prepared.trial, target.cache_bytes
    path = scratch / f"{uuid.uuid4().hex[:8]}{layout.suffix}"
    shared: dict[str, object] = {}  # by ranks
    run: Trial | RanksTrial
    if isinstance(trial, RanksTrial):
        run = replace(trial, job=replace(trial.job, path=path, data=scratch / VALUES))
        shared = {"ranks": run.job.plan.ranks, "mode": run.job.mode}
        library = "HDF5 with MPI"
    else:
        run = replace(trial, path=path, cold=source is not None)
        library = {"hdf5": "h5py", "zarr2": "zarr", "zarr3": "zarr"}.get(layout.format, "netCDF4")
    return Case(
        target.name,
        run=run,
        columns={
            **shared,
            **layout.record(),
            "library": library,
            "library_version": machine.versions().get(library, ""),
            "byteorder": "big" if layout.format in CLASSIC else layout.byteorder,
            "quantize": ":".join(map(str, layout.quantize or ())),
            "cache_bytes": float("nan") if cache is None else cache,
        },
        files=[source] if source else (),
        cache_state="cold" if source else "",
        prepare=partial(remove, path),  # of a sample that was killed
        cleanup=partial(remove, path),
        aa=first,  # measured under two labels, to show what noise does
        pinned=not (threads or library in ("zarr", "HDF5 with MPI")),
    )


def _described(
    source: Source, chosen: Sequence[SourceVariable], settled: Mapping[str, Prepared]
) -> list[dict[str, Any]]:
    """Return a row for the source, what of it is left out, and the notes of each target."""
    about = {
        "experiment": "source",
        "phase": "stat",
        "format": source.format,
        "case": "",
        "file_bytes": source.stat_bytes if source.stat_bytes >= 0 else float("nan"),
        "useful_bytes": sum(variable.nbytes for variable in chosen),
        "status": "ok",
    }
    lost = [f"{v.name} is left out: it {v.reason}." for v in source.variables.values() if v.reason]
    remarks = [_note(name, text) for name, prepared in settled.items() for text in prepared.notes]
    return [about, *(_note("", text) for text in lost), *remarks]


def _spoiled(rows: Sequence[Mapping[str, Any]], memory_bytes: int) -> Iterator[dict[str, object]]:
    """Yield notes of targets that lost samples, but for wrong values, or took too much memory."""
    lost = {(row["case"], str(row["status"])) for row in rows if row["status"] != "ok"}
    for case, status in sorted(lost):
        if not status.startswith(WrongValuesError.__name__):
            yield _note(case, f"samples were lost: {_reason(status)}")
    for case in sorted({row["case"] for row in rows}):
        peak = max(row.get("peak_bytes") or 0 for row in rows if row["case"] == case)
        if peak > memory_bytes:
            allowed = f"{mib(memory_bytes)} were allowed"
            yield _note(case, f"its process took up to {mib(peak)}, and {allowed}.")


def _reason(status: str) -> str:
    """Return what a sample ended with, without the name of the error."""
    return re.sub(r"^[A-Za-z]+: (\[Errno \d+\] )?", "", status)


def _note(case: str, text: str) -> dict[str, object]:
    """Return the row of a sentence on a target, or with "" on the run."""
    return {"experiment": "note", "case": case, "phase": "note", "status": text}


def _stamp(path: Path) -> tuple[int, int]:
    """Return what changes when a file does; of a folder, its own."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns
