"""Times, peaks of memory and bytes moved from the records of the page on rechunking."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval, median_interval, paired_ratio
from .rechunk import COPY, CUBED, NEEDS, P2P, THREADS

MIB = 2**20
NAMES = {
    COPY: "hyperslab",
    CUBED: "cubed",
    THREADS: "dask, threads",
    P2P: "dask, p2p",
}
"""What the page calls an engine."""


@dataclass(frozen=True)
class Picked:
    """The engine that is recommended, and what it was picked by.

    Parameters
    ----------
    engine : str
        A key of `NAMES`.
    within : bool
        Whether it stayed within the allowed memory; if not, none did, and it took the least.
    alike : tuple of str
        Others that stayed within it and are not told apart from it by time.
    """

    engine: str
    within: bool
    alike: tuple[str, ...] = ()


def table(records: pd.DataFrame, stores: pd.DataFrame, allowed_bytes: int) -> pd.DataFrame:
    """Return what each engine took.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "rechunk".
    stores : pandas.DataFrame
        Of the experiment "stores".
    allowed_bytes : int
        Memory that an engine was given.

    Returns
    -------
    pandas.DataFrame
        engine (a key of `NAMES`), version, s, s_low, s_high, n (blocks), mib, mib_low, mib_high
        (most memory over what there was at the start), within (whether it never was more than
        allowed), cpu_s, read, written (bytes), copy (bytes), reads (bytes read for each of the
        source's), writes (bytes written for each of the copy's).
    """
    rows = main(records)
    rows = rows[rows["phase"] == "rewrite"]
    source = stores["file_bytes"].iloc[0]
    found = []
    for engine in NAMES:
        part = rows[rows["mode"] == engine]
        if part.empty:
            continue
        time, peak = median_interval(part["wall_s"]), median_interval(part["peak_bytes"] / MIB)
        read, written = part["rchar"].median(), part["wchar"].median()
        copy = part["file_bytes"].median()
        found.append(
            {
                "engine": engine,
                "version": part["library_version"].iloc[0],
                "s": time.value,
                "s_low": time.low,
                "s_high": time.high,
                "n": time.n,
                "mib": peak.value,
                "mib_low": peak.low,
                "mib_high": peak.high,
                "within": bool(part["peak_bytes"].max() <= allowed_bytes),
                "cpu_s": (part["user_s"] + part["sys_s"]).median(),
                "read": read,
                "written": written,
                "copy": copy,
                "reads": read / source,
                "writes": written / copy,
            }
        )
    return pd.DataFrame(found)


def ratio(records: pd.DataFrame, of: str, to: str) -> Interval:
    """Return the time of one engine over that of another, paired by block.

    Raises
    ------
    KeyError
        When there is no such engine among the records.
    """
    rows = main(records)
    rows = rows[rows["phase"] == "rewrite"]
    wall = rows.pivot_table(index="block", columns="mode", values="wall_s")
    for engine in (of, to):
        if engine not in wall:
            raise KeyError(f"no {engine} among the records")
    both = wall[[of, to]].dropna()
    return paired_ratio(both[of], both[to])


def pick(records: pd.DataFrame, measured: pd.DataFrame) -> Picked:
    """Return the fastest engine that stayed within the allowed memory.

    Where none did it is the one that took the least.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "rechunk".
    measured : pandas.DataFrame
        From `table`.
    """
    kept = measured[measured["within"]].sort_values("s")
    if kept.empty:
        return Picked(str(measured.sort_values("mib")["engine"].iloc[0]), within=False)
    first, *others = kept["engine"].tolist()
    alike = tuple(name for name in others if ratio(records, name, first).contains(1.0))
    return Picked(first, within=True, alike=alike)


def one(measured: pd.DataFrame, engine: str) -> pd.Series[float]:
    """Return the row of an engine.

    Raises
    ------
    KeyError
        When there is none.
    """
    rows = measured[measured["engine"] == engine]
    if rows.empty:
        raise KeyError(f"no {engine} among the records")
    return rows.iloc[0]


def absent(measured: pd.DataFrame) -> list[str]:
    """Return the engines that have no row."""
    return [name for name in NEEDS if name not in set(measured["engine"])]
