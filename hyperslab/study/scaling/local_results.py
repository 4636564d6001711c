"""Speed-ups, and cores in use, from the records of the page on threads and processes."""

from __future__ import annotations

import math

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval, paired_ratio
from .local import ALONE, BEYOND, PROCESSES, THREADS, WAYS, name

NAMES = {
    "netcdf4": "netCDF4-python",
    "h5py": "h5py",
    "subchunk": "hyperslab.subchunk",
    "zarr-deflate": "Zarr, deflate",
    "zarr": "Zarr, Blosc",
}
"""What the page calls a library and its format."""


def speedups(records: pd.DataFrame) -> pd.DataFrame:
    """Return how much faster several workers read than one, for each library.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "maps".

    Returns
    -------
    pandas.DataFrame
        way (a key of `NAMES`), mode, workers, beyond (more than there are cores), gain, low, high
        (time of one worker over theirs, paired by block, without starting them), n (blocks), cores
        (CPU time over wall time), cpu (CPU time over that of one worker), start_ms, rate (bytes of
        values a second).
    """
    rows = main(records)
    read, start = (rows[rows["phase"] == phase] for phase in ("read", "start"))
    wall = read.pivot_table(index="block", columns="case", values="wall_s")
    starts = start.groupby("case")["wall_s"].median()
    found = []
    for case, part in read.groupby("case", sort=False):
        way = str(case).partition("/")[0]
        alone = name(way, ALONE, 1)
        both = wall[[alone, str(case)]].dropna() if case != alone else wall[[alone]].dropna()
        ratio = (
            Interval(1.0, 1.0, 1.0, len(both))
            if case == alone
            else paired_ratio(both[alone], both[str(case)])
        )
        cpu = (part["user_s"] + part["sys_s"]).median()
        found.append(
            {
                "way": way,
                "mode": part["mode"].iloc[0],
                "workers": int(part["ranks"].iloc[0]),
                "beyond": part["hints"].iloc[0] == BEYOND,
                "gain": ratio.value,
                "low": ratio.low,
                "high": ratio.high,
                "n": ratio.n,
                "cores": ((part["user_s"] + part["sys_s"]) / part["wall_s"]).median(),
                "cpu": cpu / _cpu(read, alone),
                "start_ms": 1e3 * starts.get(case, math.nan),
                "rate": (part["useful_bytes"] / part["wall_s"]).median(),
            }
        )
    table = pd.DataFrame(found)
    order = {way: place for place, way in enumerate(WAYS)}
    return table.sort_values(
        ["way", "mode", "workers"], key=lambda column: column.replace(order), ignore_index=True
    )


def one(table: pd.DataFrame, way: str, mode: str, workers: int) -> Interval:
    """Return the speed-up of some workers as an interval.

    Raises
    ------
    KeyError
        When there is no such row.
    """
    rows = table[(table["way"] == way) & (table["mode"] == mode) & (table["workers"] == workers)]
    if rows.empty:
        raise KeyError(f"no {workers} {mode} of {way} among the records")
    row = rows.iloc[0]
    return Interval(row["gain"], row["low"], row["high"], int(row["n"]))


def in_use(table: pd.DataFrame, way: str, mode: str, workers: int) -> float:
    """Return how many cores some workers used on average."""
    rows = table[(table["way"] == way) & (table["mode"] == mode) & (table["workers"] == workers)]
    return float(rows["cores"].iloc[0])


def faster(table: pd.DataFrame, way: str, workers: int) -> str:
    """Return which of threads and processes are faster by more than their intervals, or ""."""
    threads, processes = (one(table, way, mode, workers) for mode in (THREADS, PROCESSES))
    if threads.low > processes.high:
        return THREADS
    return PROCESSES if processes.low > threads.high else ""


def _cpu(read: pd.DataFrame, case: str) -> float:
    part = read[read["case"] == case]
    return float((part["user_s"] + part["sys_s"]).median())
