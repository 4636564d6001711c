"""From a question to ranked advice: predicted, the best of it measured, in order of gain."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
from hyperslab.measure.records import DISCARDED, frame_of
from hyperslab.measure.stats import median_interval, paired_ratio
from hyperslab.network.link import Link
from hyperslab.network.server import Server, serving
from hyperslab.text import listing

from ..partial import scratch_folder
from .accesses import Access
from .candidates import Candidate
from .costs import Calibration
from .pricing import Pricing, Row, sentence
from .question import FAR, Question, Subject, room
from .visit import MODULES, Visit, case_of, digest

_REFINED = 12  # candidates whose compression is measured with chunks of their own
_WORTH = 1.1  # a gain below that is none
_SCRATCH = "advise"
NEAR = 1.3  # how many times as long as the fastest a candidate may take to be measured further
FAR_MODULES = ("aiohttp", "fsspec.implementations.http", "hyperslab.io.by_kerchunk")
FAR_SCREENED = 2  # blocks after which what is clearly slower is left out: each read takes long
CELL_S = 20.0  # see `hyperslab.measure.harness.Plan`
# What writes the file that a remedy needs.
_BESIDE: dict[str, Callable[[Path], object]] = {
    "index": subchunk.build, "references": references.write,
}  # fmt: skip


@dataclass(frozen=True)
class Advice:
    """What is advised for a file."""

    subject: Subject
    present: Row  # the file as it is
    rows: tuple[Row, ...]  # candidates, the best first
    beyond: tuple[Row, ...]  # candidates that take more room than is allowed
    notes: tuple[str, ...] = ()  # what else there is to know, a sentence each

    @property
    def first(self) -> Row | None:
        """The best candidate; None where the file is best left as it is."""
        best = self.rows[0] if self.rows else None
        if best is None or not best.scaled_gain >= _WORTH:
            return None
        if best.measured_gain is not None and best.measured_gain.low <= 1:
            return None
        return best

    @property
    def other(self) -> Row | None:
        """The best of the other kind than the first (rewriting or not); None without gain."""
        kind = self.first and self.first.candidate.rewrites
        others = (row for row in self.rows if row.candidate.rewrites != kind)
        best = next(others, None) if self.first else None
        return best if best is not None and best.scaled_gain >= _WORTH else None


def advise(
    subject: Subject, calibration: Calibration, say: Callable[[str], None] | None = None
) -> Advice:
    """Predict all candidates, measure the best, and rank them."""
    with Processes(MODULES) as processes:
        advice = predicted(subject, calibration, processes)
        if say and subject.question.measured:
            say(f"measuring the best of {len(advice.rows)} on {subject.sample.words}")
        return measured(advice, processes)


def predicted(subject: Subject, calibration: Calibration, processes: Processes) -> Advice:
    """Return the advice that follows from counts alone, with what the codecs do to the sample."""
    question, failed = subject.question, Counter[str]()
    with scratch_folder(question.workdir, _SCRATCH) as scratch:
        pricing = Pricing(subject, calibration, scratch, processes)
        present = pricing.row(subject.present)
        present = replace(present, gain=1.0, sample_gain=1.0) if present.seconds else present

        def priced(candidates: Sequence[Candidate], *, alone: bool) -> list[Row]:
            rows = list[Row]()
            for way in candidates:
                try:
                    row = pricing.row(way, alone=alone)
                except (OSError, RuntimeError) as error:  # of the library that should write it
                    failed[f"{way.layout.codec} in {way.layout.format}: {sentence(error)}"] += 1
                    continue
                gains = present.mean_s / row.mean_s, present.sample_s / row.sample_s
                rows.append(replace(row, gain=gains[0], sample_gain=gains[1]))
            return rows

        first = _ordered(priced(subject.candidates, alone=False))
        finer = priced([row.candidate for row in first[:_REFINED]], alone=True)
    rows = (*finer, *first[_REFINED:])
    most = room(question.budget, present.nbytes)
    allowed = [row for row in rows if not row.candidate.rewrites or row.nbytes <= most]
    beyond = [row for row in rows if row not in allowed]
    notes = []
    if not calibration.made:
        notes.append(
            "times are predicted from counts with typical costs, not from this machine's; "
            "hyperslab advise --calibrate measures it."
        )
    if beyond:
        best = min(beyond, key=lambda row: row.order)
        gain = f"{best.gain:.1f} times as fast as the file is now, and " if best.gain > 0 else ""
        notes.append(
            f"{len(beyond)} layout{'s' * (len(beyond) > 1)} would take more room than allowed: by "
            f"prediction the fastest of them, {best.candidate.name}, is {gain}"
            f"{best.nbytes / present.nbytes:.2f} times as large as the variable is now; --budget "
            "any ranks them too."
        )
    if subject.unkept:
        some = listing([text.rstrip(".") for text in subject.unkept], 5)
        notes.append(f"a copy by hyperslab rechunk would not hold all of the file: {some}.")
    notes += sorted({r.status for r in (present, *rows) if r.status and r.candidate.described})
    notes += [f"{n} layout{'s' * (n > 1)} cannot be written, {why}" for why, n in failed.items()]
    return Advice(subject, present, _ordered(allowed), tuple(beyond), tuple(notes))


def _ordered(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: row.order))


def measured(advice: Advice, processes: Processes) -> Advice:
    """Return advice with its best layouts and remedies measured on the sample, as it is asked."""
    subject, question = advice.subject, advice.subject.question
    link = question.link
    if not question.measured or not subject.present.described:
        if link is None:
            return advice
        unmeasured = (
            "nothing was measured over the network: every time and gain is predicted, for a store "
            f"{_away(link)}"
        )
        return replace(advice, notes=(*advice.notes, unmeasured))
    chosen = [advice.present]
    for rewrites in (True, False):
        alike = [row for row in advice.rows if row.candidate.rewrites == rewrites]
        chosen += alike[: question.measured]
    with scratch_folder(question.workdir, _SCRATCH) as scratch:
        frame = try_out([row.candidate for row in chosen], subject, scratch, processes)
    joined = _joined(advice, chosen, frame)
    if link:
        from_here = (
            "what was measured was read from a server on this machine, over a link as slow as to a "
            f"store {_away(link)} What the store itself takes for a request comes on top."
        )
        joined = replace(joined, notes=(*joined.notes, from_here))
    return replace(joined, rows=_ordered(joined.rows))


def _away(link: Link) -> str:
    """Return how far a store is, and how to say otherwise, ended by a stop."""
    return (
        f"{link.bytes_per_s / 1e6:g} MB/s and {link.round_trip_s * 1e3:g} ms away"
        f"{', which is assumed' if link is FAR else ''}; --store RATE,DELAY says where yours is."
    )


def _joined(advice: Advice, chosen: Sequence[Row], frame: pd.DataFrame) -> Advice:
    """Return advice with what was measured of the file as it is and of candidates, and notes."""
    subject, blocks = advice.subject, range(advice.subject.question.repeats)
    frame = frame[frame["aa"] != DISCARDED]
    reads = frame[(frame["status"] == "ok") & (frame["phase"] == "read")]
    main, again = reads[reads["aa"] != "B"], reads[reads["aa"] == "B"]

    def mixes(reads: pd.DataFrame, row: Row) -> pd.Series[float]:
        """Return the seconds of an average read in each block; NaN where an access has none."""
        own = reads[reads["mode"] == row.candidate.name]
        table = own.pivot_table(index="block", columns="pattern", values="wall_s")
        return mix_s(subject.near, table.reindex(blocks))

    def why(row: Row) -> str:
        bad = frame[(frame["mode"] == row.candidate.name) & (frame["status"] != "ok")]
        return str(bad["status"].iloc[0]).rstrip(".") if len(bad) else "it cannot be written so"

    base = mixes(main, advice.present)
    if base.isna().all():
        status = (
            f"reads of the file as it is could not be measured ({why(advice.present)}): no gain "
            "is known."
        )
        unknown: dict[str, Any] = {"gain": math.nan, "sample_gain": math.nan}
        rows = tuple(replace(row, **unknown) for row in advice.rows)
        present = replace(advice.present, **unknown, status=status)
        return replace(advice, present=present, rows=rows, notes=(*advice.notes, status))
    early = screened(subject.question)
    onward = set(frame.loc[frame["block"] >= early, "mode"])
    joined, notes = dict[str, Row](), list(advice.notes)
    for row in chosen:
        name, mix = row.candidate.name, mixes(main, row)
        if (mix + base).isna().all():
            notes.append(f"{name} was not measured: {why(row)}.")
            joined[name] = replace(row, status=why(row))
            continue
        own = main[main["mode"] == name].groupby("pattern")["wall_s"]
        joined[name] = replace(
            row,
            measured={a.name: median_interval(own.get_group(a.name)) for a in subject.near},
            measured_gain=paired_ratio(base, mix),
            left_early=early > 0 and name not in onward,
        )
    twice = mixes(again, advice.present)
    if twice.notna().any():
        notes.append(
            f"the file as it is, measured twice, differs by a factor of "
            f"{paired_ratio(base, twice)}: a gain within that means nothing."
        )
    present = joined[advice.present.candidate.name]
    rows = tuple(joined.get(row.candidate.name, row) for row in advice.rows)
    return replace(advice, present=present, rows=rows, notes=tuple(notes))


def try_out(
    candidates: Sequence[Candidate], subject: Subject, scratch: Path, processes: Processes
) -> pd.DataFrame:
    """Write the sample in each layout and read it by every access, in interleaved blocks."""
    question = subject.question
    first = screened(question) or question.repeats
    with ExitStack() as own:
        folder, server = Path(own.enter_context(TemporaryDirectory(dir=scratch))), None
        running = processes
        if question.link:
            here = own.enter_context(serving(folder))
            server = here.through(own.enter_context(question.link.to(here.port)))
            running = own.enter_context(Processes((*MODULES, *FAR_MODULES)))
        cases = list(_cases(candidates, subject, folder, server))
        plan = Plan(first, question.seed, cell_s=CELL_S, retakes=RETAKES)

        def timed(cases: Sequence[Case], plan: Plan) -> Rows:
            journal = Journal(folder / f"journal-{plan.seed}.jsonl", {}, "")
            return measure("advise", cases, plan, journal, running, scratch=folder)

        rows = timed(cases, plan)
        if first < question.repeats:
            reads = frame_of(rows).query("status == 'ok' and phase == 'read'")
            least = reads.groupby(["mode", "pattern"])["wall_s"].min().unstack()
            mixes = mix_s(subject.near, least)
            near = {candidates[0].name, *mixes.index[mixes <= NEAR * mixes.min()]}
            rest = replace(plan, blocks=question.repeats - first, seed=question.seed + 1)
            later = timed([case for case in cases if case.columns["mode"] in near], rest)
            rows += [{**row, "block": row["block"] + first} for row in later]
    return frame_of(rows)


def screened(question: Question) -> int:
    """Return the blocks after which only what may be the best is measured further; 0 for all."""
    blocks = question.screened or (FAR_SCREENED if question.link else 0)
    return blocks if blocks < question.repeats else 0


def _cases(
    candidates: Sequence[Candidate], subject: Subject, folder: Path, server: Server | None
) -> Iterator[Case]:
    """Write the files of the candidates; yield a case for each of them and each access."""
    sample, values, paths = subject.sample, subject.sample.values, dict[object, Path]()
    expected = {
        access.name: digest([values[region(s, values.shape).indices] for s in access.selections])
        for access in subject.near
    }
    for number, candidate in enumerate(candidates):
        library, layout = candidate.library, sample.clipped(candidate.layout)
        if candidate.remedy == "references":  # it is priced as the Zarr that its readers see
            library, layout = "kerchunk", sample.clipped(candidates[0].layout)
        if layout not in paths:
            path, fill = folder / f"{number}{layout.suffix}", sample.variable.fill_value
            try:
                check_blosc(values, layout)
                write_array(path, values, layout, fill_value=fill)
            except (OSError, RuntimeError):  # a codec that cannot take these values
                if not number:
                    raise
                continue
            paths[layout] = path
        path, beside = paths[layout], list[Path]()
        if candidate.remedy in _BESIDE:
            beside = [Path(str(_BESIDE[candidate.remedy](path)))]
        # An access each: a read that another has warmed the library for is faster.
        for access in subject.near:
            visit = Visit(path, library, access.selections, candidate.cache_bytes, server)
            yield case_of(
                f"{candidate.name} | {access.name}", visit, subject.cache,
                expected=expected[access.name], files=beside, aa=not number,
                columns={"mode": candidate.name, "pattern": access.name},
                pinned=not card(library).threads,
            )  # fmt: skip


def mix_s(accesses: Sequence[Access], seconds: pd.DataFrame) -> pd.Series[float]:
    """Return the seconds of a read on average over the mix, of rows with a column an access."""
    weights = pd.Series({access.name: access.weight for access in accesses})
    return seconds.reindex(columns=weights.index) @ weights
