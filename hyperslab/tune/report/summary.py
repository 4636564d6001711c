"""What a benchmark found, in numbers: one row a layout, and which of them is best for what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from hyperslab.io.layout import CLASSIC
from hyperslab.measure.records import DISCARDED, main
from hyperslab.measure.stats import Interval, geometric_mean_ratio, median_interval, paired_ratio

from ..specs.parse import BM_FORMATS
from ..specs.target import COPY
from .differences import WrongValuesError

_WRONG = f"{WrongValuesError.__name__}: "
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
"""bm_file's columns, spelt as it spells them: bytes, microseconds and MB/s (10^6 bytes of the data
over the time of the data alone: 200,000 bytes / 409 µs = 488.998). Source: netCDF-C 4.6.2, "A
Utility to Help Benchmark Results: bm_file", its first table."""

_WHOLE = (
    "input size", "output size", "deflate", "level", "cache_bytes", "file_bytes", "peak_bytes",
)  # fmt: skip
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
        return f"{self.name}, {self.cache_state}" if self.cache_state else self.name


@dataclass(frozen=True)
class Best:
    """The quickest layout for one quantity."""

    quantity: Quantity
    target: str  # the layout with the lowest median
    alike: tuple[str, ...]  # others whose paired ratio to it cannot be told from one
    gain: Interval | None  # time of the file's own layout over that of the best
    ahead: bool  # whether it is told apart from any other; if not, no layout is the best


class Findings:
    """What the records of a benchmark say, each thing worked out once."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        of_layouts = ~frame["phase"].isin(("stat", "memory", "note"))
        self.rows = frame[of_layouts & (frame["aa"] != DISCARDED)]

    @cached_property
    def targets(self) -> list[str]:
        """The layouts that were measured, in the order they were asked for."""
        return [str(name) for name in self.rows["case"].unique()]

    @cached_property
    def lost(self) -> dict[str, str]:
        """Why a layout has no sample that counts, by layout."""
        cases = self.rows.groupby("case", sort=False)
        return {str(name): str(case["status"].iloc[0]) for name, case in cases if main(case).empty}

    @cached_property
    def unverified(self) -> dict[str, str]:
        """Which value is wrong, by layout, where a sample holds others than the source."""
        wrong = self.rows[self.rows["status"].str.startswith(_WRONG)].drop_duplicates("case")
        return dict(zip(wrong["case"], wrong["status"].str.removeprefix(_WRONG), strict=True))

    @cached_property
    def times(self) -> dict[tuple[str, Quantity], pd.Series]:
        """Seconds by block of each layout and quantity (NaN: lost), steps of the copy first."""
        rows = main(self.rows)
        steps = {phase: name for name, phases in STEPS.items() for phase in phases}
        pattern = rows["phase"].str.startswith("pattern:")
        name = rows["phase"].str.removeprefix("pattern:").where(pattern, rows["phase"].map(steps))
        rows = rows.assign(quantity=name, state=rows["cache_state"].where(pattern, ""))
        rows = rows[name.notna()]
        blocks = rows["block"].unique()
        seconds = {
            (str(case), Quantity(str(what), str(state))): laps.groupby("block")["wall_s"].sum()
            for (case, what, state), laps in rows.groupby(["case", "quantity", "state"], sort=False)
        }
        positions = {step: position for position, step in enumerate(STEPS)}
        order = sorted(seconds, key=lambda key: positions.get(key[1].name, len(positions)))
        return {key: seconds[key].reindex(blocks) for key in order}

    @cached_property
    def quantities(self) -> list[Quantity]:
        return list(dict.fromkeys(quantity for _, quantity in self.times))

    @cached_property
    def medians(self) -> dict[tuple[str, Quantity], Interval]:
        """The median of each layout and quantity, in seconds, with its interval."""
        return {key: median_interval(seconds) for key, seconds in self.times.items()}

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a layout: bm_file's columns under its names, then ours in bytes and seconds."""
        rows, names = self.rows, self.targets
        source = self.frame[(self.frame["phase"] == "stat") & (self.frame["case"] == "")]
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
        numbers = {name: int(number) for number, name in BM_FORMATS.items()}
        table["input format"] = next((numbers.get(name, name) for name in source["format"]), "")
        table["output_format"] = [numbers.get(name, name) for name in first["format"].astype(str)]
        table["input size"] = source["file_bytes"].max()
        table["output size"] = size
        for column, phase in BM_TIMES.items():
            table[column] = (1e6 * middle.get(("wall_s", phase), none)).round(1)
        for column, time in BM_RATES.items():
            table[column] = (useful / table[time].where(table[time] > 0)).round(3)
        order = first["byteorder"].where(~first["format"].isin(CLASSIC), "")
        table["enddianness"] = order.map({"little": 1, "big": 2}).fillna(0).astype(int)
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
        leaders = []
        for quantity in self.quantities:
            typical = {name: x.value for (name, q), x in self.medians.items() if q == quantity}
            top, *others = sorted(typical, key=lambda name: (typical[name], name))
            slower = {name: self._ratio(quantity, name, top) for name in others}
            alike = tuple(name for name, x in slower.items() if x is not None and x.low <= 1)
            ahead = not others or len(alike) < len(others)
            leaders.append(Best(quantity, top, alike, slower.get(COPY), ahead))
        return leaders

    def _ratio(self, quantity: Quantity, of: str, to: str) -> Interval | None:
        a, b = self.times[of, quantity], self.times[to, quantity]
        return paired_ratio(a, b) if (a.notna() & b.notna()).any() else None

    @cached_property
    def overall(self) -> tuple[str, Interval, list[Quantity]] | None:
        """The layout that is best over all patterns, by how much, and over which; None: of none."""
        patterns = [q for q in self.quantities if q.cache_state]
        cold = [q for q in patterns if q.cache_state == "cold"] or patterns
        names = [name for name in self.targets if all((name, q) in self.times for q in cold)]
        if COPY not in names or len(names) < 2 or not cold:
            return None
        seconds = {(name, q): self.times[name, q] for name in names for q in cold}
        whole = pd.concat(seconds.values(), axis=1).notna().all(axis=1)
        if not whole.any():
            return None
        # Patterns count alike, over the blocks that have them all.
        gains = {
            name: geometric_mean_ratio(
                [(seconds[COPY, q][whole], seconds[name, q][whole]) for q in cold]
            )
            for name in names
            if name != COPY
        }
        top = max(gains, key=lambda name: gains[name].value)
        return top, gains[top], cold
