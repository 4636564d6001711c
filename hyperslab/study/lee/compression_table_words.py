"""The tables of the page on compression, with their numbers from the records."""

import math
from typing import Any

import pandas as pd

from ...measure.stats import Interval
from ...text import comparison, listing
from ..penard.datasets import TABLE_5
from .compression_figures import MB, spelled


def table_5(sizes: pd.DataFrame) -> pd.DataFrame:
    """Return Table 5 with our ratios beside the document's.

    Parameters
    ----------
    sizes : pandas.DataFrame
        Records of the experiment "table5".
    """
    ratio = sizes["useful_bytes"] / sizes["file_bytes"]
    tiles = sizes["case"].str.partition("/")[0]
    return pd.DataFrame(
        {
            "tile": tiles,
            "document, times smaller": [f"{TABLE_5[tile]}" for tile in tiles],
            "here, times smaller": [f"{x:.1f}" for x in ratio],
            "bytes of the file": [f"{x:,.0f}" for x in sizes["file_bytes"]],
        }
    )


def levels(sized: pd.DataFrame, writing: pd.DataFrame) -> pd.DataFrame:
    """Return what each level of deflate makes of tile 1, as text.

    Parameters
    ----------
    sized : pandas.DataFrame
        Records of the experiment "sizes".
    writing : pandas.DataFrame
        From `costs`, of the writes.
    """
    timed = by_packing(writing, "tile1")
    least = sized["file_bytes"].iloc[0]
    rows = []
    for case, useful, stored in sized[["case", "useful_bytes", "file_bytes"]].to_numpy().tolist():
        cost = timed.get(case.partition("/")[2])
        ends = [1e3 * cost[name] for name in ("cpu_s", "low", "high")] if cost else []
        rows.append(
            {
                "deflate level": case.rpartition("-")[2],
                "bytes of the file": f"{stored:,.0f}",
                "times smaller": f"{useful / stored:.2f}",
                "against level 1": f"{comparison(stored / least, 'larger', 'smaller')}",
                "CPU to write, ms": "{:.0f} [{:.0f}, {:.0f}]".format(*ends) if ends else "–",
            }
        )
    return pd.DataFrame(rows)


def caption_levels(writing: pd.DataFrame) -> str:
    """Return the caption of the levels."""
    timed = [
        name.removeprefix("deflate-")
        for name in by_packing(writing, "tile1")
        if name.startswith("deflate-")
    ]
    return (
        "Tile 1 at every level of deflate, without shuffle. Sizes are exact, each file written "
        f"once; of the levels {listing(timed, 9)} the CPU time was measured, with 95 % intervals."
    )


def table(
    written: pd.DataFrame, read: pd.DataFrame, writing: pd.DataFrame, reading: pd.DataFrame
) -> pd.DataFrame:
    """Return times, ratios and break-even rates of all codecs on tile 1, as text."""
    state = state_of(read)
    rows = []
    for packing in writing[writing["group"] == "tile1"]["packing"]:
        case = f"tile1/{packing}"
        put, got = row_of(written, case), row_of(read[read["cache_state"] == state], case)
        plain = packing == "none"
        rows.append(
            {
                "codec": spelled(packing),
                "file, MB": f"{put['file_mb']:.2f}",
                "write, ms": _milliseconds(put),
                "mean of the middle": _mean(put),
                f"read {state}, ms": _milliseconds(got),
                "its middle mean": _mean(got),
                "write pays up to": "–" if plain else rate_words(row_of(writing, case)["rate"]),
                "read pays up to": "–" if plain else rate_words(row_of(reading, case)["rate"]),
            }
        )
    return pd.DataFrame(rows)


def caption_table() -> str:
    """Return the caption of the table."""
    return (
        "Tile 1 in all codecs: medians with 95 % intervals, then the document's own statistic, and "
        "the disk rate up to which the codec gains time against no compression."
    )


def by_packing(costs: pd.DataFrame, group: str) -> dict[str, dict[Any, Any]]:
    rows = costs[costs["group"] == group].to_dict("records")
    return {str(row["packing"]): row for row in rows}


def row_of(frame: pd.DataFrame, case: str) -> dict[Any, Any]:
    row: dict[Any, Any] = frame[frame["case"] == case].iloc[0].to_dict()
    return row


def state_of(read: pd.DataFrame) -> str:
    return "cold" if "cold" in set(read["cache_state"]) else "warm"


def rate_words(rate: Interval) -> str:
    """Return a disk rate in words; a codec that costs no time pays on any disk."""
    if math.isinf(rate.value):
        return "any rate"
    high = "∞" if math.isinf(rate.high) else _mb(rate.high)
    return f"{_mb(rate.value)} [{_mb(rate.low)}, {high}] MB/s"


def _mb(rate: float) -> str:
    value = rate / MB
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 1 else f"{value:.2g}"


def _milliseconds(row: dict[Any, Any]) -> str:
    return f"{1e3 * row['s']:.0f} [{1e3 * row['low']:.0f}, {1e3 * row['high']:.0f}]"


def _mean(row: dict[Any, Any]) -> str:
    return "–" if math.isnan(row["mean8"]) else f"{1e3 * row['mean8']:.0f}"
