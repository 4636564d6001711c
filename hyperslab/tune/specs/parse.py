"""What people type for sizes, formats, chunks and codecs, made into values and layouts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from hyperslab.io.layout import CODECS, FORMATS, LEVELS, QUANTIZERS
from hyperslab.io.source import SourceVariable

from .auto import candidates, shapes
from .target import (
    AUTO,
    CHUNK_WORDS,
    CONTIGUOUS,
    COPY,
    SAME,
    Choice,
    Chunks,
    Target,
    chunked_format,
)

_UNITS = {
    "": 1, "b": 1,
    "k": 1024, "kib": 1024, "kb": 1000,
    "m": 2**20, "mib": 2**20, "mb": 10**6,
    "g": 2**30, "gib": 2**30, "gb": 10**9,
}  # fmt: skip
BM_FORMATS = {
    "1": "netcdf3", "2": "netcdf3-64bit", "3": "netcdf4", "4": "netcdf4-classic", "5": "cdf5",
}  # fmt: skip
_FORMATS = [format for format in FORMATS if format != "binary"]
_OTHER_NAMES = {"classic": "netcdf3", "nc3": "netcdf3", "nc4": "netcdf4", "zarr": "zarr3"}
_CODEC_NAMES = {"gzip": "deflate", "zlib": "deflate", "lz4": "blosc-lz4", "blosc": "blosc-lz4"}
_LENGTH = r"0*[1-9]\d*"
SWEPT = ("chunks", "format", "codec", "shuffle", "quantize", "cache")
MOST_TARGETS = 64
Options = Mapping[str, Sequence[str]]  # values as they were typed, by the names of `SWEPT`


def size(text: str) -> int:
    """Return bytes from a number with or without a unit: KiB and K are 1024, kB is 1000."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if not match or match[2].lower() not in _UNITS:
        raise ValueError(f"size {text!r}: give bytes, such as 4096, 64KiB, 256MiB or 1GB")
    return round(float(match[1]) * _UNITS[match[2].lower()])


def format_name(text: str) -> str:
    """Return a format from its name or bm_file's number for it."""
    name = (_OTHER_NAMES | BM_FORMATS).get(text.lower(), text.lower())
    if name not in _FORMATS:
        numbers = ", ".join(f"{n} {f}" for n, f in BM_FORMATS.items())
        raise ValueError(
            f"format {text!r}: give one of {', '.join(_FORMATS)}, or a number: {numbers}"
        )
    return name


def lengths(what: str, text: str, allowed: str, *, whole: bool = False) -> dict[str, int]:
    """Return lengths by dimension from DIM=N,DIM=N, each at least 1, or -1 for a `whole` one."""
    by_dim: dict[str, int] = {}
    for pair in text.split(",") if text else ():
        dim, _, number = (word.strip() for word in pair.rpartition("="))
        allow = whole and number == "-1"
        if not dim or dim in by_dim or not (allow or re.fullmatch(_LENGTH, number)):
            raise ValueError(f"{what}: give {allowed}")
        by_dim[dim] = int(number)
    return by_dim


def chunks(text: str) -> Chunks:
    """Return chunk lengths: one for each axis (1,721), by dimension (time=1), or a word."""
    text = text.strip()
    if text.lower() in CHUNK_WORDS:
        return text.lower()
    if re.fullmatch(f"{_LENGTH}([x,:]{_LENGTH})*", text):
        return tuple(map(int, re.split("[x,:]", text)))
    words = ", ".join(CHUNK_WORDS)
    allowed = (
        f"lengths of at least 1 such as 1,721,1440, pairs such as time=1,lat=721, or one of {words}"
    )
    return tuple(lengths(f"chunks {text!r}", text or "=", allowed).items())


def codec(text: str) -> tuple[str, int | None]:
    """Return a codec and its level, from "zstd:3", "deflate" or "none"."""
    name, colon, level = text.strip().lower().partition(":")
    name = _CODEC_NAMES.get(name, name)
    if name not in (SAME, "none", *CODECS):
        names = ", ".join(CODECS)
        raise ValueError(
            f"codec {text!r}: give none, same or one of {names}, with a level as in zstd:3"
        )
    if not colon:
        return name, None
    low, high, _ = LEVELS.get(name, (0, 0, 0))
    if not level.isdigit() or not low <= int(level) <= high or not high:
        allowed = f"{low} to {high}" if high else "no level"
        raise ValueError(f"codec {text!r}: {name} takes {allowed}")
    return name, int(level)


def quantize(text: str) -> tuple[str, int] | None:
    """Return how values are quantized: "bitgroom:3" (digits), "bitround:12" (bits) or "none"."""
    if text.lower() == "none":
        return None
    mode, _, digits = text.strip().lower().partition(":")
    if mode not in QUANTIZERS or not digits.isdigit() or not int(digits):
        decimal, granular, bits = QUANTIZERS
        raise ValueError(f"quantize {text!r}: give {decimal}:DIGITS, {granular}:DIGITS or "
                         f"{bits}:BITS")  # fmt: skip
    return mode, int(digits)


def switch(text: str) -> bool:
    """Return whether to shuffle, from yes or no."""
    if text.lower() not in ("yes", "no"):
        raise ValueError(f"shuffle {text!r}: give yes or no")
    return text.lower() == "yes"


def targets(
    options: Options,
    format: str,
    variables: Mapping[str, SourceVariable],
    chosen: Sequence[SourceVariable],
) -> list[Target]:
    """Return the layouts to try, in order, each once; `candidates` where none was asked for."""
    if not options:
        return candidates(format, variables, chosen)
    by_name = {target.name: target for target in _combined(options, format, variables, chosen)}
    if len(by_name) >= MOST_TARGETS:
        raise ValueError(f"{len(by_name) + 1} layouts, more than {MOST_TARGETS}: sweep over fewer "
                         "values")  # fmt: skip
    layouts = [Target(COPY, format), *by_name.values()]
    for target in layouts:
        target.fit(chosen, {})  # refuses what the format cannot hold
    return layouts


def common(options: Options) -> str:
    """Return what all new layouts have in common, where their names leave it out."""
    named = [*_varied(options), *(["chunks"] if AUTO in options.get("chunks", ()) else [])]
    shared = [name for name in SWEPT if name not in named]
    return _label({name: values[0] for name, values in options.items()}, shared)


def _varied(options: Options) -> Sequence[str]:
    """Return the options that the names of layouts tell: those that differ, or all for one."""
    several = [name for name in SWEPT if len(options.get(name, ())) > 1]
    return several if several or AUTO in options.get("chunks", ()) else SWEPT


def _combined(
    options: Options,
    format: str,
    variables: Mapping[str, SourceVariable],
    chosen: Sequence[SourceVariable],
) -> Iterator[Target]:
    """Yield a layout for every combination of the values, and for each of its sets of chunks."""
    shown = _varied(options)
    for values in product(*options.values()):
        pick = dict(zip(options, values, strict=True))
        base = _target(pick, format)
        if base.choice.chunks != AUTO:
            yield replace(base, name=_label(pick, shown) or base.format)
            continue
        for name, lengths in shapes(variables, chosen).items():
            each = tuple((v, replace(base.choice, chunks=n)) for v, n in lengths.items())
            label = _label({**pick, "chunks": name}, ["chunks", *shown])
            yield replace(base, name=label, each=each)


def _target(pick: Mapping[str, str], format: str) -> Target:
    """Return the layout of one combination, without a name."""
    name, level = codec(pick.get("codec", SAME))
    shuffle = switch(pick["shuffle"]) if "shuffle" in pick and name != "none" else None
    lengths = chunks(pick.get("chunks", SAME))
    digits = quantize(pick.get("quantize", "none"))
    if "format" in pick:
        format = format_name(pick["format"])
    elif lengths not in (SAME, CONTIGUOUS) or name not in (SAME, "none") or digits is not None:
        format = chunked_format(format)
    cache = pick.get("cache", SAME)
    return Target(
        "",
        format,
        Choice(lengths, name, level, shuffle, digits),
        cache_bytes=None if cache == SAME else size(cache),
    )


def _label(pick: Mapping[str, str], shown: Sequence[str]) -> str:
    bare = ["shuffle"] if pick.get("codec") == "none" else []
    return " ".join(_word(x, pick[x]) for x in SWEPT if x in pick and x in shown and x not in bare)


def _word(name: str, value: str) -> str:
    match name:
        case "chunks" if value in ("default", SAME):
            return f"{value} chunks"
        case "chunks" if "=" not in value:
            return value.replace(":", "x").replace(",", "x")
        case "format":
            return format_name(value)
        case "shuffle":
            return "shuffle" if switch(value) else "no shuffle"
        case "cache":
            return f"cache {value}"
    return "uncompressed" if (name, value) == ("codec", "none") else value
