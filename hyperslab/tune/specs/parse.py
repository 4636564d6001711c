"""What people type for sizes, formats, chunks and codecs, made into values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hyperslab.io.layout import CODECS, FORMATS, LEVELS, QUANTIZERS

from .target import CHUNK_WORDS, SAME, Choice, Chunks

_UNITS = {
    "": 1, "b": 1,
    "k": 1024, "kib": 1024, "kb": 1000,
    "m": 2**20, "mib": 2**20, "mb": 10**6,
    "g": 2**30, "gib": 2**30, "gb": 10**9,
}  # fmt: skip
BM_FORMATS = {
    "1": "netcdf3", "2": "netcdf3-64bit", "3": "netcdf4", "4": "netcdf4-classic", "5": "cdf5",
}  # fmt: skip
BM_ENDIAN = {"0": "native", "1": "little", "2": "big"}
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


def byteorder(text: str) -> str:
    """Return a byte order from its name or bm_file's number for it."""
    name = BM_ENDIAN.get(text, text.lower())
    if name not in BM_ENDIAN.values():
        raise ValueError(f"endianness {text!r}: give 1 or little, 2 or big, 0 or native")
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


def bm_choices(text: str, names: Sequence[str]) -> dict[str, Choice]:
    """Return each variable's choice from bm_file's ``-c V:Z:S:C:C:C[,V:Z:S:C:C:C…]``.

    V is a variable's name, or its number in the file from 0. Z is the deflate level, -1 or 0 for
    none, S is 1 for shuffle; a first chunk length of 0 is contiguous; without any it is the
    library's. Source: netCDF-C 4.6.2, "A Utility to Help Benchmark Results: bm_file".
    """
    found: dict[str, Choice] = {}
    for part in text.split(","):
        name, *rest = part.strip().split(":")
        if name not in names and name.isdigit() and int(name) < len(names):
            name = names[int(name)]
        if name not in names:
            listed = ", ".join(f"{i} {name}" for i, name in enumerate(names))
            raise ValueError(f"-c {text}: no variable {name!r}: give one of {listed}")
        if not all(re.fullmatch(r"-?\d+", number) for number in rest):
            raise ValueError(f"-c {text}: V:Z:S:C:C:C takes whole numbers after V")
        numbers = [int(number) for number in rest]
        if len(numbers) < 2 or not -1 <= numbers[0] <= 9 or numbers[1] not in (0, 1):
            raise ValueError(
                f"-c {part}: give V:Z:S:C:C:C, with Z from 0 to 9 or -1 (no deflate) and S 0 or 1"
            )
        level, shuffle, *axes = numbers
        if axes and axes[0] != 0 and min(axes) < 1:
            raise ValueError(f"-c {part}: chunk lengths are at least 1 (a first one of 0: none)")
        where: Chunks = "contiguous" if axes[:1] == [0] else tuple(axes) or "default"
        packed = Choice(where, "deflate", level, bool(shuffle))
        found[name] = packed if level > 0 else Choice(where, "none", shuffle=False)
    return found
