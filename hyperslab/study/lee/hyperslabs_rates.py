"""What the records of many calls say: rates, costs of a call, counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...measure.records import main
from ...measure.stats import Interval, median_interval, middle_eight, paired_ratio

HALF = 0.5
Counted = dict[str, dict[str, float]]
COUNTED = ("syscr", "rchar", "syscw", "wchar", "minflt", "user_s", "cache_bytes")


def parts(records: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Take the warm reads, which are measured in one, apart.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "read".

    Returns
    -------
    read, calls, strided : pandas.DataFrame
        Reads of the array, sweeps over the bytes of a call, and strided selections; the names of
        their cases begin with the way.

    Examples
    --------
    >>> cases = {"case": ["c/contiguous/one", "calls/c", "strided/c/chunked"]}
    >>> [part["case"].tolist() for part in parts(pd.DataFrame(cases))]
    [['c/contiguous/one'], ['c'], ['c/chunked']]
    """
    cases = records["case"]
    calls, strided = (cases.str.startswith(f"{name}/") for name in ("calls", "strided"))
    bare = records.assign(case=cases.str.replace("^(calls|strided)/", "", regex=True))
    return bare[~calls & ~strided], bare[calls], bare[strided]


def rates(records: pd.DataFrame, phases: Sequence[str]) -> pd.DataFrame:
    """Return the rate of each case.

    Parameters
    ----------
    records : pandas.DataFrame
        The reads of the array, or the experiment "write".
    phases : sequence of str
        Those whose seconds are summed.

    Returns
    -------
    pandas.DataFrame
        way, layout, mode, rate, low, high, mean8 (MB/s, 10^6 bytes; median and 95 % interval,
        and the document's own statistic), n.
    """
    timed = main(records)
    megabytes = timed["useful_bytes"].max() / 1e6
    found = []
    for case, seconds in _seconds(timed, phases).items():
        values = megabytes / seconds.dropna().to_numpy()
        if not values.size:
            continue
        median = median_interval(values)
        way, layout, mode = str(case).split("/")
        found.append(
            {
                "way": way,
                "layout": layout,
                "mode": mode,
                "rate": median.value,
                "low": median.low,
                "high": median.high,
                "mean8": middle_eight(values) if values.size > 2 else float("nan"),
                "n": median.n,
            }
        )
    return pd.DataFrame(found)


def compared(records: pd.DataFrame, phases: Sequence[str], of: str, to: str) -> Interval | None:
    """Return how many times slower one case is than another, paired by block.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment.
    phases : sequence of str
        Those whose seconds are summed.
    of, to : str
        Cases: seconds of the first over those of the second.

    Returns
    -------
    Interval or None
        None where one of them was not measured.
    """
    table = _seconds(main(records), phases)
    if not {of, to} <= set(table):
        return None
    pair = table[[of, to]].dropna()
    return paired_ratio(pair[of].to_numpy(), pair[to].to_numpy()) if len(pair) else None


def extra_us(records: pd.DataFrame, phase: str, of: str, to: str, calls: int) -> Interval | None:
    """Return what one case spends more than another in each of its calls.

    Parameters
    ----------
    records : pandas.DataFrame
        The reads of the array, or the experiment "write".
    phase : str
    of, to : str
        Cases.
    calls : int
        That the difference is spread over.

    Returns
    -------
    Interval or None
        In microseconds a call; None where one of them was not measured.
    """
    table = _seconds(main(records), (phase,))
    if not {of, to} <= set(table):
        return None
    difference = (table[of] - table[to]).dropna().to_numpy()
    return median_interval(1e6 * difference / calls) if difference.size else None


def counts(records: pd.DataFrame, phase: str) -> Counted:
    """Return what a phase of each case asks of the system: medians over blocks.

    Returns
    -------
    dict of dict
        By case, then by the names in `COUNTED`; NaN where the system does not count.
    """
    part = main(records)
    part = part[part["phase"] == phase]
    return {
        str(case): {name: float(rows[name].median()) for name in COUNTED}
        for case, rows in part.groupby("case", sort=False)
    }


def swept(records: pd.DataFrame) -> pd.DataFrame:
    """Return the cost of a call over its bytes.

    Parameters
    ----------
    records : pandas.DataFrame
        The sweeps.

    Returns
    -------
    pandas.DataFrame
        way, pattern, bytes (of one call), us, us_low, us_high (microseconds a call), share,
        share_low, share_high (the rate over that of one call for everything), faults (new pages
        of memory a call), n.
    """
    found = []
    part = main(records)
    part = part[part["phase"] == "read"]
    faults = (part["minflt"] / part["stages"]).groupby(
        [part["case"], part["useful_bytes"] / part["stages"]]
    )
    pages = faults.median()
    for way, table in _sweeps(records).items():
        for place, size in enumerate(table.columns):
            us = median_interval(1e6 * table[size].to_numpy())
            share = median_interval(_shares(table)[:, place])
            found.append(
                {
                    "way": way,
                    "bytes": float(size),
                    "us": us.value,
                    "us_low": us.low,
                    "us_high": us.high,
                    "share": share.value,
                    "share_low": share.low,
                    "share_high": share.high,
                    "faults": pages[way, size],
                    "n": us.n,
                }
            )
    return pd.DataFrame(found)


def affordable(records: pd.DataFrame) -> dict[str, Interval]:
    """Return the bytes a call must move to reach half the rate of one call, by way.

    Parameters
    ----------
    records : pandas.DataFrame
        The sweeps.

    Returns
    -------
    dict
        Bytes, interpolated between the sizes measured, block by block; a way that is there at
        the smallest size has that size.
    """
    found = {}
    for way, table in _sweeps(records).items():
        sizes = np.log(table.columns.to_numpy(dtype="f8"))
        crossings = [_crossing(sizes, row) for row in _shares(table)]
        found[way] = median_interval(np.exp(crossings))
    return found


def _crossing(sizes: NDArray[Any], shares: NDArray[Any]) -> float:
    """Give the logarithm of the size at which the share first comes to a half.

    Larger calls may fall below it again, when their memory is new; the cost of a call is not why.
    """
    first = int(np.flatnonzero(shares >= HALF)[0])  # everything in one call has the share one
    if not first:
        return float(sizes[0])
    low, high = np.log(shares[first - 1]), np.log(shares[first])
    part = (np.log(HALF) - low) / (high - low)
    return float(sizes[first - 1] + part * (sizes[first] - sizes[first - 1]))


def _sweeps(records: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Give seconds of a call for each way: blocks in rows, bytes of a call in columns."""
    part = main(records)
    part = part[part["phase"] == "read"]
    part = part.assign(
        size=part["useful_bytes"] / part["stages"], call=part["wall_s"] / part["stages"]
    )
    return {
        str(way): rows.pivot_table(index="block", columns="size", values="call").dropna()
        for way, rows in part.groupby("case", sort=False)
    }


def _shares(table: pd.DataFrame) -> NDArray[Any]:
    rates = table.columns.to_numpy(dtype="f8") / table.to_numpy()
    shares: NDArray[Any] = rates / rates[:, -1:]
    return shares


def _seconds(timed: pd.DataFrame, phases: Sequence[str]) -> pd.DataFrame:
    """Give seconds: blocks in rows, cases in columns, in the order they were declared."""
    part = timed[timed["phase"].isin(phases)]
    table = part.groupby(["block", "case"], sort=False)["wall_s"].sum().unstack("case")
    return table.sort_index()
