"""From a question to ranked advice: predicted, the best of it measured, in order of gain."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from hyperslab.io.cards import readers
from hyperslab.io.chunk_shapes import chunk_grid, padded_bytes
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import DISCARDED
from hyperslab.measure.stats import median_interval, paired_ratio
from hyperslab.network.link import Link
from hyperslab.text import Interval, listing

from ..partial import scratch_folder
from ..sources.base import SourceVariable, first_line
from .accesses import Access
from .candidates import NOW, Candidate
from .costs import Calibration
from .counts import Counts, Read, counts_of
from .fetches import UncalibratedError
from .question import FAR, Subject, missing
from .sample import Packed, pack
from .trials import mix_s, screened, try_out
from .visit import MODULES

_REFINED = 12  # candidates whose compression is measured with chunks of their own
_WORTH = 1.1  # a gain below that is none
_SCRATCH = "advise"


@dataclass(frozen=True)
class Row:
    """One candidate with what is known of it."""

    candidate: Candidate
    counts: Mapping[str, Counts]  # what each access touches
    nbytes: float  # that the variable takes
    seconds: Mapping[str, float]  # predicted for the file, by access; empty where they cannot be
    mean_s: float = math.nan  # the same on average over the mix
    sample_s: float = math.nan  # the same for the sample
    gain: float = math.nan  # predicted: the time now over that with the candidate
    sample_gain: float = math.nan  # the same, for the sample
    measured: Mapping[str, Interval] | None = None  # seconds on the sample, by access
    measured_gain: Interval | None = None  # on the sample
    left_early: bool = False  # whether it was clearly slower than others and measured no further
    status: str = ""  # why it could not be predicted or measured

    @property
    def scaled_gain(self) -> float:
        """The gain that is expected of the whole file, from the measured one where there is one."""
        if self.measured_gain is None:
            return self.gain
        off = self.gain / self.sample_gain if self.sample_gain > 0 else math.nan
        return self.measured_gain.value * (off if math.isfinite(off) else 1.0)

    @property
    def order(self) -> tuple[bool, bool, float, float, float]:
        """Measured first, then by gain, or by time where no gain is known; the unpredicted last.

        What was left early stands behind what was measured on: gains of other blocks do not
        compare.
        """
        gain = self.scaled_gain
        return (
            self.measured_gain is None,
            self.left_early,
            -gain if math.isfinite(gain) else math.inf,
            self.mean_s if math.isfinite(self.mean_s) else math.inf,
            self.nbytes,
        )


@dataclass(frozen=True)
class Advice:
    """What is advised for a file."""

    subject: Subject
    present: Row  # the file as it is
    rows: tuple[Row, ...]  # candidates, the best first
    beyond: tuple[Row, ...]  # candidates that take more room than is allowed
    predictor: str  # what predicted
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
        first = self.first
        others = (row for row in self.rows
                  if first and row.candidate.rewrites != first.candidate.rewrites)  # fmt: skip
        best = next(others, None)
        return best if best is not None and best.scaled_gain >= _WORTH else None

    @property
    def gains_known(self) -> bool:
        """Whether a gain is known of any candidate."""
        return any(math.isfinite(row.scaled_gain) for row in self.rows)


def advise(
    subject: Subject, calibration: Calibration, say: Callable[[str], None] | None = None
) -> Advice:
    """Predict all candidates, measure the best, and rank them.

    A BusyError says that another run is measuring on this machine.
    """
    with Processes(MODULES) as processes:
        advice = predicted(subject, calibration, processes)
        if say and subject.question.measured:
            say(f"measuring the best of {len(advice.rows)} on {subject.sample.words}")
        return measured(advice, processes)


def predicted(subject: Subject, calibration: Calibration, processes: Processes) -> Advice:
    """Return the advice that follows from counts alone, with what the codecs do to the sample."""
    with scratch_folder(subject.question.workdir, _SCRATCH) as scratch:
        pricing = _Pricing(subject, calibration, scratch, processes)
        present = pricing.row(subject.present)
        present = replace(present, gain=1.0, sample_gain=1.0) if present.seconds else present
        failed = Counter[str]()

        def price(candidate: Candidate, *, alone: bool) -> Row | None:
            try:
                row = pricing.row(candidate, alone=alone)
            except (OSError, RuntimeError) as error:  # of the library that should write it
                layout = candidate.layout
                failed[f"{layout.codec} in {layout.format}: {_sentence(error)}"] += 1
                return None
            gains = present.mean_s / row.mean_s, present.sample_s / row.sample_s
            return replace(row, gain=gains[0], sample_gain=gains[1])

        priced = [row for one in subject.candidates if (row := price(one, alone=False)) is not None]
        priced.sort(key=lambda row: row.order)
        finer = (price(row.candidate, alone=True) for row in priced[:_REFINED])
        priced = [*(row for row in finer if row is not None), *priced[_REFINED:]]
    most = subject.question.most_bytes
    room = subject.question.most_times * present.nbytes if most is None else most
    allowed = [row for row in priced if not row.candidate.rewrites or row.nbytes <= room]
    beyond = [row for row in priced if row not in allowed]
    said = [] if calibration.made else [
        f"times are predicted from {calibration.name}, not from this machine's; hyperslab advise "
        "--calibrate measures it."
    ]  # fmt: skip
    said += [_beyond(beyond, present)] if beyond else []
    if subject.unkept:
        some = listing([text.rstrip(".") for text in subject.unkept], 5)
        said.append(f"a copy by hyperslab rechunk would not hold all of the file: {some}.")
    said += sorted({r.status for r in (present, *priced) if r.status and r.candidate.described})
    said += [f"{n} layout{'s' * (n > 1)} cannot be written, {why}" for why, n in failed.items()]
    rows = tuple(sorted(allowed, key=lambda row: row.order))
    return Advice(subject, present, rows, tuple(beyond), calibration.name, tuple(said))


def _beyond(rows: Sequence[Row], present: Row) -> str:
    """Say what takes more room than is allowed, and which of it is the fastest."""
    best = min(rows, key=lambda row: row.order)
    gain = f"{best.gain:.1f} times as fast as the file is now, and " if best.gain > 0 else ""
    return (
        f"{len(rows)} layout{'s' * (len(rows) > 1)} would take more room than allowed: by "
        f"prediction the fastest of them, {best.candidate.name}, is {gain}"
        f"{best.nbytes / present.nbytes:.2f} times as large as the variable is now; --budget any "
        "ranks them too."
    )


def _sentence(error: BaseException) -> str:
    """Return the first line of a message, ended by one stop."""
    return f"{first_line(error).rstrip('.')}."


class _Pricing:
    """What candidates cost: counted, with what their codecs do to the sample."""

    def __init__(
        self, subject: Subject, calibration: Calibration, scratch: Path, processes: Processes
    ) -> None:
        self.subject, self.calibration = subject, calibration
        self.scratch, self.processes = scratch, processes
        self.known: dict[object, Packed] = {}
        # What a value takes in the file as it is, over what one of the sample takes so.
        self.factor, present = 1.0, subject.present
        if self.own_value_bytes and present.described and present.layout.codec is not None:
            self.factor = self.own_value_bytes / self.packed(present, alone=True).value_bytes

    @property
    def own_value_bytes(self) -> float:
        """Bytes that a value takes in the file as it is; 0 where that is unknown."""
        variable = self.subject.variable
        return (variable.stored_bytes or 0) / math.prod(variable.shape)

    def row(self, candidate: Candidate, *, alone: bool = True) -> Row:
        """Return what is counted and predicted of a candidate."""
        subject, variable = self.subject, self.subject.variable
        packed = self.packed(candidate, alone=alone)
        whole = packed.times(self.factor) if candidate.layout.codec is not None else packed
        if not candidate.rewrites and self.own_value_bytes:
            whole = replace(whole, value_bytes=self.own_value_bytes)
        reads = {a.name: read_of(candidate, subject, a, whole) for a in subject.accesses}
        counts = {name: counts_of(read) for name, read in reads.items()}
        row = Row(candidate, counts, variable_bytes(candidate, variable, whole.value_bytes), {})
        near = replace(candidate, layout=subject.sample.clipped(candidate.layout))
        small = {
            a.name: read_of(near, subject, a, packed, subject.sample.variable) for a in subject.near
        }
        try:
            if not candidate.described:
                raise UncalibratedError(
                    f"how {variable.name} is stored ({variable.codec or 'its layout'}) is none of "
                    "the layouts known here: what its reads cost now is not known, and so no gain "
                    "is."
                )
            seconds, near_s = (
                {name: self.calibration.predict(read).seconds for name, read in each.items()}
                for each in (reads, small)
            )
        except UncalibratedError as error:
            why = _sentence(error)
            if candidate.kind == NOW and candidate.described:
                why = f"{why[:-1]}: what reads cost now is not predicted, nor is a gain."
            return replace(row, status=why)
        mean, sample = (
            sum(access.weight * each[access.name] for access in subject.accesses)
            for each in (seconds, near_s)
        )
        return replace(row, seconds=seconds, mean_s=mean, sample_s=sample)

    def packed(self, candidate: Candidate, *, alone: bool) -> Packed:
        """Return what a codec does to values, measured once a codec, or for a layout alone."""
        layout = candidate.layout
        if not candidate.described and self.own_value_bytes:
            return Packed(self.own_value_bytes)
        if layout.codec is None:
            return Packed(float(self.subject.variable.itemsize))
        key: tuple[object, ...] = (layout.codec, layout.level, layout.shuffle, layout.format)
        if alone:
            key = (*key, layout.chunks, candidate.library)
        if key not in self.known:
            sample = self.subject.sample
            clipped = sample.clipped(layout)
            block = sample.block(clipped.chunks)
            packed = pack(
                block, clipped, candidate.library, self.calibration, self.scratch, self.processes
            )
            self.known[key] = packed.times(sample.weight(block))
        return self.known[key]


def read_of(
    candidate: Candidate,
    subject: Subject,
    access: Access,
    packed: Packed,
    variable: SourceVariable | None = None,
) -> Read:
    """Return what the model takes: one access with one candidate, of the file or of the sample.

    Over a network an access opens the file, since libraries fetch values with that.
    """
    variable, layout = variable or subject.variable, candidate.layout
    if not candidate.described and layout.chunks:
        layout = replace(layout, codec="deflate")  # whatever it is, chunks are decoded whole
    chunk = math.prod(layout.chunks or variable.shape)
    whole = packed.decode_s is not None and candidate.library != "subchunk"
    return Read(
        variable.shape,
        variable.dtype,
        layout,
        access.selections,
        candidate.library,
        chunk_bytes=chunk * packed.value_bytes if layout.codec else None,
        cache=subject.cache,
        link=subject.question.link,
        cache_bytes=candidate.cache_bytes,
        decode_s=chunk * (packed.decode_s or 0.0) if whole else None,
        opens=subject.question.link is not None,
    )


def variable_bytes(candidate: Candidate, variable: SourceVariable, value_bytes: float) -> float:
    """Return the bytes that a variable takes in a layout, padding included."""
    if not candidate.rewrites and variable.stored_bytes:
        return float(variable.stored_bytes)
    chunks = candidate.layout.chunks
    if chunks is None:
        return float(variable.nbytes)
    if candidate.layout.codec is None:
        return float(padded_bytes(variable.shape, chunks, variable.itemsize))
    return math.prod(variable.shape) * value_bytes + 30 * math.prod(
        chunk_grid(variable.shape, chunks)
    )


def measured(advice: Advice, processes: Processes) -> Advice:
    """Return advice with its best layouts and remedies measured on the sample, as it is asked."""
    subject, question = advice.subject, advice.subject.question
    link, absent = question.link, missing() if question.link else ()
    if not question.measured or absent or not subject.present.described:
        if link is None:
            return advice
        why = f", since {' and '.join(absent)} is not installed" if absent else ""
        unmeasured = (
            f"nothing was measured over the network{why}: every time and gain is predicted, for a "
            f"store {_away(link)}"
        )
        return replace(advice, notes=(*advice.notes, unmeasured))
    chosen = (advice.present, *_to_measure(advice.rows, question.measured))
    with scratch_folder(question.workdir, _SCRATCH) as scratch:
        frame = try_out([row.candidate for row in chosen], subject, scratch, processes)
    known = _joined(advice, chosen, frame)
    said = [
        "what was measured was read from a server on this machine, over a link as slow as to a "
        f"store {_away(link)} What the store itself takes for a request comes on top."
    ] if link else []  # fmt: skip
    return replace(
        known,
        rows=tuple(sorted(known.rows, key=lambda row: row.order)),
        notes=(*known.notes, *said),
    )


def _away(link: Link) -> str:
    """Return how far a store is, and how to say otherwise, ended by a stop."""
    return (
        f"{link.bytes_per_s / 1e6:g} MB/s and {link.round_trip_s * 1e3:g} ms away"
        f"{', which is assumed' if link is FAR else ''}; --store RATE,DELAY says where yours is."
    )


def _to_measure(rows: Sequence[Row], most: int) -> list[Row]:
    """Return the best layouts and the best remedies."""
    referred = "kerchunk" in readers(place="http")
    able = [row for row in rows if referred or row.candidate.remedy != "references"]
    fresh = [row for row in able if row.candidate.rewrites]
    others = [row for row in able if not row.candidate.rewrites]
    return [*fresh[:most], *others[:most]]


def _joined(advice: Advice, chosen: Sequence[Row], frame: pd.DataFrame) -> Advice:
    """Return advice with what was measured of the file as it is and of candidates, and notes."""
    subject, blocks = advice.subject, range(advice.subject.question.repeats)
    frame = frame[frame["aa"] != DISCARDED]
    reads = frame[(frame["status"] == "ok") & (frame["phase"] == "read")]
    main, again = reads[reads["aa"] != "B"], reads[reads["aa"] == "B"]

    def mixes(reads: pd.DataFrame, row: Row) -> pd.Series[float]:
        """Return the seconds of an average read in each block; NaN where an access has none."""
        own = reads[reads["case"] == row.candidate.name]
        table = own.pivot_table(index="block", columns="pattern", values="wall_s")
        return mix_s(subject.near, table.reindex(blocks))

    def why(row: Row) -> str:
        bad = frame[(frame["case"] == row.candidate.name) & (frame["status"] != "ok")]
        return str(bad["status"].iloc[0]).rstrip(".") if len(bad) else "it cannot be written so"

    base = mixes(main, advice.present)
    if base.isna().all():
        status = (
            f"reads of the file as it is could not be measured ({why(advice.present)}): no gain "
            "is known."
        )
        present, *rows = (
            replace(row, gain=math.nan, sample_gain=math.nan)
            for row in (advice.present, *advice.rows)
        )
        present = replace(present, status=status)
        return replace(advice, present=present, rows=tuple(rows), notes=(*advice.notes, status))
    early = screened(subject.question)
    onward = set(frame.loc[frame["block"] >= early, "case"])
    known, said = dict[str, Row](), list(advice.notes)
    for row in chosen:
        name, mix = row.candidate.name, mixes(main, row)
        if (mix + base).isna().all():
            said.append(f"{name} was not measured: {why(row)}.")
            known[name] = replace(row, status=why(row))
            continue
        own = main[main["case"] == name].groupby("pattern")["wall_s"]
        known[name] = replace(
            row,
            measured={a.name: median_interval(own.get_group(a.name)) for a in subject.near},
            measured_gain=paired_ratio(base, mix),
            left_early=early > 0 and name not in onward,
        )
    twice = mixes(again, advice.present)
    if twice.notna().any():
        said.append(
            f"the file as it is, measured twice, differs by a factor of "
            f"{paired_ratio(base, twice)}: a gain within that means nothing."
        )
    present, *rows = (known.get(r.candidate.name, r) for r in (advice.present, *advice.rows))
    return replace(advice, present=present, rows=tuple(rows), notes=tuple(said))
