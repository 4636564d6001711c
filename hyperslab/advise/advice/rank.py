"""From a question to ranked advice: priced, the best of it measured, in order of gain."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from hyperslab.measure.processes import Processes
from hyperslab.measure.stats import median_interval, paired_ratio
from hyperslab.tune.partial import part_name, remove_leftovers

from ..model.errors import UncalibratedError
from ..model.measured.calibrate import MODULES
from ..source import open_source
from ..sources.base import SourceVariable
from . import far, notes
from .accesses import Access, letters_of, resolve
from .candidates import NOW, Candidate, layouts, now, remedies
from .predictors import Rough
from .price import Packed, Predictor, Where, counted, price, read_of, variable_bytes
from .question import Question, twins
from .rows import Advice, Row, allowed, order, to_measure
from .sample import Sample, take
from .trials import MODULES as TRIED
from .trials import try_out

_REFINED = 12  # candidates whose compression is measured with chunks of their own
_SCRATCH = "advise"
PROCESSES = tuple(dict.fromkeys((*MODULES, *TRIED)))
"""What the processes that `advise` starts have imported."""


def advise(
    question: Question,
    predictor: Predictor,
    say: Callable[[str], None] | None = None,
    processes: Processes | None = None,
) -> Advice:
    """Price all candidates, measure the best, and rank them.

    Parameters
    ----------
    question
        What is asked.
    predictor
        Says how long a read takes.
    say
        Is told what comes.
    processes
        What reads are timed in, left running; without it made, and ended.

    Raises
    ------
    SourceError
        When the file cannot be read, or there is no such variable.
    ValueError
        When it has no such access.
    BusyError
        When another run is measuring on this machine.
    """
    with open_source(question.address) as source:
        variable = question.chosen(source)
        accesses = resolve(
            question.shares, variable, source.variables, question.roles, question.calls
        )
        letters = letters_of(variable, source.variables, question.roles)
        same, format = twins(source, variable), source.format
        unkept, grouped = source.unkept, any("/" in name for name in source.variables)
        where = Where(question.state(max(source.stat_bytes, variable.nbytes)), question.link)
        library = question.library_for(source, variable)
        present = now(source.format, variable, library)
        said = [notes.rough(predictor.name)] if isinstance(predictor, Rough) else []
        if say:
            say(f"reading a sample of {variable.name}")
        absent = far.missing() if question.link else ()
        most = question.sample_bytes
        if question.link and question.measured and not absent:
            most = far.sample_bytes(question.link, most)
        sample = take(source, variable, accesses, most)
    shares = {access.name: access.weight for access in accesses}
    axes = {d: x for d, x in zip(variable.dims, letters, strict=True) if x}
    near = resolve(
        shares,
        sample.variable,
        {sample.variable.name: sample.variable},
        axes,
        question.calls,
        fewer=True,
    )
    found = _Found(question, variable, accesses, sample, near, where, predictor)
    remove_leftovers(question.workdir, _SCRATCH)
    scratch = question.workdir / part_name(_SCRATCH)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        with ExitStack() as own:
            running = processes or own.enter_context(Processes(PROCESSES))
            rows, more = found.priced(present, scratch, running)
            if question.measured and not absent and present.said:
                chosen = to_measure(rows, question)
                if say:
                    say(f"measuring {len(chosen)} of {len(rows)} on {notes.size(sample)}")
                rows, more_too = found.measured(rows, chosen, scratch, running)
                more += more_too
                more += [notes.imitated(question.link)] if question.link else []
            elif question.link is not None:
                more.append(notes.unmeasured(question.link, absent))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    kept = [row for row in rows[1:] if allowed(row, rows[0], question)]
    beyond = tuple(row for row in rows[1:] if not allowed(row, rows[0], question))
    if beyond:
        said.append(notes.beyond(beyond, rows[0]))
    if unkept:
        said.append(notes.lacking(unkept))
    return Advice(
        question, variable, accesses, letters, where, rows[0], tuple(sorted(kept, key=order)),
        sample.values.shape, predictor.name, (*said, *more), same, beyond, format, unkept, grouped,
    )  # fmt: skip


@dataclass(frozen=True)
class _Found:
    """What is known of the file while candidates are priced and measured."""

    question: Question
    variable: SourceVariable
    accesses: tuple[Access, ...]
    sample: Sample
    near: tuple[Access, ...]
    where: Where
    predictor: Predictor

    def priced(
        self, present: Candidate, scratch: Path, processes: Processes
    ) -> tuple[list[Row], list[str]]:
        """Return a row for each candidate, the file as it is first, and notes."""
        link, calls = self.question.link, max(len(a.selections) for a in self.accesses)
        grouped = "/" in self.variable.name
        every = [present]
        every += remedies(present, remote=link is not None, calls=calls, grouped=grouped)
        every += layouts(
            present, self.variable, self.accesses, remote=link is not None,
            formats=self.question.formats, codecs=self.question.codecs,
            call_s=link.round_trip_s if link else 0.0,
        )  # fmt: skip
        known: dict[object, Packed] = {}
        failed: dict[str, int] = {}
        factor = self._factor(present, self._packed(present, known, scratch, processes, own=True))

        def row(candidate: Candidate, own: bool) -> Row | None:
            try:
                packed = self._packed(candidate, known, scratch, processes, own=own)
                return self._row(candidate, packed, factor)
            except (OSError, RuntimeError) as error:  # of the library that should write it
                if candidate is present:
                    raise
                layout, why = candidate.layout, notes.first_line(error)
                why = f"{layout.codec} in {layout.format}: {why}"
                failed[why] = failed.get(why, 0) + 1
                return None

        rows = [one for c in every if (one := row(c, c is present)) is not None]
        base = rows[0].mean_s
        rows = [replace(one, gain=base / one.mean_s) for one in rows]
        best = sorted(range(1, len(rows)), key=lambda n: order(rows[n]))[:_REFINED]
        dropped = []
        for n in best:
            finer = row(rows[n].candidate, True)
            if finer is None:
                dropped.append(n)
            else:
                rows[n] = replace(finer, gain=base / finer.mean_s)
        rows = [one for n, one in enumerate(rows) if n not in dropped]
        base = rows[0].sample_gain
        rows = [replace(one, sample_gain=base / one.sample_gain) for one in rows]
        said = sorted({one.status for one in rows if one.status and one.candidate.said})
        said += [f"{n} layout{'s' * (n > 1)} cannot be written, {why}" for why, n in failed.items()]
        return rows, said

    def _factor(self, present: Candidate, packed: Packed) -> float:
        """Return what a value takes in the file as it is, over what one of the sample takes so."""
        stored = self.variable.stored_bytes
        if not stored or not present.said or present.layout.codec is None:
            return 1.0
        return stored / math.prod(self.variable.shape) / packed.value_bytes

    def _row(self, candidate: Candidate, packed: Packed, factor: float) -> Row:
        """Return a row; its sample_gain holds seconds on the sample for now."""
        stored, whole = self.variable.stored_bytes, packed
        if candidate.layout.codec is not None:
            whole = packed.times(factor)
        if not candidate.rewrites and stored:
            whole = replace(whole, value_bytes=stored / math.prod(self.variable.shape))
        near = replace(candidate, layout=self.sample.clipped(candidate.layout))
        where, says = self.where, self.predictor
        try:
            if not candidate.said:
                raise UncalibratedError(notes.unsaid(self.variable))
            cost = price(candidate, self.variable, self.accesses, whole, where, says)
            small = price(near, self.sample.variable, self.near, packed, where, says)
        except UncalibratedError as error:
            reads = {a.name: read_of(candidate, self.variable, a, whole, where)
                     for a in self.accesses}  # fmt: skip
            nbytes = variable_bytes(candidate, self.variable, whole.value_bytes)
            why = notes.first_line(error)
            if candidate.kind == NOW and candidate.said:
                why = f"{why[:-1]}: what reads cost now is not predicted, nor is a gain."
            return Row(candidate, {}, counted(reads), nbytes, math.nan, status=why)
        mean = cost.mix_s(self.accesses)
        return Row(
            candidate, cost.seconds, cost.counts, cost.nbytes, math.nan, small.mix_s(self.near),
            mean_s=mean,
        )  # fmt: skip

    def _packed(
        self,
        candidate: Candidate,
        known: dict[object, Packed],
        scratch: Path,
        processes: Processes,
        *,
        own: bool,
    ) -> Packed:
        """Return what a codec does to values, measured once a codec, or once a layout."""
        layout, variable = candidate.layout, self.variable
        if not candidate.said and variable.stored_bytes:
            return Packed(variable.stored_bytes / math.prod(variable.shape))
        if layout.codec is None:
            return Packed(float(variable.itemsize))
        key: object = (layout.codec, layout.level, layout.shuffle, layout.format, own)
        if own:
            key = (key, layout.chunks, candidate.library)
        if key not in known:
            clipped = self.sample.clipped(layout)
            block = self.sample.block(clipped.chunks)
            packed = self.predictor.packed(block, clipped, candidate.library, scratch, processes)
            known[key] = packed.times(self.sample.weight(block))
        return known[key]

    def measured(
        self, rows: Sequence[Row], chosen: Sequence[int], scratch: Path, processes: Processes
    ) -> tuple[list[Row], list[str]]:
        """Return the rows with what was measured of the chosen ones, and notes."""
        screened = self.question.screened or (far.SCREENED if self.question.link else 0)
        frame, _ = try_out(
            [rows[n].candidate for n in chosen],
            self.sample,
            self.near,
            cache=self.where.cache,
            scratch=Path(tempfile.mkdtemp(dir=scratch)),
            repeats=self.question.repeats,
            seed=self.question.seed,
            disk_bytes=self.question.disk_bytes,
            screened=screened,
            link=self.question.link,
            processes=processes,
        )
        good = frame[frame["status"] == "ok"]
        onward = set(frame.loc[frame["block"] >= screened, "case"])
        table = good[good["phase"].str.startswith("read:") & (good["aa"] != "B")].pivot_table(
            index="block", columns=["case", "pattern"], values="wall_s"
        )
        found, said = list(rows), list[str]()
        base = self._series(table, rows[0].candidate.name)
        if base is None or not base.notna().any():
            why = self._why(frame, rows[0])
            said = [f"reads of the file as it is could not be measured ({why}): no gain is known."]
            lost = [replace(row, gain=math.nan, sample_gain=math.nan) for row in rows]
            return [replace(lost[0], status=said[0]), *lost[1:]], said
        for n in chosen:
            row = rows[n]
            mix = self._series(table, row.candidate.name)
            if mix is None or not (mix.notna() & base.notna()).any():
                why = self._why(frame, row)
                said.append(f"{row.candidate.name} was not measured: {why}.")
                found[n] = replace(row, status=why)
                continue
            each = {
                access.name: median_interval(table[row.candidate.name][access.name])
                for access in self.near
            }
            left = 0 < screened < self.question.repeats and row.candidate.name not in onward
            gain = paired_ratio(base, mix)
            found[n] = replace(row, measured=each, measured_gain=gain, left_early=left)
        twice = good[(good["aa"] == "B") & good["phase"].str.startswith("read:")]
        if len(twice):
            again = self._series(
                twice.pivot_table(index="block", columns=["case", "pattern"], values="wall_s"),
                rows[0].candidate.name,
            )
            if again is not None:
                said.append(notes.noise(paired_ratio(base, again)))
        return found, said

    def _why(self, frame: pd.DataFrame, row: Row) -> str:
        """Return why a candidate has no times."""
        bad = frame[(frame["case"] == row.candidate.name) & (frame["status"] != "ok")]
        return str(bad["status"].iloc[0]).rstrip(".") if len(bad) else "no room for it"

    def _series(self, table: pd.DataFrame, name: str) -> Any:
        """Return seconds of an average read by block; None where an access has none."""
        if name not in table:
            return None
        own = table[name]
        if any(access.name not in own for access in self.near):
            return None
        return sum(access.weight * own[access.name] for access in self.near)
