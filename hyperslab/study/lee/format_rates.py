"""Rates of whole arrays in three formats, their ratios, and the counts behind them."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ...measure.records import main
from ...measure.stats import (
    Interval,
    geometric_mean_ratio,
    median_interval,
    middle_eight,
    paired_ratio,
)
from .format_cells import KINDS, UNCACHED

MB = 1e6


def per_block(
    records: pd.DataFrame, phases: Sequence[str], column: str = "wall_s"
) -> "pd.DataFrame":
    """Return a column summed over phases: rows are blocks, columns (cache state, case).

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment.
    phases : sequence of str
    column : str
        A record column that adds up over phases.
    """
    rows = main(records)
    rows = rows[rows["phase"].isin(list(phases))]
    sums = rows.groupby(["block", "cache_state", "case"])[column].sum(min_count=1)
    return sums.unstack(["cache_state", "case"])


def rates(records: pd.DataFrame, phases: Sequence[str]) -> pd.DataFrame:
    """Return the rate of every case.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment.
    phases : sequence of str
        Those whose seconds are summed.

    Returns
    -------
    pandas.DataFrame
        case, kind, size, dims, cache_state, rate, low, high (MB/s of 10^6 bytes, median and 95 %
        interval), mean8 (the document's own statistic), n.
    """
    useful = main(records).groupby("case")["useful_bytes"].max()
    rows = []
    table = per_block(records, phases)
    for key in table.columns:
        state, case = map(str, key)
        known = useful[case] / MB / table[key].dropna().to_numpy("f8")
        if not known.size:
            continue
        kind, size, dims = case.split("/")
        median = median_interval(known)
        rows.append(
            {
                "case": case,
                "kind": kind,
                "size": size,
                "dims": int(dims[:-1]),
                "cache_state": state,
                "rate": median.value,
                "low": median.low,
                "high": median.high,
                "mean8": middle_eight(known) if median.n > 2 else float("nan"),
                "n": median.n,
            }
        )
    return pd.DataFrame(rows)


def ratio(
    records: pd.DataFrame, phases: Sequence[str], of: str, to: str, state: str = ""
) -> Interval | None:
    """Return the rate of some cases over that of others, geometric mean over the shapes.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment.
    phases : sequence of str
    of, to : str
        Beginnings of the cases' names, such as "netcdf3/large/".
    state : str
        The cache state.

    Returns
    -------
    Interval or None
        None where no block holds all of them.
    """
    table = per_block(records, phases)
    if state not in table.columns.get_level_values(0):
        return None
    seconds = table.xs(state, axis=1, level="cache_state")
    found = [str(case)[len(of) :] for case in seconds if str(case).startswith(of)]
    shapes = [shape for shape in found if f"{to}{shape}" in seconds]
    both = seconds[[f"{side}{shape}" for shape in shapes for side in (of, to)]].dropna()
    if both.empty or not shapes:
        return None
    pairs = [
        (both[f"{to}{shape}"].to_numpy("f8"), both[f"{of}{shape}"].to_numpy("f8"))
        for shape in shapes
    ]
    return geometric_mean_ratio(pairs) if len(pairs) > 1 else paired_ratio(*pairs[0])


def counts(experiments: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what a large two-dimensional array asks of the system, by format and step.

    Parameters
    ----------
    experiments : mapping
        Records of "write-cached" and "read".

    Returns
    -------
    pandas.DataFrame
        kind, step ("create", "put", "close", "get"), wchar, syscw, rchar, syscr, minflt, user_s,
        sys_s, cache_bytes: medians over blocks.
    """
    names = ["wchar", "syscw", "rchar", "syscr", "minflt", "user_s", "sys_s", "cache_bytes"]
    steps = (
        ("write-cached", "create", "create"),
        ("write-cached", "write", "put"),
        ("write-cached", "close", "close"),
        ("read", "read", "get"),
    )
    rows = []
    for kind in (*KINDS, UNCACHED):
        for experiment, phase, step in steps:
            part = main(experiments[experiment])
            part = part[(part["case"] == f"{kind}/large/2d") & (part["phase"] == phase)]
            part = part[part["cache_state"].isin(("", "warm"))]
            if len(part):
                rows.append({"kind": kind, "step": step, **part[names].median()})
    return pd.DataFrame(rows)


def steps(experiments: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the time of each step of writing a large two-dimensional array to the page cache.

    Parameters
    ----------
    experiments : mapping
        Records of "write-cached", "allocation" and "cache".

    Returns
    -------
    pandas.DataFrame
        name, phase (one of `PHASES`, or "all"), ms, low, high: medians over blocks with 95 %
        intervals.
    """
    rows = []
    for experiment, kind, name in WRITES:
        for phase, summed in (*((phase, (phase,)) for phase in PHASES), ("all", PHASES)):
            seconds = per_block(experiments[experiment], summed)["", f"{kind}/large/2d"]
            ms = median_interval(1e3 * seconds)
            rows.append(
                {"name": name, "phase": phase, "ms": ms.value, "low": ms.low, "high": ms.high}
            )
    return pd.DataFrame(rows)


def cpu_ratio(
    records: pd.DataFrame, phase: str, of: str, to: str, state: str = ""
) -> Interval | None:
    """Return the CPU time of one case over that of another, user and system together.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment.
    phase, of, to, state : str
        The phase, the two cases, and their cache state.

    Returns
    -------
    Interval or None
        None where it was not counted.
    """
    user, system = (per_block(records, (phase,), column) for column in ("user_s", "sys_s"))
    if not {(state, of), (state, to)} <= set(user.columns):
        return None
    spent = (user + system)[[(state, of), (state, to)]].dropna().to_numpy("f8")
    return paired_ratio(spent[:, 0], spent[:, 1]) if len(spent) else None


def beside_dd(records: pd.DataFrame, phases: Sequence[str]) -> pd.DataFrame:
    """Return the rates of the large two-dimensional array, each over dd's.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "read" or "write-disk".
    phases : sequence of str
        Those whose seconds are summed.

    Returns
    -------
    pandas.DataFrame
        As from `rates`; ratio and over_plain: the rate over that of dd, and of a plain file from
        C (Interval; None of itself, or where that was not measured).
    """
    found = rates(records, phases)
    found = found[found["case"].isin(f"{kind}/large/2d" for kind in BESIDE)]
    for column, other in (("ratio", "dd"), ("over_plain", "plain")):
        ratios = [
            None
            if row["kind"] == other
            else ratio(records, phases, row["case"], f"{other}/large/2d", row["cache_state"])
            for row in found.to_dict("records")
        ]
        found = found.assign(**{column: pd.Series(ratios, index=found.index, dtype=object)})
    return found


PHASES = ("create", "write", "close")
BESIDE = ("netcdf3", "netcdf4-contiguous", "plain", "dd")


WRITES = (
    ("write-cached", "netcdf3", "netCDF-3"),
    ("write-cached", "netcdf4-contiguous", "netCDF-4, contiguous"),
    ("write-cached", "netcdf4-chunked", "netCDF-4, one chunk"),
    ("cache", "64MB", "one chunk, cache of 64 MB"),
    ("cache", "1MB", "one chunk, cache of 1 MB"),
    ("allocation", "default", "HDF5, one chunk"),
    ("allocation", "early", "HDF5, allocated at creation"),
)
"""Experiment, kind of case, and name of each write whose steps are told apart."""
