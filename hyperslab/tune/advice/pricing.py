"""What candidates cost by prediction: counted, with what their codecs do to the sample."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from hyperslab.io.chunk_shapes import chunk_grid, padded_bytes
from hyperslab.io.sources.base import SourceVariable, first_line
from hyperslab.measure.processes import Processes

from .accesses import Access
from .advised import Row
from .candidates import NOW, Candidate
from .costs import Calibration
from .counts import Read, counts_of
from .fetches import UncalibratedError
from .question import Subject
from .sample import Packed, pack


class Pricing:
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
            why = sentence(error)
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


def sentence(error: BaseException) -> str:
    """Return the first line of a message, ended by one stop."""
    return f"{first_line(error).rstrip('.')}."
