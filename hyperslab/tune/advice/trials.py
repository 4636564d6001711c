"""Measure candidates on a sample of the file: made, read in fresh processes, compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

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
from hyperslab.network.server import Server, serving

from .accesses import Access
from .candidates import Candidate
from .question import Question, Subject
from .visit import MODULES, Visit, case_of, digest

NEAR = 1.3  # how many times as long as the fastest a candidate may take to be measured further
FAR_MODULES = ("aiohttp", "fsspec.implementations.http", "hyperslab.io.by_kerchunk")
FAR_SCREENED = 2  # blocks after which what is clearly slower is left out: each read takes long
CELL_S = 20.0  # see `hyperslab.measure.harness.Plan`
# What writes the file that a remedy needs.
_BESIDE: dict[str, Callable[[Path], object]] = {
    "index": subchunk.build, "references": references.write,
}  # fmt: skip
_APART = " | "


def try_out(
    candidates: Sequence[Candidate], subject: Subject, scratch: Path, processes: Processes
) -> pd.DataFrame:
    """Write the sample in each layout and read it by every access, in interleaved blocks.

    The first candidate is the file as it is, measured under two labels. The records have a case for
    each candidate and a pattern for each access. A BusyError says that another run is measuring.
    """
    question = subject.question
    first = screened(question) or question.repeats
    with ExitStack() as own:
        folder, server = Path(own.enter_context(TemporaryDirectory(dir=scratch))), None
        modules: tuple[str, ...] = MODULES
        running = processes
        if question.link:
            here = own.enter_context(serving(folder))
            server = here.through(own.enter_context(question.link.to(here.port)))
            modules = (*MODULES, *FAR_MODULES)
            running = own.enter_context(Processes(modules))
        cases = list(_cases(candidates, subject, folder, server))
        plan = Plan(first, question.seed, cell_s=CELL_S, modules=modules, retakes=RETAKES)

        def timed(cases: Sequence[Case], plan: Plan) -> Rows:
            journal = Journal(folder / f"journal-{plan.seed}.jsonl", {}, "")
            return measure("advise", cases, plan, journal, scratch=folder, processes=running)

        rows = timed(cases, plan)
        if first < question.repeats:
            mixes = _least_s(_frame(rows), subject.near)
            near = {candidates[0].name, *mixes.index[mixes <= NEAR * mixes.min()]}
            rest = replace(plan, blocks=question.repeats - first, seed=question.seed + 1)
            later = timed([case for case in cases if _candidate(case.name) in near], rest)
            rows += [{**row, "block": int(str(row["block"])) + first} for row in later]
    return _frame(rows)


def screened(question: Question) -> int:
    """Return the blocks after which only what may be the best is measured further; 0 for all."""
    blocks = question.screened or (FAR_SCREENED if question.link else 0)
    return blocks if blocks < question.repeats else 0


def _cases(
    candidates: Sequence[Candidate], subject: Subject, folder: Path, server: Server | None
) -> Iterator[Case]:
    """Write the files of the candidates; yield a case for each of them and each access."""
    sample, values, made = subject.sample, subject.sample.values, dict[object, Path]()
    expected = {
        access.name: digest([values[region(s, values.shape).indices] for s in access.selections])
        for access in subject.near
    }
    for number, candidate in enumerate(candidates):
        library, layout = candidate.library, sample.clipped(candidate.layout)
        if candidate.remedy == "references":  # it is priced as the Zarr that its readers see
            library, layout = "kerchunk", sample.clipped(candidates[0].layout)
        if layout not in made:
            path, fill = folder / f"{number}{layout.suffix}", sample.variable.fill_value
            try:
                check_blosc(values, layout)
                write_array(path, values, layout, fill_value=fill)
            except (OSError, RuntimeError):  # a codec that cannot take these values
                if not number:
                    raise
                continue
            made[layout] = path
        path, beside = made[layout], list[Path]()
        if candidate.remedy in _BESIDE:
            beside = [Path(str(_BESIDE[candidate.remedy](path)))]
        # An access each: a read that another has warmed the library for is faster.
        for access in subject.near:
            visit = Visit(path, library, access.selections, candidate.cache_bytes, server)
            yield case_of(
                f"{candidate.name}{_APART}{access.name}", visit, subject.cache,
                expected=expected[access.name], files=beside, aa=not number,
                columns={**layout.record(), "pattern": access.name},
                pinned=not card(library).threads,
            )  # fmt: skip


def _candidate(case: str) -> str:
    return case.partition(_APART)[0]


def _frame(rows: Rows) -> pd.DataFrame:
    """Return records with a case for each candidate."""
    return frame_of({**row, "case": _candidate(str(row["case"]))} for row in rows)


def _least_s(frame: pd.DataFrame, accesses: Sequence[Access]) -> pd.Series[float]:
    """Return the seconds of an average read with each candidate, by the fastest of its blocks."""
    reads = frame[(frame["status"] == "ok") & (frame["phase"] == "read")]
    least = reads.pivot_table(index="case", columns="pattern", values="wall_s", aggfunc="min")
    return mix_s(accesses, least)


def mix_s(accesses: Sequence[Access], seconds: pd.DataFrame) -> pd.Series[float]:
    """Return the seconds of a read on average over the mix, of rows with a column an access."""
    weights = pd.Series({access.name: access.weight for access in accesses})
    return seconds.reindex(columns=weights.index) @ weights
