"""What reads cost before anything is measured: counts of chunks and bytes, and predicted times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from hyperslab.io.chunk_shapes import chunk_grid, padded_bytes
from hyperslab.io.layout import Layout
from hyperslab.measure.processes import Processes
from hyperslab.network.link import Link

from ..model.geometry import Geometry, geometry
from ..model.read import Read
from ..sources.base import SourceVariable
from .accesses import Access
from .candidates import Candidate

EVERY_BYTES = 40 * 2**10  # between points of a sub-chunk index, about, at its default size


@dataclass(frozen=True)
class Packed:
    """What a codec does to the values of a variable.

    Parameters
    ----------
    value_bytes
        Bytes that a value takes as stored.
    decode_s
        Seconds to decode a value; None where that was not measured.
    """

    value_bytes: float
    decode_s: float | None = None

    def times(self, factor: float) -> Packed:
        """Return the same of values of which so many times as many say something."""
        decode_s = None if self.decode_s is None else self.decode_s * factor
        return Packed(self.value_bytes * factor, decode_s)


class Predictor(Protocol):
    """Something that says how long a read takes."""

    @property
    def name(self) -> str:
        """What it is, for notes."""

    def seconds(self, read: Read) -> float:
        """Return the seconds of a read; an UncalibratedError says that it cannot."""

    def packed(
        self,
        values: NDArray[Any],
        layout: Layout,
        library: str,
        folder: Path,
        processes: Processes,
    ) -> Packed:
        """Store values in a layout, and say what that does to them."""


@dataclass(frozen=True)
class Where:
    """Where the file lies when it is read.

    Parameters
    ----------
    cache
        "warm": in memory, or "cold": on the disk.
    link
        The way to a far store; None for this machine's disk.
    """

    cache: str = "warm"
    link: Link | None = None


@dataclass(frozen=True)
class Price:
    """What the accesses cost with one candidate.

    Parameters
    ----------
    seconds
        Predicted, by access; empty where it cannot be predicted.
    counts
        By access.
    nbytes
        Bytes that the variable takes.
    """

    seconds: Mapping[str, float]
    counts: Mapping[str, Geometry]
    nbytes: float

    def mix_s(self, accesses: Sequence[Access]) -> float:
        """Return seconds of a read on average over the mix; NaN where that is unknown."""
        if not self.seconds:
            return math.nan
        return sum(access.weight * self.seconds[access.name] for access in accesses)


def read_of(
    candidate: Candidate,
    variable: SourceVariable,
    access: Access,
    packed: Packed,
    where: Where,
) -> Read:
    """Return what the model takes: one access with one candidate.

    Over a network an access opens the file, since libraries fetch values with that.

    Parameters
    ----------
    candidate, access, where
        What is read, how, and where it lies.
    variable
        Its shape and type are those that count.
    packed
        What its codec does to the values.
    """
    layout = candidate.layout
    if not candidate.said and layout.chunks:
        layout = replace(layout, codec="deflate")  # whatever it is, chunks are decoded whole
    chunk = math.prod(layout.chunks or variable.shape)
    decode_s = None if packed.decode_s is None else chunk * packed.decode_s
    if candidate.library == "subchunk":  # it decodes parts of chunks
        decode_s = None
    return Read(
        variable.shape,
        variable.dtype,
        layout,
        access.selections,
        candidate.library,
        chunk_bytes=chunk * packed.value_bytes if layout.codec else None,
        cache=where.cache,
        link=where.link,
        cache_bytes=candidate.cache_bytes,
        decode_s=decode_s,
        opens=where.link is not None,
    )


def price(
    candidate: Candidate,
    variable: SourceVariable,
    accesses: Sequence[Access],
    packed: Packed,
    where: Where,
    predictor: Predictor,
) -> Price:
    """Count what each access touches, and predict its time.

    Parameters
    ----------
    candidate, variable, packed, where
        See `read_of`.
    accesses
        How it is read.
    predictor
        Says seconds.

    Raises
    ------
    ValueError
        When the predictor knows neither the codec nor the library.
    """
    reads = {
        access.name: read_of(candidate, variable, access, packed, where) for access in accesses
    }
    seconds = {name: predictor.seconds(read) for name, read in reads.items()}
    return Price(seconds, counted(reads), variable_bytes(candidate, variable, packed.value_bytes))


def counted(reads: Mapping[str, Read]) -> dict[str, Geometry]:
    """Return the counts of reads by name."""
    return {name: geometry(read) for name, read in reads.items()}


def variable_bytes(candidate: Candidate, variable: SourceVariable, value_bytes: float) -> float:
    """Return the bytes that a variable takes in a layout, padding included.

    Where it stays as it is, they are those that it takes in the file.

    Examples
    --------
    >>> from hyperslab.io import Layout
    >>> found = Candidate("a", "layout", Layout("netcdf4", (6, 6)), "netcdf4")
    >>> variable_bytes(found, SourceVariable("v", ("y", "x"), (10, 10), "f4"), 4.0)
    576.0
    """
    if not candidate.rewrites and variable.stored_bytes:
        return float(variable.stored_bytes)
    chunks = candidate.layout.chunks
    if chunks is None:
        return float(variable.nbytes)
    if candidate.layout.codec is None:
        return float(padded_bytes(variable.shape, chunks, variable.itemsize))
    count = math.prod(chunk_grid(variable.shape, chunks))
    return math.prod(variable.shape) * value_bytes + 30 * count
