"""What the page on the cost model says, from records alone."""

from __future__ import annotations

import pandas as pd

from .figures import NAMES
from .results import APART, MODES, WANTED, errors, pairs, worst

_NEAR = 0.25  # off by no more: as good as right


def summary(found: pd.DataFrame, costs: pd.DataFrame) -> str:
    """Say how good the predictions are beside what was wanted of them."""
    made = costs[costs["mode"] == "made"].iloc[0]
    known = costs[(costs["mode"] == "cost") & (costs["wall_s"] > 0)]
    parts = [
        f"**What we found.** A calibration of {made['wall_s']:.0f} s ({made['points']:,.0f} reads "
        f"of files made for it) gave {len(known)} costs. {_reads(found)} reads of files "
        "that it had not seen, warm and some cold, were then measured and predicted."
    ]
    for mode in MODES:
        part = found[found["mode"] == mode]
        if not len(part):
            continue
        one = errors(part).iloc[0]
        parts.append(
            f"Predicted {NAMES[mode]}, half are off by {_of(one['median'], 'median')} and nine of "
            f"ten by {_of(one['p90'], 'p90')}{_bias(one['bias'])}. Of the pairs that differ by "
            f"more than {APART:g}×, the quicker one is named in {_share(found, mode, True)} where "
            f"both read the same values, and in {_share(found, mode, False)} of all."
        )
    return " ".join(parts)


def _reads(found: pd.DataFrame) -> int:
    """Return how many reads were predicted; one that is warm and one that is cold are two."""
    return len(found[["case", "cache_state"]].drop_duplicates())


def _of(value: float, key: str) -> str:
    kept = "as wanted" if value <= WANTED[key] else "more than was wanted"
    return f"{value:.0%} at most ({kept}: {WANTED[key]:.0%})"


def _bias(value: float) -> str:
    if abs(value) < 0.05:
        return ""
    return f", {abs(value):.0%} too {'long' if value > 0 else 'short'} in the middle"


def _share(found: pd.DataFrame, mode: str, alike: bool) -> str:
    counted, right = pairs(found, mode, alike=alike)
    if not counted:
        return "none (there are none)"
    kept = "as wanted" if right >= WANTED["pairs"] * counted else "less than was wanted"
    return f"{right / counted:.1%} of {counted:,} ({kept}: {WANTED['pairs']:.0%})"


def table_errors(found: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the errors by one column, formatted for a page."""
    rows = errors(found, [column])
    parts = []
    for name in sorted(set(rows[column])):
        part = rows[rows[column] == name].set_index("mode")
        row = {column: name, "reads": int(part["n"].max())}
        for mode in MODES:
            if mode in part.index:
                one = part.loc[mode]
                row |= {
                    f"median, {mode}": f"{one['median']:.0%}",
                    f"nine of ten, {mode}": f"{one['p90']:.0%}",
                    f"bias, {mode}": f"{one['bias']:+.0%}",
                }
        parts.append(row)
    return pd.DataFrame(parts)


def table_worst(found: pd.DataFrame) -> pd.DataFrame:
    """Return the reads that are predicted worst, formatted for a page."""
    blind = found[found["mode"] == "blind"].set_index(["case", "cache_state"])["error"]
    rows = []
    for row in worst(found, "probed").to_dict("records"):
        rows.append(
            {
                "read": f"{row['case']}, {row['cache_state']}",
                "measured, ms": f"{row['seconds'] * 1e3:.2f}",
                "predicted, ms": f"{row['predicted'] * 1e3:.2f}",
                "off by": f"{row['error']:+.0%}",
                "blind": f"{blind[row['case'], row['cache_state']]:+.0%}",
                "most of it": row["part"],
            }
        )
    return pd.DataFrame(rows)


def where_it_fails(found: pd.DataFrame) -> str:
    """Say in which regimes predictions are off, and what explains it."""
    said = []
    decoded = found[found["codec"] != ""]
    if len(decoded):
        by = errors(decoded).set_index("mode")["median"]
        if {"blind", "probed"} <= set(by.index):
            gain = by["blind"] - by["probed"]
            verb = "brings that to" if gain > 0.02 else "leaves it at"
            said.append(
                "Where chunks are decoded, sizes alone leave half of the predictions off by up to "
                f"{by['blind']:.0%}; decoding a few chunks of the file first {verb} "
                f"{by['probed']:.0%}."
            )
            if gain > 0.02:
                said.append(
                    "How long a byte takes depends on what it holds: noise passes through deflate "
                    "as literals, packed values as short matches, at the same ratio."
                )
    by_regime = errors(found[found["mode"] == "probed"], ["regime"])
    if len(by_regime):
        bad = by_regime.sort_values("median").iloc[-1]
        good = by_regime.sort_values("median").iloc[0]
        said.append(
            f"The best regime is “{good['regime']}” (median {good['median']:.0%}), the worst "
            f"“{bad['regime']}” ({bad['median']:.0%})."
        )
    far = worst(found, "probed", len(found))
    far = far[far["error"].abs() > _NEAR]
    if len(far):
        parts = far["part"].value_counts()
        listed = ", ".join(f"{name} {number}" for name, number in parts.items())
        said.append(
            f"{len(far)} reads are off by more than {_NEAR:.0%}; by the part that the model holds "
            f"for the largest, they are: {listed}. What no count of ours explains is left "
            "unexplained."
        )
    return " ".join(said)


def table_costs(costs: pd.DataFrame, library: str = "h5py") -> pd.DataFrame:
    """Return the costs of a library and of the disk, formatted for a page."""
    rows = costs[costs["mode"] == "cost"]
    unit = {
        "first": (1e6, "µs, first call"), "again": (1e6, "µs, further call"),
        "chunk": (1e6, "µs a chunk"), "run": (1e9, "ns a run"), "step": (1e9, "ns an element"),
        "small": (1e9, "ns a byte returned, small"), "large": (1e9, "ns a byte returned, large"),
        "new": (1e9, "ns a byte of new memory"), "raw": (1e9, "ns a byte of the file"),
        "request": (1e6, "µs a request"), "load": (1e6, "µs to load the codec"),
        "each": (1e6, "µs a chunk decoded"), "out": (1e9, "ns a byte decoded"),
        "in": (1e9, "ns a byte to decode"), "open": (1e6, "µs to open"),
        "extent": (1e6, "µs a stretch"), "byte": (1e9, "ns a byte"),
        "stream": (1e9, "ns a byte read on"), "tail": (1e6, "µs read ahead in vain"),
    }  # fmt: skip
    found = []
    for row in rows.to_dict("records"):
        way, _, term = str(row["case"]).rpartition(":")
        if way.startswith((library, "disk")) and row["wall_s"] > 0:
            factor, words = unit[term]
            found.append({"where": way, "cost": f"{row['wall_s'] * factor:.3g}", "unit": words})
    return pd.DataFrame(found)


def refused(rows: pd.DataFrame) -> str:
    """Say what the model answers where it does not know."""
    listed = " ".join(
        f"Asked for {row['case']}: “{row['hints']}”" for row in rows.to_dict("records")
    )
    return f"It guesses nothing. {listed}"


def advice() -> str:
    """Say what to do today."""
    return (
        "**What to do today.** `hyperslab advise --calibrate` once a machine, then `hyperslab "
        "advise FILE --access time_series=0.7 --access map=0.3`: it counts, predicts, and measures "
        "the best few."
    )


def caption_scatter(found: pd.DataFrame) -> str:
    """Say what the figure of predictions shows."""
    return (
        f"Predicted and measured time of {_reads(found)} reads of files that calibration "
        "had not seen: medians. The line is where both are equal."
    )


def caption_errors(found: pd.DataFrame) -> str:
    """Say what the figure of errors shows."""
    return (
        "How far predictions are off: the dot is the median, the bar reaches to where nine of ten "
        f"are. Dotted: what was wanted of both. {len(found)} predictions."
    )
