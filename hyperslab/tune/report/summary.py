"""What a benchmark found, in numbers: one row a layout, and which of them is best for what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from hyperslab.io.layout import CLASSIC
from hyperslab.measure.records import DISCARDED, main
from hyperslab.measure.stats import Interval, geometric_mean_ratio, median_interval, paired_ratio

from ..specs.parse import BM_ENDIAN, BM_FORMATS
from ..specs.target import COPY
from .compare import WrongValuesError

_WRONG = f"{WrongValuesError.__name__}: "
STAT = "stat"  # the phase of the rows that describe the source
BESIDE = (STAT, "memory", "note")  # phases of rows that are of no layout
BM_TIMES = {
    "meta read time": "meta_read",
    "meta write time": "meta_write",
    "data read time": "data_read",
    "data write time": "data_write",
    "metadata reread time": "meta_reread",
    "data reread time": "data_reread",
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
    """Something of each layout that was timed: one of `STEPS`, or a pattern cold or warm."""

    name: str
    cache_state: str = ""

    @property
    def label(self) -> str:
        """The name, with the state of the cache where there is one."""
        return f"{self.name}, {self.cache_state}" if self.cache_state else self.name


Times = Mapping[tuple[str, Quantity], pd.Series]


def measured(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the layouts, without discarded tries and what describes the source."""
    return frame[~frame["phase"].isin(BESIDE) & (frame["aa"] != DISCARDED)]


def _bm_format(name: str) -> int | str:
    return next((int(number) for number, known in BM_FORMATS.items() if known == name), name)


_WHOLE = (
    "input size", "output size", "deflate", "level", "cache_bytes", "file_bytes", "peak_bytes",
)  # fmt: skip


def lost(frame: pd.DataFrame) -> dict[str, str]:
    """Return why a layout has no sample that counts, by layout."""
    parts = measured(frame).groupby("case", sort=False)
    return {str(name): str(part["status"].iloc[0]) for name, part in parts if main(part).empty}


def unverified(frame: pd.DataFrame) -> dict[str, str]:
    """Return which value is wrong, by layout, where a sample holds others than the source."""
    rows = measured(frame)
    wrong = rows[rows["status"].str.startswith(_WRONG)].drop_duplicates("case")
    return {str(r["case"]): str(r["status"]).removeprefix(_WRONG) for _, r in wrong.iterrows()}


@dataclass(frozen=True)
class Best:
    """The quickest layout for one quantity."""

    quantity: Quantity
    target: str  # the layout with the lowest median
    alike: tuple[str, ...]  # others whose paired ratio to it cannot be told from one
    gain: Interval | None  # time of the layout compared with over that of the best
    baseline: str  # the layout compared with: the file's own, else the slowest
    ahead: bool = True  # whether it is told apart from any other; if not, no layout is the best


def ratio(seconds: Times, quantity: Quantity, of: str, to: str) -> Interval | None:
    """Return how many times as long one layout takes as another, paired by block.

    None when the two were never measured in one block.
    """
    if (of, quantity) not in seconds or (to, quantity) not in seconds:
        return None
    both = pd.concat([seconds[of, quantity], seconds[to, quantity]], axis=1, join="inner").dropna()
    return None if both.empty else paired_ratio(both.iloc[:, 0], both.iloc[:, 1])


class Findings:
    """What the records of a benchmark say, each thing worked out once."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame, self.rows = frame, measured(frame)

    @cached_property
    def times(self) -> dict[tuple[str, Quantity], pd.Series]:
        """Seconds by block, for each layout and quantity: steps of the copy first."""
        rows = main(self.rows)
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

    @cached_property
    def quantities(self) -> list[Quantity]:
        """What was timed: the steps of the copy first, then the patterns."""
        return list(dict.fromkeys(quantity for _, quantity in self.times))

    @cached_property
    def targets(self) -> list[str]:
        """The layouts that were measured, in the order they were asked for."""
        return [str(name) for name in self.rows["case"].unique()]

    @cached_property
    def medians(self) -> dict[tuple[str, Quantity], Interval]:
        """The median of each layout and quantity, in seconds, with its interval."""
        return {key: median_interval(seconds) for key, seconds in self.times.items()}

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a layout: bm_file's columns under its names, then ours.

        bm_file's times are medians here, in microseconds. Its rates are bytes of the data, not of
        the file, over the time of the data alone, in MB/s of 10^6 bytes: the first row of the
        document's table has 100,000 shorts, so 200,000 bytes / 409 µs = 488.998. Ours are in bytes
        and seconds.

        Source: netCDF-C 4.6.2, "A Utility to Help Benchmark Results: bm_file", the table for shorts
        in 1 to 6 dimensions.
        """
        rows, names = self.rows, self.targets
        source = self.frame[(self.frame["phase"] == STAT) & (self.frame["case"] == "")]
        good = main(rows)
        first = pd.concat([good, rows]).drop_duplicates("case").set_index("case").reindex(names)
        sums = good.groupby(["case", "phase", "block"])[["wall_s", "useful_bytes"]].sum()
        middle = sums.groupby(["case", "phase"]).median().unstack().reindex(names)
        none = pd.Series(np.nan, names)
        useful = middle.get(("useful_bytes", "data_write"), none)
        each = good.groupby("case")
        size = rows.groupby("case")["file_bytes"].max().reindex(names)
        table = pd.DataFrame(dict.fromkeys(("target", *BM_COLUMNS), 0), names)
        table["target"] = names
        table["input format"] = _bm_format(str(source["format"].iloc[0])) if len(source) else ""
        table["output_format"] = [_bm_format(str(format)) for format in first["format"]]
        table["input size"] = source["file_bytes"].max() if len(source) else np.nan
        table["output size"] = size
        for column, phase in BM_TIMES.items():
            table[column] = (1e6 * middle.get(("wall_s", phase), none)).round(1)
        for column, time in BM_RATES.items():
            table[column] = (useful / table[time].where(table[time] > 0)).round(3)
        order = first["byteorder"].where(~first["format"].isin(CLASSIC), "").astype(str)
        numbers = {word: int(number) for number, word in BM_ENDIAN.items()}
        table["enddianness"] = [numbers.get(word, 0) for word in order]
        table["deflate"] = first["level"].where(first["codec"] == "deflate", 0)
        table["shuffle"] = first["shuffle"].astype(bool).astype(int)
        chunks = first["chunks"].astype(str).str.extract(r"(\d+)?x?(\d+)?x?(\d+)?x?(\d+)?")
        table[list(BM_COLUMNS[-4:])] = chunks.astype(float).fillna(0).astype(int).to_numpy()
        own = ["format", "chunks", "codec", "level", "quantize", "cache_bytes"]
        table = table.join(first.reindex(columns=own))
        table["file_bytes"], table["ratio"] = size, (useful / size.where(size > 0)).round(6)
        table["repeats"] = each["block"].nunique().reindex(names, fill_value=0)
        table["verified"] = each["verified"].all().reindex(names, fill_value=True)
        table["status"] = first["status"].where(table["repeats"] == 0, "ok")
        table["peak_bytes"] = each["peak_bytes"].max().reindex(names)
        medians: dict[str, dict[str, float]] = {}
        for (name, quantity), x in self.medians.items():
            key = quantity.label.replace(", ", "_").replace("-", "")
            for end, seconds in (("_s", x.value), ("_low_s", x.low), ("_high_s", x.high)):
                medians.setdefault(key + end, {})[name] = round(seconds, 9)
        table = table.join(pd.DataFrame(medians))
        return table.astype(dict.fromkeys(_WHOLE, "Int64")).reset_index(drop=True)

    @cached_property
    def best(self) -> list[Best]:
        """The quickest layout for every quantity, and by how much."""
        seconds, found = self.times, []
        for quantity in self.quantities:
            typical = {
                name: float(seconds[name, quantity].median())
                for name in self.targets
                if (name, quantity) in seconds
            }
            top, *others = sorted(typical, key=lambda name: (typical[name], name))
            base = COPY if COPY in typical else [top, *others][-1]
            slower = {name: ratio(seconds, quantity, name, top) for name in others}
            alike = tuple(name for name, x in slower.items() if x is not None and x.low <= 1)
            ahead = not others or len(alike) < len(others)
            found.append(Best(quantity, top, alike, slower.get(base), base, ahead))
        return found

    @cached_property
    def overall(self) -> tuple[str, Interval, list[Quantity]] | None:
        """The layout that is best over all patterns, by how much, and over which.

        Patterns count alike (a geometric mean of paired ratios to the file's own layout), read cold
        where that was measured. None when there is nothing to compare.
        """
        seconds = self.times
        known = [q for q in self.quantities if q.cache_state]
        cold = [q for q in known if q.cache_state == "cold"] or known
        names = [name for name in self.targets if all((name, q) in seconds for q in cold)]
        if COPY not in names or len(names) < 2 or not cold:
            return None
        joined = pd.concat(
            {(name, q.label): seconds[name, q] for name in names for q in cold},
            axis=1,
            join="inner",
        ).dropna()
        if joined.empty:
            return None
        gains = {
            name: geometric_mean_ratio(
                [(joined[COPY, q.label].to_numpy(), joined[name, q.label].to_numpy()) for q in cold]
            )
            for name in names
            if name != COPY
        }
        top = max(gains, key=lambda name: gains[name].value)
        return top, gains[top], cold


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table of a benchmark: one row a layout, bm_file's columns first."""
    return Findings(frame).table
