"""What is asked of a file, and what is known of it before anything is predicted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hyperslab.io.cards import readers
from hyperslab.io.opening import open_source
from hyperslab.io.source import Source, SourceVariable
from hyperslab.measure.cold import can_evict
from hyperslab.measure.machine import memory_bytes
from hyperslab.network.link import Link
from hyperslab.subchunk.place import is_url

from ..specs.axes import largest
from ..specs.parse import size
from .accesses import Access, letters_of, resolve
from .candidates import Candidate, layouts, now, remedies, usual_library
from .sample import SAMPLE_BYTES, Sample, take

FAR = Link(100e6, 0.03)  # what is taken for a store that is far where nobody says more
_LEAST_BYTES = 2**20  # of values that are measured over a network


def room(budget: str, now_bytes: float) -> float:
    """Return the bytes that are allowed: a multiple of the present ones (2x), 5GB, or any."""
    if budget == "any":
        return math.inf
    times, value = re.fullmatch(r"(\d+(?:\.\d+)?)x", budget), 0.0
    with suppress(ValueError):
        value = float(times[1]) * now_bytes if times else float(size(budget))
    if not value:
        raise ValueError(
            f"--budget {budget}: give a multiple above 0 such as 1.5x, bytes such as 2GB, or any"
        )
    return value


@dataclass(frozen=True)
class Question:
    """What is asked of a file."""

    address: str  # a path, or a URL
    shares: Mapping[str, float] = field(default_factory=dict)  # of each access; see `weights`
    variable: str = ""  # the largest if empty
    roles: Mapping[str, str] = field(default_factory=dict)  # axes (T, Z, Y, X) of dimensions
    calls: int = 1  # reads of each access, one after another
    library: str = ""  # what reads the file now; the usual one of its format if empty
    link: Link | None = None  # the way to the store; None for this machine's disk
    url: str = ""  # address in the store, where it is known; "" for `address`
    cache: str = "auto"  # "warm", "cold", or cold where the file is larger than half of the memory
    formats: tuple[str, ...] = ()  # of new layouts; the file's own and Zarr 3 if empty
    codecs: tuple[str, ...] = ()  # of new layouts; all that a format has if empty
    budget: str = "1.25x"  # for the variable in a new layout; see `room`
    measured: int = 4  # the best layouts that are measured, and as many remedies
    repeats: int = 7  # blocks
    seed: int = 0  # of their order
    sample_bytes: int = SAMPLE_BYTES
    screened: int = 0  # blocks after which what is clearly slower is left out; 0 for never
    workdir: Path = Path()  # where these files are made and removed

    def __post_init__(self) -> None:
        if self.cache not in ("auto", "warm", "cold"):
            raise ValueError(f"--cache {self.cache}: give warm, cold or auto")
        room(self.budget, 1)
        for option, number in (("calls", self.calls), ("repeats", self.repeats)):
            if number < 1:
                raise ValueError(f"--{option} {number}: give at least 1")
        if self.measured < 0:
            raise ValueError(f"--measure {self.measured}: give 0 (predict only) or more")

    def library_for(self, source: Source, variable: SourceVariable) -> str:
        far = self.link is not None or is_url(source.address)
        if self.library:
            s3 = (self.url or source.address).startswith("s3:")
            place = "file" if not far else "s3" if s3 else "http"
            able = readers(variable.layout or source.format, place=place)
            if self.library not in able:
                where = " over a network" if far else ""
                raise ValueError(
                    f"--library {self.library}: it does not read {variable.name}, "
                    f"{source.format}{where}: give one of {', '.join(able)}"
                )
            return self.library
        return usual_library(source.format, far=far)


@dataclass(frozen=True)
class Subject:
    """What is asked about, and what is known of it before anything is predicted."""

    question: Question
    variable: SourceVariable
    accesses: tuple[Access, ...]
    letters: tuple[str, ...]  # the axis of each dimension, T, Z, Y, X or ""
    twins: tuple[str, ...]  # variables of the same dimensions and type: they get the same layout
    unkept: tuple[str, ...]  # what a copy of the file would lack, a sentence each
    cache: str  # "warm" or "cold"
    present: Candidate  # the file as it is
    candidates: tuple[Candidate, ...]  # what may be advised
    sample: Sample
    near: tuple[Access, ...]  # the accesses of the sample


def subject_of(question: Question) -> Subject:
    """Open the file, resolve the question, read the sample; a ValueError says what is not there."""
    with open_source(question.address) as source:
        named = question.variable
        variable = source.choose([named])[0] if named else largest(source)
        letters = letters_of(variable, source.variables, question.roles)
        accesses = resolve(question.shares, variable, letters, question.calls)
        present = now(source.format, variable, question.library_for(source, variable))
        candidates = _candidates(question, present, variable, accesses)
        most, cache = question.sample_bytes, question.cache
        if question.link and question.measured:  # what it carries in a second
            most = int(min(max(question.link.bytes_per_s, _LEAST_BYTES), most))
        sample = take(source, variable, accesses, most)
        shares = {access.name: access.weight for access in accesses}
        near = resolve(shares, sample.variable, letters, question.calls, fewer=True)
        if cache == "auto":
            large = max(source.stat_bytes, variable.nbytes) > memory_bytes() / 2
            cache = "cold" if large and can_evict() else "warm"
        return Subject(
            question, variable, accesses, letters,
            twins=tuple(
                v.name for v in source.variables.values()
                if not v.reason and (v.dims, v.dtype) == (variable.dims, variable.dtype)
            ),
            unkept=source.unkept(),
            cache=cache,
            present=present,
            candidates=candidates,
            sample=sample,
            near=near,
        )  # fmt: skip


def _candidates(
    question: Question, present: Candidate, variable: SourceVariable, accesses: Sequence[Access]
) -> tuple[Candidate, ...]:
    """Return the remedies and layouts; refuse formats and codecs that no layout has."""
    link, formats, codecs = question.link, question.formats, question.codecs
    fresh = layouts(present, variable, accesses, link=link, formats=formats, codecs=codecs)
    if (formats or codecs) and not fresh:
        words = {"--formats": formats, "--codecs": codecs}
        given = " ".join(f"{option} {','.join(some)}" for option, some in words.items() if some)
        raise ValueError(
            f"{given}: no layout has chunks and these: give formats of netcdf4, hdf5, zarr2, "
            "zarr3, and codecs that they have, such as none, deflate, zstd"
        )
    grouped = "/" in variable.name
    return (*remedies(present, accesses, remote=link is not None, grouped=grouped), *fresh)
