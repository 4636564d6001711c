"""From a question to ranked advice: priced, the best of it measured, in order of gain."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from hyperslab.measure.processes import Processes
from hyperslab.measure.stats import median_interval, paired_ratio
from hyperslab.network.link import Link

from ..copying.partial import part_name, remove_leftovers
from ..model.errors import UncalibratedError
from ..model.measured.calibrate import MODULES
from ..source import open_source
from ..sources.base import SourceVariable
from .accesses import Access, letters_of, resolve
from .candidates import NOW, Candidate, layouts, now, remedies
from .predictors import Rough
from .price import Packed, Predictor, Price, Where, counted, price, read_of, variable_bytes
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
        same = twins(source, variable)
        where = Where(question.state(max(source.stat_bytes, variable.nbytes)), question.link)
        present = now(source.format, variable, question.library_for(source))
        notes = [] if variable.layout else [_unsaid(variable)]
        if isinstance(predictor, Rough):
            notes.append(f"times are predicted from {predictor.name}: this machine is not asked.")
        if say:
            say(f"reading a sample of {variable.name}")
        sample = take(source, variable, accesses, question.sample_bytes)
    shares = {access.name: access.weight for access in accesses}
    axes = {d: x for d, x in zip(variable.dims, letters, strict=True) if x}
    near = resolve(
        shares, sample.variable, {sample.variable.name: sample.variable}, axes, question.calls
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
            if question.measured and question.link is None:
                chosen = to_measure(rows, question)
                if say:
                    say(f"measuring {len(chosen)} of {len(rows)} on {_size(sample)}")
                rows, more_too = found.measured(rows, chosen, scratch, running)
                more += more_too
            elif question.link is not None:
                more.append(_unmeasured(question.link))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    kept = [row for row in rows[1:] if allowed(row, rows[0], question)]
    beyond = tuple(row for row in rows[1:] if not allowed(row, rows[0], question))
    if beyond:
        quickest = min(beyond, key=order)
        notes.append(
            f"{len(beyond)} layouts would take more room than is allowed and are left out: by "
            f"prediction the quickest of them, {quickest.candidate.name}, is {quickest.gain:.1f} "
            f"times as quick as the file is now, and {quickest.nbytes / rows[0].nbytes:.2f} times "
            "as large; --budget any ranks them too."
        )
    return Advice(
        question, variable, accesses, letters, where, rows[0], tuple(sorted(kept, key=order)),
        sample.values.shape, predictor.name, (*notes, *more), same, beyond,
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
        every = [present, *remedies(present, remote=link is not None, calls=calls)]
        every += layouts(
            present, self.variable, self.accesses, remote=link is not None,
            formats=self.question.formats, codecs=self.question.codecs,
            call_s=link.round_trip_s if link else 0.0,
        )  # fmt: skip
        known: dict[object, Packed] = {}
        failed: dict[str, int] = {}

        def row(candidate: Candidate, own: bool) -> Row | None:
            try:
                packed = self._packed(candidate, known, scratch, processes, own=own)
                return self._row(candidate, packed)
            except (OSError, RuntimeError) as error:  # of the library that should write it
                if candidate is present:
                    raise
                why = f"{candidate.layout.codec} in {candidate.layout.format}: {_first(error)}"
                failed[why] = failed.get(why, 0) + 1
                return None

        rows = [one for c in every if (one := row(c, c is present)) is not None]
        base = self._mix(rows[0].seconds)
        rows = [replace(one, gain=base / self._mix(one.seconds)) for one in rows]
        best = sorted(range(1, len(rows)), key=lambda n: order(rows[n]))[:_REFINED]
        dropped = []
        for n in best:
            finer = row(rows[n].candidate, True)
            if finer is None:
                dropped.append(n)
            else:
                rows[n] = replace(finer, gain=base / self._mix(finer.seconds))
        rows = [one for n, one in enumerate(rows) if n not in dropped]
        base = rows[0].sample_gain
        rows = [replace(one, sample_gain=base / one.sample_gain) for one in rows]
        notes = sorted({one.status for one in rows if one.status})
        notes += [f"{n} layouts cannot be written, {why}" for why, n in failed.items()]
        return rows, notes

    def _row(self, candidate: Candidate, packed: Packed) -> Row:
        """Return a row; its sample_gain holds seconds on the sample for now."""
        near = replace(candidate, layout=self.sample.clipped(candidate.layout))
        where, says = self.where, self.predictor
        try:
            cost = price(candidate, self.variable, self.accesses, packed, where, says)
            small = price(near, self.sample.variable, self.near, packed, where, says)
        except UncalibratedError as error:
            if candidate.kind == NOW and not isinstance(says, Rough):
                own = replace(self, predictor=Rough())._row(candidate, packed)
                return replace(own, status=f"{error}: what the file costs now is a rough guess.")
            reads = {
                a.name: read_of(candidate, self.variable, a, packed, self.where)
                for a in self.accesses
            }
            nbytes = variable_bytes(candidate, self.variable, packed.value_bytes)
            unknown = Price({}, counted(reads), nbytes)
            return Row(candidate, {}, unknown.counts, nbytes, math.nan, math.nan, None, None,
                       f"{error}.")  # fmt: skip
        return Row(
            candidate, cost.seconds, cost.counts, cost.nbytes, math.nan, small.mix_s(self.near)
        )

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
        if layout.codec is None:
            return Packed(float(variable.itemsize))
        key: object = (layout.codec, layout.level, layout.shuffle, layout.format, own)
        if own:
            key = (key, layout.chunks, candidate.library)
        if key not in known:
            clipped = self.sample.clipped(layout)
            block = self.sample.block(clipped.chunks)
            known[key] = self.predictor.packed(
                block, clipped, candidate.library, scratch, processes
            )
        if not candidate.rewrites and variable.stored_bytes:
            value_bytes = variable.stored_bytes / math.prod(variable.shape)
            return replace(known[key], value_bytes=value_bytes)
        return known[key]

    def _mix(self, seconds: Mapping[str, float]) -> float:
        if not seconds:
            return math.nan
        return sum(access.weight * seconds[access.name] for access in self.accesses)

    def measured(
        self, rows: Sequence[Row], chosen: Sequence[int], scratch: Path, processes: Processes
    ) -> tuple[list[Row], list[str]]:
        """Return the rows with what was measured of the chosen ones, and notes."""
        frame, _ = try_out(
            [rows[n].candidate for n in chosen],
            self.sample,
            self.near,
            cache=self.where.cache,
            scratch=Path(tempfile.mkdtemp(dir=scratch)),
            repeats=self.question.repeats,
            seed=self.question.seed,
            disk_bytes=self.question.disk_bytes,
            screened=self.question.screened,
            processes=processes,
        )
        good = frame[frame["status"] == "ok"]
        table = good[good["phase"].str.startswith("read:") & (good["aa"] != "B")].pivot_table(
            index="block", columns=["case", "pattern"], values="wall_s"
        )
        found, notes = list(rows), []
        base = self._series(table, rows[0].candidate.name)
        for n in chosen:
            row = rows[n]
            mix = self._series(table, row.candidate.name)
            if mix is None or base is None or not (mix.notna() & base.notna()).any():
                bad = frame[(frame["case"] == row.candidate.name) & (frame["status"] != "ok")]
                why = str(bad["status"].iloc[0]) if len(bad) else "no room for it"
                notes.append(f"{row.candidate.name} was not measured: {why}.")
                found[n] = replace(row, status=why)
                continue
            each = {
                access.name: median_interval(table[row.candidate.name][access.name])
                for access in self.near
            }
            gain = paired_ratio(base, mix)
            found[n] = replace(row, measured=each, measured_gain=gain)
        twice = good[(good["aa"] == "B") & good["phase"].str.startswith("read:")]
        if base is not None and len(twice):
            again = self._series(
                twice.pivot_table(index="block", columns=["case", "pattern"], values="wall_s"),
                rows[0].candidate.name,
            )
            if again is not None:
                noise = paired_ratio(base, again)
                notes.append(
                    f"the file as it is, measured twice, differs by a factor of {noise.value:.2f} "
                    f"({noise.low:.2f} to {noise.high:.2f}): a gain within that means nothing."
                )
        return found, notes

    def _series(self, table: object, name: str):  # type: ignore[no-untyped-def]
        if name not in table:  # type: ignore[operator]
            return None
        own = table[name]  # type: ignore[index]
        if any(access.name not in own for access in self.near):
            return None
        return sum(access.weight * own[access.name] for access in self.near)


def _unsaid(variable: SourceVariable) -> str:
    return (
        f"how {variable.name} is stored ({variable.codec or 'its layout'}) cannot be said as one "
        "of the layouts known here: what it costs now is counted as if it were not compressed."
    )


def _unmeasured(link: Link) -> str:
    return (
        "nothing was measured over the network: every time and gain is predicted, for a store "
        f"{link.bytes_per_s / 1e6:g} MB/s and {link.round_trip_s * 1e3:g} ms away; --store "
        "RATE,DELAY says where yours is."
    )


def _size(sample: Sample) -> str:
    shape = "x".join(map(str, sample.values.shape))
    return "all of the variable" if sample.whole else f"a sample of {shape}"


def _first(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{(lines[0] if lines else type(error).__name__).rstrip('.')}."
