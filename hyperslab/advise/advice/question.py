"""What is asked of a file: which variable, read how, from where, within which limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hyperslab.access.registry import readers
from hyperslab.measure.cold import can_evict
from hyperslab.network.link import Link
from hyperslab.storage.layout import CLASSIC, ZARR

from ..sources.base import Source, SourceError, SourceVariable
from ..sources.remote import is_url
from ..specs.coordinates import coordinates_of
from .sample import SAMPLE_BYTES

FAR = Link(100e6, 0.03)  # what is taken for a store that is far where nobody says more


@dataclass(frozen=True)
class Question:
    """What is asked.

    Parameters
    ----------
    address
        The file: a path, or a URL.
    shares
        Share of all reads that each access has, by name; see `accesses.weights`.
    variable
        Its name; the largest if empty.
    roles
        Axes (T, Z, Y, X) of dimensions that are to be taken so.
    calls
        Each access is so many reads, one after another.
    library
        What reads the file now; the usual one of its format if empty.
    link
        The way to the store that the file is read from; None for this machine's disk.
    url
        Address that the file is read from there, where it is known; "" for `address`.
    cache
        "warm", "cold" or "auto": cold where the file is larger than half of the memory.
    formats
        Formats of new layouts; the file's own and Zarr 3 if empty.
    codecs
        Codecs of new layouts; all that a format has if empty.
    most_bytes
        What the variable may take in a new layout; None for `most_times`.
    most_times
        The same as a multiple of what it takes now.
    measured
        So many layouts, the best, are measured, and as many remedies; 0 for none.
    repeats, seed, sample_bytes, disk_bytes
        How they are measured: blocks, order, bytes of values, bytes on the disk.
    screened
        After so many blocks what is clearly slower is left out; 0 measures all alike.
    workdir
        Where files for that are made and removed.

    Raises
    ------
    ValueError
        For a cache state that there is not, or repeats below one.
    """

    address: str
    shares: Mapping[str, float] = field(default_factory=dict)
    variable: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    calls: int = 1
    library: str = ""
    link: Link | None = None
    url: str = ""
    cache: str = "auto"
    formats: tuple[str, ...] = ()
    codecs: tuple[str, ...] = ()
    most_bytes: float | None = None
    most_times: float = 1.25
    measured: int = 4
    repeats: int = 7
    seed: int = 0
    sample_bytes: int = SAMPLE_BYTES
    disk_bytes: int = 2**31
    screened: int = 0
    workdir: Path = Path()

    def __post_init__(self) -> None:
        if self.cache not in ("auto", "warm", "cold"):
            raise ValueError(f"--cache {self.cache}: give warm, cold or auto")
        if self.calls < 1:
            raise ValueError(f"--calls {self.calls}: give at least 1")
        if self.repeats < 1:
            raise ValueError(f"--repeats {self.repeats}: give at least 1")
        if self.measured < 0:
            raise ValueError(f"--measure {self.measured}: give 0 (predict only) or more")

    def chosen(self, source: Source) -> SourceVariable:
        """Return the variable that is advised on.

        Raises
        ------
        SourceError
            When there is none of that name, it holds no numbers, or the file holds no array.
        """
        if self.variable:
            return source.choose([self.variable])[0]
        able = [v for v in source.choose(None) if v.shape and 0 not in v.shape]
        if not able:
            raise SourceError(f"{source.address} holds no array with values: only scalars or none")
        serving = {
            name for v in able for name in coordinates_of(source.variables, [v.name])
        }  # coordinates, and the bounds of their cells
        able = [v for v in able if v.name not in serving] or able
        fields = [v for v in able if len(v.shape) > 1] or able
        return max(fields, key=lambda variable: variable.nbytes)

    def library_for(self, source: Source, variable: SourceVariable) -> str:
        """Return what reads a variable of the file now.

        Raises
        ------
        ValueError
            When what was asked for does not read such a file, or not from there.
        """
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
        """Return the cache state that reads are thought, and measured, in."""
        if self.cache != "auto":
            return self.cache
        return "cold" if size > memory_bytes() / 2 and can_evict() else "warm"


def twins(source: Source, variable: SourceVariable) -> tuple[str, ...]:
    """Return the variables of the same dimensions and type: they take the same layout."""
    return tuple(
        v.name for v in source.variables.values()
        if v.copyable and (v.dims, v.dtype) == (variable.dims, variable.dtype)
    )  # fmt: skip


def memory_bytes() -> int:
    """Return the bytes of this machine's memory.

    Examples
    --------
    >>> memory_bytes() > 2**20
    True
    """
    import os

    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
