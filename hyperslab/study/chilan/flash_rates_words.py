"""What the rates of the FLASH checkpoint say, and what sets the libraries apart in them."""

from typing import Any

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval
from ...parallel import counted as in_words
from ...text import ENOUGH, amount, spread
from .flash import CHECKPOINT, FEW
from .results import MODES, NAMES, best_words, faster, rates, rows_of


def table_rates(times: pd.DataFrame) -> pd.DataFrame:
    """Return the rates in MB/s by ranks.

    Parameters
    ----------
    times : pandas.DataFrame
        From `results.timed`.
    """
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    best: dict[tuple[str, ...], dict[float, str]] = {}
    for row in rows_of(times[times["pattern"] == CHECKPOINT]):
        key = (f"{row['size']}³", NAMES[row["library"]], MODES[row["mode"]])
        head = dict(zip(("block", "library", "mode"), key, strict=True))
        rows.setdefault(key, head)[in_words(row["ranks"])] = _rate(row)
        if row["best_rate"] > 0:
            best.setdefault(key, {})[row["ranks"]] = f"{row['best_rate'] / 1e6:,.0f}"
    ranks = sorted(times["ranks"].unique())
    columns = ["block", "library", "mode", *map(in_words, ranks)]
    if best:
        columns.append(f"best of three of {' / '.join(f'{n:.0f}' for n in ranks)} ranks")
        for way, found in best.items():
            listed = " / ".join(found.get(n, "–") for n in ranks)
            rows[way][columns[-1]] = f"{listed} MB/s"
    return pd.DataFrame(rows.values(), columns=columns).fillna("–")


def caption_rates(times: pd.DataFrame) -> str:
    """Return the caption of the table of rates; "" where nothing was timed.

    Parameters
    ----------
    times : pandas.DataFrame
        From `results.timed`.
    """
    if times.empty:
        return ""
    n = times["n"]
    return (
        "Rates of writing the checkpoint into this machine's page cache, medians with "
        f"{spread(n.max(), n.min())}{best_words(times)}."
    )


def apart(checkpoint: pd.DataFrame, sizes: pd.DataFrame) -> str:
    """Return what sets HDF5 and PnetCDF apart when both write collectively, and what does not.

    Parameters
    ----------
    checkpoint, sizes : pandas.DataFrame
        The experiments "checkpoint" and "sizes".
    """
    if checkpoint.empty:
        return ""
    rows = checkpoint[checkpoint["ranks"] == FEW]
    of, to, other = "hdf5/collective/16", "pnetcdf/collective/16", "pnetcdf/collective/16 as bytes"
    both, spared, rest = (rates(rows, a, b) for a, b in ((of, to), (other, to), (of, other)))
    if both is None or spared is None or rest is None:
        return ""
    of_each = [_histogram(sizes, case) for case in (of, to)]
    alike = (
        "as many requests, of the same sizes,"
        if of_each[0] == of_each[1]
        else "requests of another number or other sizes"
    )
    used = [_user_s(rows, case) for case in (of, to, other)]
    left = faster("HDF5", "PnetCDF", rest)
    if min(both.value, spared.value) > 1 and _told(both) and _told(spared):
        left += (
            " What is left of the difference is not explained here."
            if _told(rest)
            else " So turning them is what sets the two apart."
        )
    return (
        f"**What sets the two apart.** While they write, {in_words(FEW)} make {alike} through HDF5 "
        f"and through PnetCDF, collectively. By the rates {faster('HDF5', 'PnetCDF', both)} "
        "netCDF's classic formats keep the bytes of a number in the other order than the "
        "processors of PCs, so that PnetCDF turns each value; HDF5 keeps the processor's order. "
        "The document's machines, IBM Power under AIX, have the order of the file, where there is "
        "nothing to turn. So the same bytes were written once more through PnetCDF as values of "
        "one byte, which need no turning: "
        f"{faster('leaving them as they are', 'turning them', spared)} The "
        f"CPU time in user mode is {amount(used[1], 's')} with turning and "
        f"{amount(used[2], 's')} without, and "
        f"{amount(used[0], 's')} through HDF5 (medians, of all ranks). Without turning: {left}"
    )


def _rate(row: dict[str, Any]) -> str:
    ends = (row["rate_low"] / 1e6, row["rate_high"] / 1e6)
    inside = f" [{ends[0]:,.0f}, {ends[1]:,.0f}]" if row["n"] > 1 else ""
    return f"{row['rate'] / 1e6:,.0f}{inside} MB/s"


def _told(found: Interval) -> bool:
    return found.n >= ENOUGH and not found.contains(1)


def _histogram(sizes: pd.DataFrame, case: str) -> dict[float, float]:
    mine = sizes[(sizes["case"] == case) & (sizes["phase"] == "write") & (sizes["ranks"] == FEW)]
    return dict(zip(mine["chunk_bytes"], mine["requests"], strict=True))


def _user_s(rows: pd.DataFrame, case: str) -> float:
    mine = main(rows)
    return float(mine[(mine["case"] == case) & (mine["phase"] == "write")]["user_s"].median())
