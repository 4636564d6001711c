"""Times, speed-ups and counts from the records of the page on dask."""

from __future__ import annotations

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval, median_interval, paired_ratio
from .reduce import ALIGNED, CACHED, INDEXED, MISALIGNED, TASKS

NAMES = {
    ALIGNED: "whole maps",
    MISALIGNED: "bands of maps",
    CACHED: "bands, netCDF4",
    INDEXED: "bands, with an index",
}
"""What the page calls a chunking."""


def times(records: pd.DataFrame) -> pd.DataFrame:
    """Return the time of each computation, and how much faster it is than by one worker.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "reduce".

    Returns
    -------
    pandas.DataFrame
        mode (a key of `NAMES`, or `TASKS`), workers, ms, low, high (of computing), open_ms (of
        making the graph), gain, gain_low, gain_high (time of one worker over theirs, paired by
        block), n (blocks), busy (CPU time of the workers over the time that they had), cpu_ms,
        bytes (that they read), tasks (of the graph), touched (chunks to decompress).
    """
    rows = main(records)
    computed, opened = (rows[rows["phase"] == phase] for phase in ("compute", "open"))
    wall = computed.pivot_table(index="block", columns=["mode", "ranks"], values="wall_s")
    found = []
    for mode, workers in computed[["mode", "ranks"]].drop_duplicates().itertuples(index=False):
        part = computed[(computed["mode"] == mode) & (computed["ranks"] == workers)]
        middle = median_interval(1e3 * part["wall_s"])
        both = wall[[(mode, 1.0), (mode, workers)]].dropna() if workers > 1 else None
        gain = (
            paired_ratio(both.iloc[:, 0], both.iloc[:, 1])
            if both is not None
            else Interval(1.0, 1.0, 1.0, middle.n)
        )
        first = opened[(opened["mode"] == mode) & (opened["ranks"] == workers)]
        cpu = part["user_s"] + part["sys_s"]
        found.append(
            {
                "mode": mode,
                "workers": int(workers),
                "ms": middle.value,
                "low": middle.low,
                "high": middle.high,
                "open_ms": 1e3 * first["wall_s"].median(),
                "gain": gain.value,
                "gain_low": gain.low,
                "gain_high": gain.high,
                "n": middle.n,
                "busy": (cpu / (part["wall_s"] * workers)).median(),
                "cpu_ms": 1e3 * cpu.median(),
                "bytes": part["rchar"].median(),
                "tasks": part["tasks"].iloc[0],
                "touched": part["predicted_reads"].iloc[0],
            }
        )
    return pd.DataFrame(found)


def ratio(records: pd.DataFrame, of: str, to: str, workers: int) -> Interval:
    """Return the time of one chunking over that of another, paired by block.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "reduce".
    of, to : str
        Keys of `NAMES`.
    workers : int
    """
    rows = main(records)
    rows = rows[(rows["phase"] == "compute") & (rows["ranks"] == workers)]
    table = rows.pivot_table(index="block", columns="mode", values="wall_s")[[of, to]].dropna()
    return paired_ratio(table[of], table[to])


def task_us(table: pd.DataFrame, workers: int) -> float:
    """Return the microseconds that a task of nothing takes."""
    row = one(table, TASKS, workers)
    return float(1e3 * row["ms"] / row["tasks"])


def one(table: pd.DataFrame, mode: str, workers: int) -> pd.Series[float]:
    """Return the row of a chunking and a number of workers.

    Raises
    ------
    KeyError
        When there is none.
    """
    rows = table[(table["mode"] == mode) & (table["workers"] == workers)]
    if rows.empty:
        raise KeyError(f"no {mode} by {workers} workers among the records")
    return rows.iloc[0]
