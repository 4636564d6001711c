"""What candidates cost by prediction: counted, with what their codecs do to the sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hyperslab.io.chunk_shapes import chunk_grid, padded_bytes
from hyperslab.io.source import SourceVariable, first_line
from hyperslab.measure.processes import Processes
from hyperslab.text import Interval

from .accesses import Access
from .candidates import NOW, Candidate
from .costs import Calibration
from .counts import Counts, Read, counts_of
from .fetches import UncalibratedError
from .question import Subject
from .sample import Packed, pack


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
        """Measured first, what was left early last of it; by gain, else by time."""
        gain = self.scaled_gain
        return (
            self.measured_gain is None,
            self.left_early,
            -gain if math.isfinite(gain) else math.inf,
            self.mean_s if math.isfinite(self.mean_s) else math.inf,
            self.nbytes,
        )


class Pricing:
    """The prices of the candidates for one file, with what codecs do to its sample kept."""

    def __init__(
        self, subject: Subject, calibration: Calibration, scratch: Path, processes: Processes
    ) -> None:
        self.subject, self.calibration = subject, calibration
        self.scratch, self.processes = scratch, processes
        self.packings: dict[object, Packed] = {}
        variable, present = subject.variable, subject.present
        # Bytes that a value takes in the file as it is; 0 where that is unknown.
        self.value_bytes = (variable.stored_bytes or 0) / math.prod(variable.shape)
        self.factor = 1.0  # the same over what a value of the sample takes so
        if self.value_bytes and present.described and present.layout.codec is not None:
            self.factor = self.value_bytes / self.packed(present, alone=True).value_bytes

    def row(self, candidate: Candidate, *, alone: bool = True) -> Row:
        """Return what is counted and predicted of a candidate."""
        subject, variable, sample = self.subject, self.subject.variable, self.subject.sample
        packed = self.packed(candidate, alone=alone)
        whole = packed.times(self.factor) if candidate.layout.codec is not None else packed
        if not candidate.rewrites and self.value_bytes:
            whole = replace(whole, value_bytes=self.value_bytes)
        reads = {a.name: read_of(candidate, subject, a, whole) for a in subject.accesses}
        counts = {name: counts_of(read) for name, read in reads.items()}
        nbytes = _variable_bytes(candidate, variable, whole.value_bytes)
        row = Row(candidate, counts, nbytes, {})
        near = replace(candidate, layout=sample.clipped(candidate.layout))
        small = {a.name: read_of(near, subject, a, packed, sample.variable) for a in subject.near}
        if not candidate.described:
            why = (
                f"how {variable.name} is stored ({variable.codec or 'its layout'}) is none of the "
                "layouts known here: what its reads cost now is not known, and so no gain is."
            )
            return replace(row, status=why)
        try:
            seconds, near_s = (
                {name: self.calibration.predict(read).seconds for name, read in each.items()}
                for each in (reads, small)
            )
        except UncalibratedError as error:
            why = sentence(error)
            if candidate.kind == NOW:
                why = f"{why[:-1]}: what reads cost now is not predicted, nor is a gain."
            return replace(row, status=why)
        mean_s, sample_s = (
            sum(access.weight * each[access.name] for access in subject.accesses)
            for each in (seconds, near_s)
        )
        return replace(row, seconds=seconds, mean_s=mean_s, sample_s=sample_s)

    def packed(self, candidate: Candidate, *, alone: bool) -> Packed:
        """Return what a codec does to values, measured once a codec, or for a layout alone."""
        layout, sample = candidate.layout, self.subject.sample
        if not candidate.described and self.value_bytes:
            return Packed(self.value_bytes)
        if layout.codec is None:
            return Packed(float(self.subject.variable.itemsize))
        key: tuple[object, ...] = (layout.codec, layout.level, layout.shuffle, layout.format)
        if alone:
            key = (*key, layout.chunks, candidate.library)
        if key not in self.packings:
            clipped = sample.clipped(layout)
            block = sample.block(clipped.chunks)
            packed = pack(
                block, clipped, candidate.library, self.calibration, self.scratch, self.processes
            )
            self.packings[key] = packed.times(sample.weight(block))
        return self.packings[key]


def read_of(
    candidate: Candidate,
    subject: Subject,
    access: Access,
    packed: Packed,
    variable: SourceVariable | None = None,
) -> Read:
    """Return what the model takes: one access with one candidate, of the file or of the sample."""
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
    )


def _variable_bytes(candidate: Candidate, variable: SourceVariable, value_bytes: float) -> float:
    """Return the bytes that a variable takes in a layout, padding included."""
    chunks = candidate.layout.chunks
    if not candidate.rewrites and variable.stored_bytes:
        return float(variable.stored_bytes)
    if chunks is None:
        return float(variable.nbytes)
    if candidate.layout.codec is None:
        return float(padded_bytes(variable.shape, chunks, variable.itemsize))
    number = math.prod(chunk_grid(variable.shape, chunks))
    return math.prod(variable.shape) * value_bytes + 30 * number


def sentence(error: BaseException) -> str:
    """Return the first line of a message, ended by one stop."""
    return f"{first_line(error).rstrip('.')}."
