"""What people type for sizes, formats, chunks and codecs, made into values."""

from __future__ import annotations

import re

from hyperslab.io.layout import CODECS, FORMATS, LEVELS, QUANTIZERS

from .target import CHUNK_WORDS, SAME, Chunks

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
_SWITCH = {"yes": True, "on": True, "1": True, "no": False, "off": False, "0": False}


def size(text: str) -> int:
    """Return bytes from a number with or without a unit: KiB and K are 1024, kB is 1000."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if not found or found[2].lower() not in _UNITS:
        raise ValueError(f"size {text!r}: give bytes, such as 4096, 64KiB, 256MiB or 1GB")
    return round(float(found[1]) * _UNITS[found[2].lower()])


def format_name(text: str) -> str:
    """Return a format from its name or bm_file's number for it."""
    name = (_OTHER_NAMES | BM_FORMATS).get(text.lower(), text.lower())
    if name not in _FORMATS:
        numbers = ", ".join(f"{n} {f}" for n, f in BM_FORMATS.items())
        raise ValueError(
            f"format {text!r}: give one of {', '.join(_FORMATS)}, or a number: {numbers}"
        )
    return name


def lengths(what: str, text: str, allowed: str, *, least: int = 1) -> dict[str, int]:
    """Return lengths by dimension from DIM=N,DIM=N; from -1 on that is a dimension whole."""
    found: dict[str, int] = {}
    for part in text.split(",") if text else ():
        dim, _, number = (word.strip() for word in part.rpartition("="))
        if not dim or dim in found or not re.fullmatch(r"-1|\d+", number):
            raise ValueError(f"{what}: give {allowed}")
        found[dim] = int(number)
        if found[dim] < least or not found[dim]:
            raise ValueError(f"{what}: give {allowed}: a length is at least 1")
    return found


def chunks(text: str) -> Chunks:
    """Return chunk lengths: one for each axis (1,721), by dimension (time=1), or a word."""
    text = text.strip()
    if text.lower() in CHUNK_WORDS:
        return text.lower()
    if re.fullmatch(r"\d+([x,:]\d+)*", text):
        axes = tuple(map(int, re.split("[x,:]", text)))
        if 0 in axes:
            raise ValueError(f"chunks {text!r}: a length is at least 1")
        return axes
    words = ", ".join(CHUNK_WORDS)
    allowed = f"lengths such as 1,721,1440, pairs such as time=1,lat=721, or one of {words}, auto"
    return tuple(lengths(f"chunks {text!r}", text or "=", allowed).items())


def codec(text: str) -> tuple[str, int | None]:
    """Return a codec and its level, from "zstd:3", "deflate" or "none"."""
    name, colon, level = text.strip().lower().partition(":")
    name = _CODEC_NAMES.get(name, name)
    if name not in (SAME, "none", *CODECS):
        known = ", ".join(CODECS)
        raise ValueError(
            f"codec {text!r}: give none, same or one of {known}, with a level as in zstd:3"
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
    if text.lower() not in _SWITCH:
        raise ValueError(f"shuffle {text!r}: give yes or no")
    return _SWITCH[text.lower()]
