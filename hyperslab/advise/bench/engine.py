"""Try a file in several layouts: how large, how quick to write, how quick to read."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd

from hyperslab.measure import machine
from hyperslab.measure.case import Case
from hyperslab.measure.cold import ColdCacheError, evict
from hyperslab.measure.harness import RETAKES, Plan, measure
from hyperslab.measure.journal import Journal
from hyperslab.measure.records import frame_of
from hyperslab.storage.layout import CLASSIC
from hyperslab.tune.partial import part_name, remove_leftovers

from ..memory import mib, peak_bytes
from ..source import Source, open_source
from ..specs.patterns import Pattern
from ..specs.target import Target
from .prepared import Prepared, prepare, threaded
from .rows import SOURCE, described, losses, note, notes, overruns
from .trial import Clean

__all__ = ["bench", "notes"]

EXPERIMENT = "bench"
MAIN = "main process"
MEMORY_BYTES = 256 * 2**20
TIMEOUT_S = 86_400.0
_MODULES = (
    "hyperslab.advise.bench.trial",
    "hyperslab.advise.sources.netcdf", "hyperslab.advise.sources.hdf5",
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
    verify: bool = True,
    workdir: Path,
    seed: int = 0,
    parallel: bool = False,
    say: Callable[[str], None] | None = None,
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
        Whether every value is compared; all are read in any case.
    workdir
        Where the copies are made, one at a time.
    seed
        Of the order of the samples.
    parallel
        Refused: this version copies in one process.
    say
        Is told each note that is known before anything is measured.

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
    _check(targets, repeats, parallel)
    address = str(address)
    with open_source(address) as source:
        chosen = source.choose(variables)
        trials = {
            target.name: prepare(
                source,
                chosen,
                target,
                patterns,
                memory_bytes=memory_bytes,
                verify=verify,
            )
            for target in targets
        }
        rows = list(described(source, chosen, trials))
        threads = {name: threaded(source, trial.layout.format) for name, trial in trials.items()}
        local = not _is_remote(source)
        before = _stamp(address) if local else None
    if say:
        for text in notes(pd.DataFrame(rows)):
            say(text)
    with _scratch(Path(workdir)) as scratch:
        evicted = local and _can_evict(address)
        cases = [
            _case(trials[target.name], target, scratch, threads[target.name], evicted, first=not n)
            for n, target in enumerate(targets)
        ]
        plan = Plan(
            blocks=repeats,
            seed=seed,
            timeout_s=TIMEOUT_S,
            modules=_MODULES + _ZARR_MODULES * any(threads.values()),
            retakes=RETAKES,
        )
        journal = Journal(scratch / "journal.jsonl", {}, "")
        needed = max(trial.disk_bytes for trial in trials.values())
        measured = measure(EXPERIMENT, cases, plan, journal, scratch=scratch, scratch_bytes=needed)
    rows += measured
    rows += losses(measured)
    rows += overruns(measured, memory_bytes)
    if local and _stamp(address) != before:
        rows.append(note("", "the file changed while it was measured: do not trust the numbers."))
    if local and not evicted:
        rows.append(note("", "the file could not be evicted from memory: its reads are not cold."))
    mine = peak_bytes()
    if mine > memory_bytes:
        text = f"the program itself, which copies nothing, took {mib(mine)}: more than was allowed."
        rows.append(note("", text))
    rows.append({"experiment": SOURCE, "case": MAIN, "phase": "memory", "peak_bytes": mine})
    run_id = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{uuid.uuid4().hex[:6]}"
    return frame_of({**row, "run_id": run_id} for row in rows)


def _check(targets: Sequence[Target], repeats: int, parallel: bool) -> None:
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}: give at least 1, or 7 for usable intervals")
    if not targets:
        raise ValueError("no layouts to try: give at least one")
    names = [target.name for target in targets]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two layouts are called {', '.join(repeated)}: give each its own name")
    if parallel:
        raise ValueError(
            "this version writes and reads a copy in one process only: parallel copies come with "
            "the chapter on MPI; leave out -p"
        )


def _case(
    prepared: Prepared, target: Target, scratch: Path, threads: bool, evicted: bool, *, first: bool
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
        prepare=Clean(path),  # of a sample that was killed
        cleanup=Clean(path),
        aa=first,
        pinned=not threads,
    )


def _library(format: str) -> str:
    if format in ("zarr2", "zarr3"):
        return "zarr"
    return "h5py" if format == "hdf5" else "netCDF4"


def _version(format: str) -> str:
    return machine.versions().get(_library(format), "")


def _is_remote(source: Source) -> bool:
    from ..sources.remote import is_url

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
