"""The quantities a claim may compare: each made from the phases of one sample."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..measure.records import NUMBERS
from ..text import SHARE

MB = 1e6  # the documents' MB are decimal, except Penard's, which say so in their measures
GB = 1e9


@dataclass(frozen=True)
class Quantity:
    """A number made from the rows of one sample."""

    name: str  # the word a claim's measure names it by
    unit: str  # "" for pure numbers
    timed: bool  # whether noise can change it; counts of bytes and calls are exact
    columns: tuple[str, ...]  # of the records, that it needs
    above: str  # what a ratio above one means, as an adjective
    below: str  # what one below means
    # from samples (an element each, phases already summed), by column, to a value each
    compute: Callable[[Mapping[str, NDArray[np.float64]]], NDArray[np.float64]]


# A sample has one size, however many phases note it; everything else adds up over phases.
_ADDED = (
    "wall_s", "user_s", "sys_s", "minflt", "majflt", "rchar", "read_bytes", "syscr", "wchar",
    "write_bytes", "syscw", "requests", "connections", "wire_bytes", "stages", "handshakes",
    "idle_stages",
)  # fmt: skip
PER_SAMPLE = ("chunk_length", *(name for name in NUMBERS if name not in _ADDED))


def chunk_lengths(rows: pd.DataFrame) -> "pd.Series[float]":
    """Return the lengths of chunks along their first dimension, which records keep as text."""
    return pd.to_numeric(rows["chunks"].astype(str).str.split("x").str[0], errors="coerce")


def _column(name: str, unit: str, above: str, below: str, timed: bool = False) -> Quantity:
    return Quantity(name, unit, timed, (name,), above, below, lambda t: t[name])


def _ratio(
    name: str, top: str, bottom: str, unit: str, words: tuple[str, str], timed: bool = False
) -> Quantity:
    return Quantity(name, unit, timed, (top, bottom), *words, lambda t: t[top] / t[bottom])


_SIZE = ("larger", "smaller")
_MANY = ("more", "fewer")
_HIGH = ("higher", "lower")
_EACH = "bytes for each"

_ALL = (
    _column("wall_s", "s", "slower", "faster", timed=True),
    _ratio("rate", "useful_bytes", "wall_s", "B/s", ("faster", "slower"), timed=True),
    Quantity(
        "cpu_s", "s", True, ("user_s", "sys_s"), "more CPU time", "less CPU time",
        lambda t: t["user_s"] + t["sys_s"],
    ),
    _column("user_s", "s", "more CPU time", "less CPU time", timed=True),
    Quantity(
        "cpu_share", SHARE, True, ("user_s", "sys_s", "wall_s"), *_HIGH,
        lambda t: (t["user_s"] + t["sys_s"]) / t["wall_s"],
    ),
    _ratio("amplification", "rchar", "useful_bytes", _EACH, _HIGH),
    _ratio("disk_amplification", "read_bytes", "useful_bytes", _EACH, _HIGH),
    _ratio("compression", "useful_bytes", "file_bytes", "", _HIGH),
    _ratio("stored_share", "file_bytes", "useful_bytes", "", _SIZE),
    _ratio("granted_share", "cache_bytes", "predicted_bytes", "", _SIZE),
    Quantity(
        "extra_bytes", "B", False, ("file_bytes", "useful_bytes"), *_SIZE,
        lambda t: t["file_bytes"] - t["useful_bytes"],
    ),
    Quantity(
        "faults_per_gb", "/GB", False, ("minflt", "useful_bytes"), *_MANY,
        lambda t: t["minflt"] / (t["useful_bytes"] / GB),
    ),
    Quantity(
        "calls_per_gb", "/GB", False, ("syscr", "useful_bytes"), *_MANY,
        lambda t: t["syscr"] / (t["useful_bytes"] / GB),
    ),
    _column("chunk_length", "", "longer", "shorter"),
    *(_column(name, "B", *_SIZE) for name in (
        "rchar", "wchar", "read_bytes", "write_bytes", "wire_bytes",
        "useful_bytes", "file_bytes", "predicted_bytes", "cache_bytes",
    )),
    *(_column(name, "", *_MANY) for name in (
        "syscr", "syscw", "requests", "connections", "stages", "handshakes", "idle_stages",
        "minflt", "majflt",
    )),
)  # fmt: skip

QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in _ALL}
MORE_IS_BETTER = frozenset({"rate", "compression"})


def quantity(name: str, per: str = "") -> Quantity:
    """Return a quantity, or a number that the records have of each sample, over that of `per`."""
    if name not in QUANTITIES and name not in NUMBERS:
        raise KeyError(f"{name!r} is no quantity and no number of the records")
    numerator = QUANTITIES.get(name) or _column(name, "", *_MANY)
    if not per:
        return numerator
    return replace(
        numerator,
        columns=(*numerator.columns, per),
        compute=lambda table: numerator.compute(table) / table[per],
    )
