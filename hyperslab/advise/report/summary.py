"""What a benchmark found, in numbers: one row a layout, in bm_file's columns and in ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hyperslab.io.layout import CLASSIC
from hyperslab.measure.records import main
from hyperslab.measure.stats import Interval, median_interval

from ..specs.parse import BM_ENDIAN, BM_FORMATS
from .compare import WrongValuesError

COPY = "copy"
_WRONG = f"{WrongValuesError.__name__}: "
STAT = "stat"  # the phase of the rows that describe the source
BESIDE = (STAT, "memory", "note")  # phases of rows that are of no layout
BM_TIMES = {
    "meta read time": ("meta_read",),
    "meta write time": ("meta_write",),
    "data read time": ("data_read",),
    "data write time": ("data_write",),
    "metadata reread time": ("meta_reread",),
    "data reread time": ("data_reread",),
}
BM_RATES = {
    "read rate": "data read time",
    "write rate": "data write time",
    "reread rate": "data reread time",
}
BM_COLUMNS = (
    "input format", "output_format", "input size", "output size", "meta read time",
    "meta write time", "data read time", "data write time", "enddianness",
    "metadata reread time", "data reread time", "read rate", "write rate", "reread rate",
    "deflate", "shuffle", "chunksize[0]", "chunksize[1]", "chunksize[2]", "chunksize[3]",
)  # fmt: skip
"""bm_file's columns, spelt as it spells them: bytes, microseconds and MB/s (10^6 bytes)."""

STEPS = {
    "write": ("meta_write", "data_write", "sync", "close"),
    "re-read": ("data_reread",),
    "open": ("meta_reread",),
}
"""What a copy takes, beside the patterns: written until it is on the disk, and read back."""


@dataclass(frozen=True)
class Quantity:
    """Something of each layout that was timed.

    Parameters
    ----------
    name
        One of `STEPS`, or a pattern.
    cache_state
        "cold" or "warm" for patterns, "" for the steps of the copy.

    Examples
    --------
    >>> Quantity("map", "cold").label
    'map, cold'
    """

    name: str
    cache_state: str = ""

    @property
    def label(self) -> str:
        """The name, with the state of the cache where there is one."""
        return f"{self.name}, {self.cache_state}" if self.cache_state else self.name


def measured(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the layouts, without those that describe the source or the run."""
    return frame[~frame["phase"].isin(BESIDE)]


def times(frame: pd.DataFrame) -> dict[tuple[str, Quantity], pd.Series]:
    """Return seconds by block, for each layout and quantity.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `hyperslab.advise.bench.engine.bench`.
    """
    rows = main(measured(frame))
    steps = {phase: name for name, phases in STEPS.items() for phase in phases}
    pattern = rows["phase"].str.startswith("pattern:")
    name = rows["phase"].str.removeprefix("pattern:").where(pattern, rows["phase"].map(steps))
    rows = rows.assign(quantity=name, state=rows["cache_state"].where(pattern, ""))
    rows = rows[name.notna()]
    sums = rows.groupby(["case", "quantity", "state", "block"], sort=False)["wall_s"].sum()
    found: dict[tuple[str, Quantity], pd.Series] = {}
    for key, part in sums.groupby(level=[0, 1, 2], sort=False):
        case, what, state = map(str, tuple(key))  # type: ignore[arg-type]
        found[case, Quantity(what, state)] = part.droplevel([0, 1, 2])
    places = {step: place for place, step in enumerate(STEPS)}
    cases = {name: place for place, name in enumerate(rows["case"].astype(str).unique())}
    order = sorted(found, key=lambda key: (cases[key[0]], places.get(key[1].name, len(places))))
    return {key: found[key] for key in order}


def quantities(frame: pd.DataFrame) -> list[Quantity]:
    """Return what was timed: the steps of the copy first, then the patterns."""
    return list(dict.fromkeys(quantity for _, quantity in times(frame)))


def targets(frame: pd.DataFrame) -> list[str]:
    """Return the layouts that were measured, in the order they were asked for."""
    return [str(name) for name in measured(frame)["case"].unique()]


def medians(frame: pd.DataFrame) -> dict[tuple[str, Quantity], Interval]:
    """Return the median of each layout and quantity, in seconds, with its interval."""
    return {key: median_interval(seconds) for key, seconds in times(frame).items()}


_WHOLE = (
    "input size", "output size", "deflate", "level", "cache_bytes", "file_bytes", "peak_bytes",
)  # fmt: skip


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row a layout: bm_file's columns under its names, then ours.

    bm_file's times are medians here, in microseconds. Its rates are bytes of the data, not of the
    file, over the time of the data alone, in MB/s of 10^6 bytes: the first row of the document's
    table has 100,000 shorts, so 200,000 bytes / 409 µs = 488.998. Ours are in bytes and seconds.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `hyperslab.advise.bench.engine.bench`.

    Returns
    -------
    pandas.DataFrame
        target, `BM_COLUMNS`, then format, chunks, codec, level, quantize, cache_bytes, file_bytes,
        ratio (bytes of the data over those of the file), repeats, verified, status, peak_bytes, and
        for every quantity its median and 95 % interval: ``…_s``, ``…_low_s``, ``…_high_s``.
        Bytes and times are of all variables together; where several are copied, deflate, shuffle,
        chunk lengths, codec, level and quantize are those of the largest.

    Source: netCDF-C 4.6.2, "A Utility to Help Benchmark Results: bm_file", the table for shorts in
    1 to 6 dimensions.
    """
    stat = frame[frame["phase"] == STAT]
    middle = medians(frame)
    parts = measured(frame).groupby("case", sort=False)
    table = pd.DataFrame([_row(str(name), part, stat, middle) for name, part in parts])
    return table.astype(dict.fromkeys(_WHOLE, "Int64")) if len(table) else table


def _row(
    name: str,
    part: pd.DataFrame,
    stat: pd.DataFrame,
    middle: Mapping[tuple[str, Quantity], Interval],
) -> dict[str, object]:
    good = main(part)
    shown = good if len(good) else part
    first = shown.iloc[0]
    written = shown[shown["phase"] == "data_write"]
    useful = float(written.groupby("block")["useful_bytes"].sum().median())
    size = _largest(shown, "file_bytes")
    row: dict[str, object] = {"target": name, **dict.fromkeys(BM_COLUMNS, 0)}
    whole = stat[stat["case"] == ""]
    row["input format"] = _bm_format(str(whole["format"].iloc[0])) if len(whole) else ""
    row["output_format"] = _bm_format(str(first["format"]))
    row["input size"] = _whole(_largest(whole, "file_bytes"))
    row["output size"] = _whole(size)
    for column, phases in BM_TIMES.items():
        chosen = good[good["phase"].isin(phases)]
        seconds = chosen.groupby("block")["wall_s"].sum().median()
        row[column] = round(1e6 * seconds, 1) if len(chosen) else float("nan")
    for column, time in BM_RATES.items():
        spent = float(str(row[time]))
        row[column] = round(useful / spent, 3) if spent > 0 else float("nan")
    order = "" if first["format"] in CLASSIC else str(first.get("byteorder", ""))
    row["enddianness"] = next((int(n) for n, word in BM_ENDIAN.items() if word == order), 0)
    level = first["level"] if first["codec"] == "deflate" else 0
    row["deflate"], row["shuffle"] = _whole(level), int(bool(first["shuffle"]))
    lengths = [int(n) for n in str(first["chunks"]).split("x") if n.isdigit()]
    for axis in range(4):
        row[f"chunksize[{axis}]"] = lengths[axis] if axis < len(lengths) else 0
    row |= {column: first[column] for column in ("format", "chunks", "codec", "level")}
    row |= {"quantize": first.get("quantize", ""), "cache_bytes": first["cache_bytes"]}
    row |= {"file_bytes": _whole(size), "ratio": round(useful / size, 6) if size > 0 else size}
    row |= {"repeats": int(good["block"].nunique()), "verified": bool(good["verified"].all())}
    row["status"] = "ok" if len(good) else str(first["status"])
    row["peak_bytes"] = _whole(_largest(good, "peak_bytes"))
    for (target, quantity), found in middle.items():
        if target == name:
            key = quantity.label.replace(", ", "_").replace("-", "")
            ends = {"": found.value, "_low": found.low, "_high": found.high}
            row |= {f"{key}{end}_s": round(seconds, 9) for end, seconds in ends.items()}
    return row


def lost(frame: pd.DataFrame) -> dict[str, str]:
    """Return why a layout has no sample that counts, by layout."""
    found = {}
    for name, part in measured(frame).groupby("case", sort=False):
        if main(part).empty:
            found[str(name)] = str(part["status"].iloc[0])
    return found


def unverified(frame: pd.DataFrame) -> dict[str, str]:
    """Return which value is wrong, by layout, where a sample holds others than the source."""
    rows = measured(frame)
    wrong = rows[rows["status"].str.startswith(_WRONG)].drop_duplicates("case")
    return {str(r["case"]): str(r["status"]).removeprefix(_WRONG) for _, r in wrong.iterrows()}


def _largest(rows: pd.DataFrame, column: str) -> float:
    if column not in rows or rows[column].isna().all():
        return float("nan")
    return float(rows[column].max())


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


def _bm_format(name: str) -> int | str:
    return next((int(number) for number, known in BM_FORMATS.items() if known == name), name)
