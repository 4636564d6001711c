"""Measure candidates on a sample of the file: made, read in fresh processes, compared."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd

from hyperslab import subchunk
from hyperslab.io import references
from hyperslab.io.cards import card
from hyperslab.io.creation import write_array
from hyperslab.io.file_plan import check_blosc
from hyperslab.io.selection import region
from hyperslab.measure.case import Case
from hyperslab.measure.harness import RETAKES, Plan, measure
from hyperslab.measure.journal import Journal, Rows
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import frame_of
from hyperslab.network.link import Link
from hyperslab.network.server import Server, serving

from .accesses import Access
from .candidates import Candidate
from .question import Question, Subject
from .visit import MODULES, Visit, case_of, digest

NEAR = 1.3  # how many times as long as the fastest a candidate may take to be measured further
FAR_MODULES = ("aiohttp", "fsspec.implementations.http", "hyperslab.io.by_kerchunk")
FAR_SCREENED = 2  # blocks after which what is clearly slower is left out: each read takes long
CELL_S = 20.0  # see `hyperslab.measure.harness.Plan`
_NAME = "values"
_APART = " | "


def try_out(
    candidates: Sequence[Candidate], subject: Subject, scratch: Path, processes: Processes
) -> pd.DataFrame:
    """Write the sample in each layout and read it by every access, in interleaved blocks.

    The first candidate is the file as it is, measured under two labels. Processes on this machine's
    disk are those given; far reads have their own. The records have a case for each candidate, by
    its name, and a pattern for each access. A BusyError says that another run is measuring.
    """
    question, accesses = subject.question, subject.near
    with ExitStack() as own:
        folder = Path(own.enter_context(tempfile.TemporaryDirectory(dir=scratch)))
        server = own.enter_context(_served(folder, question.link)) if question.link else None
        cases = _cases(candidates, subject, folder, server)
        modules = MODULES if server is None else (*MODULES, *FAR_MODULES)
        plan = Plan(question.repeats, question.seed, cell_s=CELL_S, modules=modules,
                    retakes=RETAKES)  # fmt: skip
        running = own.enter_context(Processes(modules)) if server else processes
        first = screened(question) or question.repeats
        rows = _timed(cases, replace(plan, blocks=first), folder, running)
        if first < question.repeats:
            near = _near(rows, accesses, candidates[0].name)
            rest = replace(plan, blocks=question.repeats - first, seed=question.seed + 1)
            further = [case for case in cases if case.name.partition(_APART)[0] in near]
            later = _timed(further, rest, folder, running)
            rows += [{**row, "block": int(str(row["block"])) + first} for row in later]
    return _parted(rows)


def screened(question: Question) -> int:
    """Return the blocks after which only what may be the best is measured further; 0 for all."""
    blocks = question.screened or (FAR_SCREENED if question.link else 0)
    return blocks if blocks < question.repeats else 0


@contextmanager
def _served(folder: Path, link: Link) -> Iterator[Server]:
    """Serve a folder over HTTP on this machine, behind the link."""
    with serving(folder) as server, link.to(server.port) as port:
        yield server.through(port)


def _cases(
    candidates: Sequence[Candidate], subject: Subject, folder: Path, server: Server | None
) -> list[Case]:
    """Write the files of the candidates; return a case for each of them and each access."""
    sample, accesses = subject.sample, subject.near
    expected = {
        access.name: digest(
            [sample.values[region(s, sample.values.shape).indices] for s in access.selections]
        )
        for access in accesses
    }
    made: dict[object, Path] = {}
    cases = list[Case]()
    for number, candidate in enumerate(candidates):
        library, layout = candidate.library, sample.clipped(candidate.layout)
        if candidate.remedy == "references":  # it is priced as the Zarr that its readers see
            library, layout = "kerchunk", sample.clipped(candidates[0].layout)
        if layout not in made:
            path, fill = folder / f"{number}{layout.suffix}", sample.variable.fill_value
            try:
                check_blosc(sample.values, layout)
                write_array(path, sample.values, layout, _NAME, fill_value=fill)
            except (OSError, RuntimeError):  # a codec that cannot take these values
                if not number:
                    raise
                continue
            made[layout] = path
        path, beside = made[layout], list[Path]()
        if candidate.remedy == "index":
            beside.append(Path(subchunk.build(path)))
        elif candidate.remedy == "references":
            beside.append(Path(references.write(path)))
        # An access each: a read that another has warmed the library for is faster.
        for access in accesses:
            visit = Visit(path, library, access.selections, candidate.cache_bytes, _NAME, server)
            cases.append(case_of(
                f"{candidate.name}{_APART}{access.name}", visit, subject.cache,
                expected=expected[access.name], files=beside, columns=layout.record(),
                aa=not number, pinned=not card(library).threads,
            ))  # fmt: skip
    return cases


def _timed(cases: Sequence[Case], plan: Plan, scratch: Path, running: Processes) -> Rows:
    journal = Journal(scratch / f"journal-{plan.seed}.jsonl", {}, "")
    return measure("advise", cases, plan, journal, scratch=scratch, processes=running)


def _parted(rows: Rows) -> pd.DataFrame:
    """Return records with a case for each candidate, and a pattern for each access."""
    parted = []
    for row in rows:
        name, _, access = str(row["case"]).partition(_APART)
        parted.append({**row, "case": name, "pattern": access, "run_id": "advise"})
    return frame_of(parted)


def _near(rows: Rows, accesses: Sequence[Access], present: str) -> set[str]:
    """Return the candidates that may be the best, by the fastest of their blocks."""
    frame = _parted(rows)
    reads = frame[(frame["status"] == "ok") & (frame["phase"] == "read")]
    least = reads.pivot_table(index="case", columns="pattern", values="wall_s", aggfunc="min")
    mixes = mix_s(accesses, least)
    return {present, *mixes.index[mixes <= NEAR * mixes.min()]}


def mix_s(accesses: Sequence[Access], seconds: pd.DataFrame) -> pd.Series[float]:
    """Return the seconds of a read on average over the mix, of rows with a column an access."""
    weights = pd.Series({access.name: access.weight for access in accesses})
    return seconds.reindex(columns=weights.index) @ weights
