"""How an array lies on disk: the format and everything one may choose about it."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

CLASSIC = ("netcdf3", "netcdf3-64bit", "cdf5")
NETCDF4 = ("netcdf4", "netcdf4-classic")
ZARR = ("zarr2", "zarr3", "nczarr")
ONE_GROWS = (*CLASSIC, "netcdf4-classic")  # the classic data model, without groups
CHUNKED = (*NETCDF4, "hdf5", *ZARR)
FORMATS = ("binary", *CLASSIC, *CHUNKED)

CODECS = ("deflate", "zstd", "blosc-lz4", "blosc-zstd", "lzf", "bzip2", "szip")
BYTEORDERS = ("native", "little", "big")
QUANTIZERS = ("bitgroom", "granular_bitround", "bitround")

_BLOSC = ("blosc-lz4", "blosc-zstd")
_COMMON = ("deflate", "zstd", *_BLOSC)
# Which codec a format's library can write here and read back without a plugin of its own.
_FORMAT_CODECS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(NETCDF4, (*_COMMON, "bzip2", "szip")),
    "hdf5": ("deflate", "lzf", "szip"),
    "zarr2": (*_COMMON, "bzip2"),
    "zarr3": _COMMON,
    "nczarr": (*_COMMON, "bzip2"),
}
# netCDF-C drops shuffle without a word unless the codec is deflate or does it itself (Blosc).
_FORMAT_SHUFFLES = {
    **_FORMAT_CODECS,
    **dict.fromkeys((*NETCDF4, "nczarr"), ("deflate", *_BLOSC)),
    "zarr3": _BLOSC,
}
# Lowest, highest and default level of each codec that has one.
LEVELS: Mapping[str, tuple[int, int, int]] = {
    "deflate": (1, 9, 4),
    "zstd": (1, 22, 3),
    "blosc-lz4": (1, 9, 5),
    "blosc-zstd": (1, 9, 5),
    "bzip2": (1, 9, 9),
}
_SUFFIXES = {"binary": ".bin", "hdf5": ".h5", **dict.fromkeys(ZARR, ".zarr")}
_FORMATS_WITH: Mapping[str, tuple[str, ...]] = {
    "chunks": CHUNKED,
    "shards": ("zarr3",),
    "fletcher32": (*NETCDF4, "hdf5"),
    "prefill": (*CLASSIC, *NETCDF4, "hdf5"),
    "page_bytes": ("hdf5",),
    "quantize": NETCDF4,
}


@dataclass(frozen=True)
class Layout:
    """Format, chunks, codec and the other choices for one array on disk.

    Raises
    ------
    ValueError
        If a choice does not exist, or the format does not have it.

    Examples
    --------
    >>> Layout("netcdf4", chunks=(790, 790), codec="deflate", level=1).record()["chunks"]
    '790x790'
    >>> Layout("netcdf3", chunks=(10, 10))
    Traceback (most recent call last):
    ...
    ValueError: chunks=(10, 10) with format='netcdf3': only netcdf4, netcdf4-classic, hdf5, \
zarr2, zarr3, nczarr have chunks; leave chunks out or take one of these
    """

    format: str = "netcdf4"  #: one of `FORMATS`
    #: length of a chunk along each axis; None is contiguous, in Zarr one chunk for the whole array
    chunks: tuple[int, ...] | None = None
    codec: str | None = None  #: one of `CODECS`, or None; in Zarr 3 "deflate" is the gzip codec
    level: int | None = None  #: None takes the default in `LEVELS`; lzf and szip have none
    shuffle: bool = False  #: bytes before the codec; with a Blosc codec it is Blosc's own
    fletcher32: bool = False  #: a checksum on each chunk (netCDF-4, HDF5)
    prefill: bool = True  #: False: storage is not filled before it is written (nc_set_fill off)
    byteorder: str = "native"  #: "native", "little" or "big"; netCDF-3 is always big-endian
    #: length of a shard along each axis, a multiple of the chunk's (Zarr 3)
    shards: tuple[int, ...] | None = None
    #: (algorithm, digits): floats lose all but so many significant decimal digits, with "bitround"
    #: but so many bits of the mantissa (netCDF-4)
    quantize: tuple[str, int] | None = None
    #: pages, of at least 512, that HDF5 lays a file out in, small data together and metadata apart,
    #: so that a reader can fetch whole ones; None for none
    page_bytes: int | None = None

    def __post_init__(self) -> None:
        _among("format", self.format, FORMATS)
        _among("byteorder", self.byteorder, BYTEORDERS)
        self._check_formats()
        self._check_numbers()
        self._check_codec()
        self._check_quantize()

    @property
    def suffix(self) -> str:
        """Ending of the name of the file, or of the directory for Zarr."""
        return _SUFFIXES.get(self.format, ".nc")

    @property
    def effective_level(self) -> int | None:
        """Level the codec runs at, the default filled in; None without codec or levels."""
        if self.codec is None or self.codec not in LEVELS:
            return None
        return LEVELS[self.codec][2] if self.level is None else self.level

    def record(self) -> dict[str, object]:
        """Give the layout as the columns of a record; a missing level is NaN."""
        level = self.effective_level
        return {
            "format": self.format,
            "codec": self.codec or "",
            "level": float("nan") if level is None else level,
            "shuffle": self.shuffle,
            "chunks": "" if self.chunks is None else "x".join(map(str, self.chunks)),
        }

    def _refuse(self, why: str, *fields: str) -> NoReturn:
        choices = " with ".join(f"{name}={getattr(self, name)!r}" for name in fields)
        raise ValueError(f"{choices}: {why}")

    def _check_formats(self) -> None:
        for name, formats in _FORMATS_WITH.items():
            neutral = self.__dataclass_fields__[name].default
            if getattr(self, name) != neutral and self.format not in formats:
                have = f"only {', '.join(formats)} have {name}"
                self._refuse(f"{have}; leave {name} out or take one of these", name, "format")
        if self.byteorder == "little" and self.format in CLASSIC:
            why = "netCDF-3 is always big-endian; leave byteorder out"
            self._refuse(why, "byteorder", "format")
        if self.byteorder == "big" and self.format == "nczarr":
            why = "netCDF-C swaps the bytes of its fill values; take 'little', or zarr2"
            self._refuse(why, "byteorder", "format")

    def _check_numbers(self) -> None:
        """Check lengths and sizes, and hold them as tuples and ints."""
        for name in ("chunks", "shards"):
            if (lengths := getattr(self, name)) is not None:
                object.__setattr__(self, name, _lengths(name, lengths))
        if self.page_bytes is not None:
            (number,) = _lengths("page_bytes", (self.page_bytes,), low=512)
            object.__setattr__(self, "page_bytes", number)
        if self.shards is not None:
            if self.chunks is None or len(self.chunks) != len(self.shards):
                why = "a shard holds whole chunks; give chunks with as many axes as the shards"
                self._refuse(why, "shards", "chunks")
            if any(s % c for s, c in zip(self.shards, self.chunks, strict=True)):
                why = "each length of a shard must be a multiple of the chunk's"
                self._refuse(why, "shards", "chunks")
        if self.chunks is None and self.fletcher32:
            self._refuse("checksums need chunks", "fletcher32", "chunks")

    def _check_codec(self) -> None:
        if self.codec is None:
            for field, neutral in (("level", None), ("shuffle", False)):
                if getattr(self, field) != neutral:
                    self._refuse("it has no effect; give codec, or leave it out", field, "codec")
            return
        _among("codec", self.codec, CODECS)
        allowed = _FORMAT_CODECS.get(self.format, ())
        if self.codec not in allowed:
            self._refuse(f"it takes {', '.join(allowed) or 'no codec'}", "codec", "format")
        if self.chunks is None and self.format not in ZARR:
            self._refuse("contiguous data cannot be compressed; give chunks", "codec", "chunks")
        if self.level is not None:
            if self.codec not in LEVELS:
                self._refuse(f"{self.codec} has no levels; leave it out", "level")
            low, high, _ = LEVELS[self.codec]
            if isinstance(self.level, bool) or not low <= self.level <= high:
                self._refuse(f"{self.codec} takes {low} to {high}", "level")
        if self.shuffle and self.codec not in _FORMAT_SHUFFLES[self.format]:
            takes = ", ".join(_FORMAT_SHUFFLES[self.format])
            why = f"the library would leave the bytes unshuffled; it shuffles with {takes}"
            self._refuse(why, "shuffle", "codec", "format")

    def _check_quantize(self) -> None:
        choice: Any = self.quantize
        if choice is None:
            return
        named = isinstance(choice, tuple | list) and len(choice) == 2 and choice[0] in QUANTIZERS
        if not named or isinstance(choice[1], bool) or not isinstance(choice[1], int):
            modes = ", ".join(map(repr, QUANTIZERS))
            why = f"give ({modes}) and a number of digits (bitround: bits), as ('bitround', 7)"
            self._refuse(why, "quantize")
        most = 52 if choice[0] == "bitround" else 15
        if not 1 <= choice[1] <= most:
            self._refuse(f"{choice[0]} takes 1 to {most}", "quantize")
        object.__setattr__(self, "quantize", tuple(choice))


def _among(field: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{field}={value!r}: give one of {', '.join(allowed)}")


def _lengths(field: str, numbers: Any, low: int = 1) -> tuple[int, ...]:
    """Return a field that must be a sequence of integers of at least `low` as a tuple."""
    try:
        lengths = tuple(map(operator.index, numbers))
        fits = min(lengths, default=low) >= low and bool not in map(type, numbers)
    except TypeError:
        fits = False
    if not fits:
        raise ValueError(f"{field}={numbers!r}: give a tuple of integers of at least {low}")
    return lengths
