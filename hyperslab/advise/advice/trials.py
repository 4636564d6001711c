"""Measure candidates on a sample of the file: made, read in fresh processes, compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hyperslab.io import references
from hyperslab.io.cards import card, reader
from hyperslab.io.creation import stored_bytes, write_array
from hyperslab.io.file_plan import check_blosc
from hyperslab.io.selection import region
from hyperslab.measure.case import Case, Stopwatch
from hyperslab.measure.harness import RETAKES, Plan, measure
from hyperslab.measure.journal import Journal, Rows
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import frame_of
from hyperslab.network.link import Link
from hyperslab.network.server import Server

from . import far
from .accesses import Access
from .candidates import Candidate
from .sample import Sample

EXPERIMENT = "advise"
MODULES = (
    "hyperslab.advise.advice.trials", "hyperslab.io.by_netcdf4", "hyperslab.io.by_h5py",
    "hyperslab.io.by_subchunk", "hyperslab.io.by_h5netcdf", "hyperslab.io.by_zarr",
)  # fmt: skip
"""What the processes that read have imported."""
NEAR = 1.3  # how many times as long as the quickest a candidate may take to be measured on
_NAME = "values"
_APART = " | "
_READ = "read:"
_REFERRED = "kerchunk"  # the reader of references


@dataclass(frozen=True)
class Visit:
    """Open a file and read it, once for each access: phases open:NAME and read:NAME.

    From a server both are read:NAME: libraries fetch values ahead when a file is opened.

    Parameters
    ----------
    path
        Of the file.
    library, cache_bytes
        How it is read.
    selections
        By access, a call each.
    server
        That it is read from, by its name; None reads it from the disk.
    """

    path: Path
    library: str
    cache_bytes: int | None
    selections: Mapping[str, tuple[Any, ...]]
    server: Server | None = None

    def __call__(self, watch: Stopwatch) -> tuple[str, ...]:
        """Read; return a digest of the values of each access."""
        chosen = reader(self.library)
        place: str | Path = self.path
        options: Mapping[str, Any] | None = None
        if self.server is not None:
            place, options = self.server.address(self.path.name), self.server.storage_options

        def opens() -> Any:
            return chosen.open(
                place, _NAME, chunk_cache_bytes=self.cache_bytes, storage_options=options
            )

        digests = []
        for name, selections in self.selections.items():
            watch.chill()
            if self.server is None:
                with watch(f"open:{name}"):
                    opened = opens()
                watch.chill()
                with watch(f"{_READ}{name}"):
                    found = [opened.read(one) for one in selections]
            else:
                with watch(f"{_READ}{name}"):
                    opened = opens()
                    found = [opened.read(one) for one in selections]
            watch.note(useful_bytes=sum(values.nbytes for values in found), pattern=name)
            opened.close()
            digests.append(digest(found))
        return tuple(digests)


@dataclass(frozen=True)
class Same:
    """Whether what was read is what the sample holds."""

    digests: tuple[str, ...]

    def __call__(self, found: tuple[str, ...]) -> bool:
        """Compare."""
        return found == self.digests


def digest(values: Sequence[NDArray[Any]]) -> str:
    """Return a short name of values: the same for the same bytes.

    Examples
    --------
    >>> digest([np.zeros(2)]) == digest([np.zeros(2)]) != digest([np.ones(2)])
    True
    """
    made = hashlib.sha256()
    for one in values:
        made.update(np.ascontiguousarray(one).tobytes())
    return made.hexdigest()[:16]


def try_out(
    candidates: Sequence[Candidate],
    sample: Sample,
    accesses: Sequence[Access],
    *,
    cache: str,
    scratch: Path,
    repeats: int = 5,
    cell_s: float = 20.0,
    seed: int = 0,
    disk_bytes: int = 2**31,
    screened: int = 0,
    link: Link | None = None,
    processes: Processes | None = None,
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Write the sample in each layout and read it by every access, in interleaved blocks.

    Parameters
    ----------
    candidates
        The first is the file as it is, measured under two labels.
    sample, accesses
        What is written, and the accesses of a variable of its shape.
    cache
        "warm" or "cold".
    scratch
        Folder for the files; the caller removes it.
    repeats, cell_s, seed
        See `hyperslab.measure.harness.Plan`.
    disk_bytes
        Bytes that the files may take together; candidates beyond that are not measured.
    screened
        After so many blocks only the file as it is and what took no more than `NEAR` times as long
        as the quickest is measured on; 0 measures all alike.
    link
        What they are read over, from a server on this machine; None reads them from the disk.
    processes
        What they are read in, left running; without it made, and ended.

    Returns
    -------
    pandas.DataFrame
        Records of the experiment "advise": a case for each candidate, by its name.
    dict
        Bytes of each file that was made, by the candidate's name.

    Raises
    ------
    BusyError
        When another run is measuring on this machine.
    """
    with ExitStack() as own:
        server = own.enter_context(far.served(scratch, link)) if link else None
        cases, sizes = _cases(
            candidates, sample, accesses, cache, scratch, disk_bytes=disk_bytes, server=server
        )
        modules = MODULES if server is None else (*MODULES, *far.MODULES, *_referring(candidates))
        plan = Plan(blocks=repeats, seed=seed, cell_s=cell_s, modules=modules, retakes=RETAKES)
        shared = processes if server is None else None
        running = shared or own.enter_context(Processes(modules))
        if not 0 < screened < repeats:
            rows = _timed(cases, plan, scratch, running)
        else:
            rows = _timed(cases, replace(plan, blocks=screened), scratch, running)
            near = _near(rows, accesses, candidates[0].name)
            kept = [case for case in cases if case.name.partition(_APART)[0] in near]
            rest = replace(plan, blocks=repeats - screened, seed=seed + 1)
            more = _timed(kept, rest, scratch, running)
            rows += [{**row, "block": int(str(row["block"])) + screened} for row in more]
    named = ({**row, "case": str(row["case"]).partition(_APART)[0]} for row in rows)
    return frame_of({**row, "run_id": EXPERIMENT} for row in named), sizes


def _cases(
    candidates: Sequence[Candidate],
    sample: Sample,
    accesses: Sequence[Access],
    cache: str,
    scratch: Path,
    *,
    disk_bytes: int,
    server: Server | None,
) -> tuple[list[Case], dict[str, float]]:
    """Write the files of the candidates; return a case for each access, and the files' bytes."""
    made: dict[object, Path] = {}
    cases, sizes, taken = list[Case](), dict[str, float](), 0
    truth = {
        a.name: Same((digest(
            [sample.values[region(one, sample.values.shape).indices] for one in a.selections]
        ),))
        for a in accesses
    }  # fmt: skip
    for number, candidate in enumerate(candidates):
        library, layout = candidate.library, sample.clipped(candidate.layout)
        if candidate.remedy == "references":  # it is priced as the Zarr that its readers see
            library, layout = _REFERRED, sample.clipped(candidates[0].layout)
        path = made.get(layout)
        if path is None:
            if taken + sample.values.nbytes > disk_bytes and number:
                continue
            path = scratch / f"{number}{layout.suffix}"
            fill = sample.variable.fill_value
            try:
                check_blosc(sample.values, layout)
                taken += write_array(path, sample.values, layout, _NAME, fill_value=fill)
            except (OSError, RuntimeError):  # a codec that cannot take these values
                if not number:
                    raise
                continue
            made[layout] = path
        files: list[str | Path] = [path]
        sizes[candidate.name] = float(stored_bytes(path))
        if candidate.remedy == "index":
            from hyperslab import subchunk

            files.append(subchunk.build(path))
        elif candidate.remedy == "references":
            files.append(references.write(path))
        sizes[candidate.name] += sum(Path(beside).stat().st_size for beside in files[1:])
        # An access each: a read that another has warmed the library for is quicker.
        for access in accesses:
            selections = {access.name: access.selections}
            cases.append(
                Case(
                    f"{candidate.name}{_APART}{access.name}",
                    Visit(path, library, candidate.cache_bytes, selections, server),
                    check=truth[access.name],
                    columns={**layout.record(), "library": library},
                    files=files if server is None else (),
                    cache_state=cache if server is None else "",
                    aa=not number,
                    pinned=not card(library).threads,
                )
            )
    return cases, sizes


def _referring(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Return what reading by references imports, where that is tried."""
    tried = any(candidate.remedy == "references" for candidate in candidates)
    return ("hyperslab.io.by_kerchunk",) if tried else ()


def _timed(cases: Sequence[Case], plan: Plan, scratch: Path, running: Processes) -> Rows:
    journal = Journal(scratch / f"journal-{plan.seed}.jsonl", {}, "")
    return measure(EXPERIMENT, cases, plan, journal, scratch=scratch, processes=running)


def _near(rows: Rows, accesses: Sequence[Access], present: str) -> set[str]:
    """Return the candidates that may be the best, by the quickest of their blocks."""
    least: dict[str, dict[str, float]] = {}
    for row in rows:
        phase, name = str(row["phase"]), str(row["case"]).partition(_APART)[0]
        if row["status"] != "ok" or not phase.startswith(_READ):
            continue
        own, seconds = least.setdefault(name, {}), float(str(row["wall_s"]))
        access = phase.removeprefix(_READ)
        own[access] = min(own.get(access, seconds), seconds)
    mixes = {
        name: sum(access.weight * own[access.name] for access in accesses)
        for name, own in least.items()
        if all(access.name in own for access in accesses)
    }
    most = NEAR * min(mixes.values(), default=0.0)
    return {present, *(name for name, mix in mixes.items() if mix <= most)}
