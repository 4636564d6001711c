"""Try a file in several layouts: how large, how quick to write, how quick to read."""

from __future__ import annotations

import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from hyperslab.measure import machine
from hyperslab.measure.case import Case
from hyperslab.measure.cold import ColdCacheError, evict
from hyperslab.measure.harness import Plan, measure
from hyperslab.measure.journal import Journal
from hyperslab.measure.records import frame_of
from hyperslab.storage.layout import CLASSIC, Layout

from .copying import check_verify, estimate_bytes
from .fitting import Fitted, fit
from .memory import mib, peak_bytes
from .partial import part_name, remove_leftovers
from .pattern_specs import Pattern
from .room import MemoryLimitError, Rooms, share
from .source import Source, SourceVariable, open_source
from .sources.hdf5 import HDF5Source
from .specs import Target
from .trial import Clean, Trial, start_of

EXPERIMENT, SOURCE, NOTE = "bench", "source", "note"
MAIN = "main process"
MEMORY_BYTES = 256 * 2**20
SAMPLE_BYTES = 88 * 2**20  # what the libraries take in a sample's process, about
TIMEOUT_S = 86_400.0
_MODULES = (
    "hyperslab.advise.trial", "hyperslab.advise.sources.netcdf", "hyperslab.advise.sources.hdf5",
    "hyperslab.storage.writers.netcdf", "hyperslab.storage.writers.hdf5",
)  # fmt: skip
_ZARR_MODULES = ("hyperslab.advise.sources.zarr", "hyperslab.storage.writers.zarr")


def bench(
    address: str | Path,
    targets: Sequence[Target],
    *,
    variables: Sequence[str] | None = None,
    patterns: Sequence[Pattern] = (),
    repeats: int = 7,
    memory_bytes: int = MEMORY_BYTES,
    verify: str = "full",
    workdir: Path,
    seed: int = 0,
    parallel: bool = False,
) -> pd.DataFrame:
    """Copy a file into each layout, read the copies, and return the records of it.

    Each sample is a whole copy in a fresh process: written, flushed to the device, read again,
    every value compared, and read in each pattern, from memory and from the device. Samples come
    in shuffled interleaved blocks; the first target is measured under two labels, to show what
    noise does. The source is opened for reading only.

    Parameters
    ----------
    address
        A netCDF, HDF5 or Zarr file, or a URL of one.
    targets
        The layouts.
    variables
        Names; all that can be copied when not given.
    patterns
        How the copies are read.
    repeats
        Blocks; 7 give usable intervals.
    memory_bytes
        What the process of each sample may take in all, with its libraries. This process copies
        nothing; a note says so when it takes more itself.
    verify
        "full" compares every value, "sample" an eighth, "none" nothing.
    workdir
        Where the copies are made, one at a time.
    seed
        Of the order of the samples.
    parallel
        Whether to use parallel I/O, where MPI is there.

    Returns
    -------
    pandas.DataFrame
        Records: experiment "bench" with a case for each target, "source" with a row for each
        variable, and "note".

    Raises
    ------
    SourceError
        When the source cannot be read, or has no such variable.
    ValueError
        When a layout does not fit a variable, or the memory does not do.
    OSError
        When the disk is full.
    RuntimeError
        When no sample succeeded, or another run is measuring on this machine.

    Source: bm_file, of netCDF-C 4.6.2, Improving Performance with Chunking.
    """
    _check(targets, repeats, verify, parallel)
    address = str(address)
    with open_source(address) as source:
        chosen = source.choose(variables)
        trials = {
            target.name: _trial(source, chosen, target, patterns, memory_bytes, verify, seed)
            for target in targets
        }
        rows = list(_described(source, chosen, trials))
        starts = {name: start_of(source, trial.layout.format) for name, trial in trials.items()}
        local = not _is_remote(source)
        before = _stamp(address) if local else None
    with _scratch(Path(workdir)) as scratch:
        evicted = local and _can_evict(address)
        cases = [
            _case(trials[target.name], target, scratch, starts[target.name], evicted, first=not n)
            for n, target in enumerate(targets)
        ]
        zarr = "spawn" in starts.values()
        plan = Plan(
            blocks=repeats,
            seed=seed,
            timeout_s=TIMEOUT_S,
            modules=_MODULES + _ZARR_MODULES * zarr,
        )
        journal = Journal(scratch / "journal.jsonl", {}, "")
        needed = max(trial.disk_bytes for trial in trials.values())
        measured = measure(EXPERIMENT, cases, plan, journal, scratch=scratch, scratch_bytes=needed)
    rows += measured
    rows += _losses(measured)
    if local and _stamp(address) != before:
        rows.append(_note("", "the file changed while it was measured: do not trust the numbers."))
    if local and not evicted:
        rows.append(_note("", "the file could not be evicted from memory: its reads are not cold."))
    mine = peak_bytes()
    if mine > memory_bytes:
        text = f"the program itself, which copies nothing, took {mib(mine)}: more than was allowed."
        rows.append(_note("", text))
    rows.append({"experiment": SOURCE, "case": MAIN, "phase": "memory", "peak_bytes": mine})
    run_id = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{uuid.uuid4().hex[:6]}"
    return frame_of({**row, "run_id": run_id} for row in rows)


def notes(frame: pd.DataFrame) -> list[str]:
    """Return what is to be said of a bench beside its numbers, a sentence each.

    Examples
    --------
    >>> notes(frame_of([_note("a", "it was so.")]))
    ['a: it was so.']
    """
    rows = frame[frame["experiment"] == NOTE]
    named = zip(rows["case"], rows["status"], strict=True)
    return list(dict.fromkeys(f"{case}: {text}" if case else str(text) for case, text in named))


@dataclass(frozen=True)
class _Prepared:
    """What is known of one target before it is measured."""

    trial: Trial
    layout: Layout
    notes: tuple[str, ...]
    disk_bytes: int


def _check(targets: Sequence[Target], repeats: int, verify: str, parallel: bool) -> None:
    check_verify(verify)
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}: give at least 1, or 7 for usable intervals")
    if not targets:
        raise ValueError("no layouts to try: give at least one")
    names = [target.name for target in targets]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two layouts are called {', '.join(repeated)}: give each its own name")
    if parallel:
        raise ValueError(
            "parallel copies need MPI and libraries built with it, which are not here: leave out "
            "-p and -i"
        )


def _trial(
    source: Source,
    chosen: Sequence[SourceVariable],
    target: Target,
    patterns: Sequence[Pattern],
    memory_bytes: int,
    verify: str,
    seed: int,
) -> _Prepared:
    layouts = target.layouts(chosen)
    try:
        fitted = fit(chosen, layouts, source.attrs)
        rooms = _rooms(chosen, fitted, source, target, memory_bytes)
    except ValueError as error:
        kind = MemoryLimitError if isinstance(error, MemoryLimitError) else ValueError
        raise kind(f"{target.name}: {error}") from error
    reads = {
        pattern.name: {
            name: tuple(selections) for name, selections in pattern.selections(chosen).items()
        }
        for pattern in patterns
    }
    trial = Trial(
        address=source.address,
        format=source.format,
        library="h5py" if isinstance(source, HDF5Source) else "",
        path=Path(),
        items=tuple(
            (variable, defined, fitted.layouts[variable.name])
            for variable, defined in zip(chosen, fitted.variables, strict=True)
        ),
        attrs=fitted.attrs,
        reads={name: read for name, read in reads.items() if read},
        cache_bytes=target.cache_bytes,
        memory_bytes=memory_bytes,
        verify=verify,
        seed=seed,
        owner=os.getpid(),
    )
    largest = max(chosen, key=lambda variable: variable.nbytes)
    return _Prepared(
        trial,
        fitted.layouts[largest.name],
        (*fitted.notes, *_room_notes(rooms)),
        _disk_bytes(chosen, fitted.layouts),
    )


def _rooms(
    chosen: Sequence[SourceVariable],
    fitted: Fitted,
    source: Source,
    target: Target,
    memory_bytes: int,
) -> Rooms:
    return share(
        [(variable, fitted.layouts[variable.name]) for variable in chosen],
        source_format=source.format,
        cache_bytes=target.cache_bytes,
        memory_bytes=memory_bytes,
        taken_bytes=SAMPLE_BYTES,
    )


def _room_notes(rooms: Rooms) -> Iterator[str]:
    for name, room in rooms.each.items():
        if room.slabs.reads > 1.005:
            yield (
                f"of {name} a piece of whole new chunks does not hold whole old ones, so each of "
                f"these is read {room.slabs.reads:.1f} times; {mib(room.enough_bytes)} of memory "
                "would do for once."
            )
    if rooms.reduced and rooms.cache_bytes is not None:
        yield (
            f"the library's chunk cache is cut to {mib(rooms.cache_bytes)} to keep within the "
            "memory allowed."
        )


def _disk_bytes(chosen: Sequence[SourceVariable], layouts: Mapping[str, Layout]) -> int:
    """Return the room on the disk that is asked for; what compression saves is a guess."""
    most = estimate_bytes(chosen, layouts)
    if not all(layouts[variable.name].codec for variable in chosen if variable.shape):
        return most + 2**20
    stored = sum(variable.stored_bytes or variable.nbytes for variable in chosen)
    return min(most, max(stored, most // 8)) + 2**20


def _case(
    prepared: _Prepared, target: Target, scratch: Path, start: str, evicted: bool, *, first: bool
) -> Case:
    path = scratch / f"{uuid.uuid4().hex[:8]}{prepared.layout.suffix}"
    layout = prepared.layout
    cache = target.cache_bytes
    return Case(
        target.name,
        run=replace(prepared.trial, path=path, cold=evicted),
        columns={
            **layout.record(),
            "library": _library(layout.format),
            "library_version": _version(layout.format),
            "byteorder": "big" if layout.format in CLASSIC else layout.byteorder,
            "quantize": ":".join(map(str, layout.quantize or ())),
            "cache_bytes": float("nan") if cache is None else cache,
        },
        files=[prepared.trial.address.removeprefix("file://")] if evicted else (),
        cache_state="cold" if evicted else "",
        cleanup=Clean(path),
        start=start,
        aa=first,
    )


def _library(format: str) -> str:
    if format in ("zarr2", "zarr3"):
        return "zarr"
    return "h5py" if format == "hdf5" else "netCDF4"


def _version(format: str) -> str:
    return machine.versions().get(_library(format), "")


def _described(
    source: Source, chosen: Sequence[SourceVariable], trials: Mapping[str, _Prepared]
) -> Iterator[dict[str, Any]]:
    common = {"experiment": SOURCE, "phase": "stat", "format": source.format}
    yield common | {
        "case": "",
        "file_bytes": source.stat_bytes if source.stat_bytes >= 0 else float("nan"),
        "useful_bytes": sum(variable.nbytes for variable in chosen),
        "status": "ok",
    }
    taken = {variable.name for variable in chosen}
    for variable in source.variables.values():
        yield common | {
            "case": variable.name,
            "chunks": "x".join(map(str, variable.chunks or ())),
            "codec": variable.codec,
            "byteorder": variable.byteorder,
            "file_bytes": variable.stored_bytes,
            "useful_bytes": variable.nbytes,
            "status": "ok" if variable.name in taken else variable.reason or "not chosen",
        }
        if variable.reason:
            yield _note("", f"{variable.name} is left out: it {variable.reason}.")
    for name, prepared in trials.items():
        for text in prepared.notes:
            yield _note(name, text)


def _losses(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, object]]:
    """Say which targets lost samples, and why; raise an error when there is nothing else."""
    lost = {(row["case"], str(row["status"])) for row in rows if row["status"] != "ok"}
    if not any(row["status"] == "ok" for row in rows):
        said = str(rows[0]["status"])
        kind, _, text = said.partition(": ")
        text = re.sub(r"^\[Errno \d+\] ", "", text) or said
        raise (OSError if kind.endswith(("OSError", "InterruptedError")) else RuntimeError)(text)
    for case, status in sorted(lost):
        yield _note(case, f"samples were lost: {re.sub(r'^[A-Za-z]+: ', '', status)}")


def _note(case: str, text: str) -> dict[str, object]:
    return {"experiment": NOTE, "case": case, "phase": "note", "status": text}


def _is_remote(source: Source) -> bool:
    from .sources.remote import is_url

    return is_url(source.address) and not source.address.startswith("file://")


def _stamp(address: str) -> tuple[int, int]:
    """Return what changes when a file does; of a folder, its own."""
    found = Path(address.removeprefix("file://")).expanduser().stat()
    return found.st_size, found.st_mtime_ns


def _can_evict(address: str) -> bool:
    try:
        evict([Path(address.removeprefix("file://")).expanduser()])
    except (ColdCacheError, OSError):
        return False
    return True


@contextmanager
def _scratch(workdir: Path) -> Iterator[Path]:
    """Give a folder for the copies, removed at the end; those of killed runs go too."""
    workdir.mkdir(parents=True, exist_ok=True)
    remove_leftovers(workdir, EXPERIMENT)
    folder = workdir / part_name(EXPERIMENT)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
