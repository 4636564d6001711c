"""What is asked of a file, and what is known of it before anything is predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from hyperslab.io.cards import readers
from hyperslab.io.layout import CLASSIC, ZARR
from hyperslab.io.source import open_source
from hyperslab.io.sources.base import Source, SourceVariable, is_url
from hyperslab.measure.cold import can_evict
from hyperslab.measure.machine import memory_bytes
from hyperslab.network.link import Link

from ..specs.axes import largest
from .accesses import Access, letters_of, resolve
from .candidates import Candidate, layouts, now, remedies
from .sample import SAMPLE_BYTES, Sample, take

FAR = Link(100e6, 0.03)  # what is taken for a store that is far where nobody says more
_CARRIED_S, _LEAST_BYTES = 1.0, 2**20


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
    most_bytes: float | None = None  # for the variable in a new layout; None for `most_times`
    most_times: float = 1.25  # the same as a multiple of what it takes now
    measured: int = 4  # the best layouts that are measured, and as many remedies
    repeats: int = 7  # blocks
    seed: int = 0  # of their order
    sample_bytes: int = SAMPLE_BYTES
    screened: int = 0  # blocks after which what is clearly slower is left out; 0 for never
    workdir: Path = Path()  # where these files are made and removed

    def __post_init__(self) -> None:
        if self.cache not in ("auto", "warm", "cold"):
            raise ValueError(f"--cache {self.cache}: give warm, cold or auto")
        if self.calls < 1:
            raise ValueError(f"--calls {self.calls}: give at least 1")
        if self.repeats < 1:
            raise ValueError(f"--repeats {self.repeats}: give at least 1")
        if self.measured < 0:
            raise ValueError(f"--measure {self.measured}: give 0 (predict only) or more")

    def library_for(self, source: Source, variable: SourceVariable) -> str:
        """Return what reads a variable of the file now."""
        far = self.link is not None or is_url(source.address)
        address = self.url or source.address
        place = "file" if not far else "s3" if address.startswith("s3:") else "http"
        if self.library:
            able = readers(variable.layout or source.format, place=place)
            if self.library not in able:
                where = " over a network" if far else ""
                raise ValueError(
                    f"--library {self.library}: it does not read {variable.name}, "
                    f"{source.format}{where}: give one of {', '.join(able)}"
                )
            return self.library
        if source.format in ZARR:
            return "nczarr" if source.format == "nczarr" and not far else "zarr"
        hdf5 = source.format not in CLASSIC
        return "h5py" if source.format == "hdf5" or (far and hdf5) else "netcdf4"

    def state(self, size: int) -> str:
        """Return the cache state that reads of a file of so many bytes are measured in."""
        if self.cache != "auto":
            return self.cache
        return "cold" if size > memory_bytes() / 2 and can_evict() else "warm"


@dataclass(frozen=True)
class Subject:
    """What is asked about, and what is known of it before anything is predicted."""

    question: Question
    variable: SourceVariable
    accesses: tuple[Access, ...]
    letters: tuple[str, ...]  # the axis of each dimension, T, Z, Y, X or ""
    twins: tuple[str, ...]  # variables of the same dimensions and type: they get the same layout
    format: str  # of the file
    unkept: tuple[str, ...]  # what a copy of the file would lack, a sentence each
    grouped: bool  # whether variables of it lie in groups
    cache: str  # "warm" or "cold"
    present: Candidate  # the file as it is
    candidates: tuple[Candidate, ...]  # what may be advised
    sample: Sample
    near: tuple[Access, ...]  # the accesses of the sample


def subject_of(question: Question) -> Subject:
    """Open the file, resolve the question and read the sample.

    A SourceError says that the file cannot be read or has no such variable, a ValueError that it
    has no such access, or that no layout is among the formats and codecs.
    """
    with open_source(question.address) as source:
        named = question.variable
        variable = source.choose([named])[0] if named else largest(source)
        accesses = resolve(
            question.shares, variable, source.variables, question.roles, question.calls
        )
        letters = letters_of(variable, source.variables, question.roles)
        present = now(source.format, variable, question.library_for(source, variable))
        candidates = _candidates(question, present, variable, accesses)
        most = question.sample_bytes
        if question.link and question.measured and not missing():
            most = carried_bytes(question.link, most)
        sample = take(source, variable, accesses, most)
        axes = {d: x for d, x in zip(variable.dims, letters, strict=True) if x}
        near = resolve(
            {access.name: access.weight for access in accesses}, sample.variable,
            {sample.variable.name: sample.variable}, axes, question.calls, fewer=True,
        )  # fmt: skip
        return Subject(
            question, variable, accesses, letters,
            twins=tuple(
                v.name for v in source.variables.values()
                if v.copyable and (v.dims, v.dtype) == (variable.dims, variable.dtype)
            ),
            format=source.format,
            unkept=source.unkept,
            grouped=any("/" in name for name in source.variables),
            cache=question.state(max(source.stat_bytes, variable.nbytes)),
            present=present,
            candidates=candidates,
            sample=sample,
            near=near,
        )  # fmt: skip


def _candidates(
    question: Question, present: Candidate, variable: SourceVariable, accesses: Sequence[Access]
) -> tuple[Candidate, ...]:
    """Return the remedies and layouts; refuse formats and codecs that no layout has."""
    far, only = question.link is not None, (question.formats, question.codecs)
    calls = max(len(access.selections) for access in accesses)
    fresh = layouts(
        present, variable, accesses, remote=far, formats=only[0], codecs=only[1],
        call_s=question.link.round_trip_s if question.link else 0.0,
    )  # fmt: skip
    if any(only) and not fresh:
        words = zip(("--formats", "--codecs"), only, strict=True)
        given = " ".join(f"{option} {','.join(names)}" for option, names in words if names)
        raise ValueError(
            f"{given}: no layout has chunks and these: give formats of netcdf4, hdf5, zarr2, "
            "zarr3, and codecs that they have, such as none, deflate, zstd"
        )
    return (*remedies(present, remote=far, calls=calls, grouped="/" in variable.name), *fresh)


def missing() -> tuple[str, ...]:
    """Return what is not installed and is needed to serve a folder and read from it."""
    return tuple(name for name in ("aiohttp", "fsspec") if find_spec(name) is None)


def carried_bytes(link: Link, most: int) -> int:
    """Return the bytes of values to measure on: what a link carries in a second, 1 MiB at least."""
    return min(max(int(min(link.bytes_per_s * _CARRIED_S, most)), _LEAST_BYTES), most)
