"""What compression costs in processor time and saves in bytes, and on which disks it pays."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...measure.records import main
from ...measure.stats import Interval, median_interval, middle_eight, paired_ratio
from .tiles import FLOAT

# MB/s to the disk with one chunk per variable, large arrays: Table 2.
DOCUMENT_DISK = {"write": 42.0, "read": 44.0}
WRITING, READING = ("write", "sync"), ("read",)


def plain_of(group: str) -> str:
    """Return the case that stands for no compression in a group.

    Examples
    --------
    >>> plain_of("tile2"), plain_of("dbz")
    ('tile2/none', 'dbz/float')
    """
    return f"{group}/{'float' if group == FLOAT else 'none'}"


def times(records: pd.DataFrame, phases: tuple[str, ...]) -> pd.DataFrame:
    """Return the time of each case, and its ratio to that without compression.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment.
    phases : tuple of str
        Those whose seconds are summed: `WRITING` or `READING`.

    Returns
    -------
    pandas.DataFrame
        case, group, packing, cache_state, s, low, high, mean8 (seconds), ratio (an Interval:
        this time over the uncompressed one's), useful_mb, file_mb (10^6 bytes), n.
    """
    rows = []
    for pair in _pairs(records, phases, "wall_s"):
        median = median_interval(pair.values)
        rows.append(
            {
                "case": f"{pair.group}/{pair.packing}",
                "group": pair.group,
                "packing": pair.packing,
                "cache_state": pair.state,
                "s": median.value,
                "low": median.low,
                "high": median.high,
                "mean8": middle_eight(pair.values) if median.n > 2 else math.nan,
                "ratio": paired_ratio(pair.values, pair.plain),
                "useful_mb": pair.useful_bytes / 1e6,
                "file_mb": pair.file_bytes / 1e6,
                "n": median.n,
            }
        )
    return pd.DataFrame(rows)


def costs(records: pd.DataFrame, phases: tuple[str, ...]) -> pd.DataFrame:
    """Return what each case costs in processor time, and the disk rate at which it breaks even.

    On a disk of rate r a case takes its processor time and its bytes over r. Two cases take the
    same where r is the bytes that one saves over the processor time that it spends more.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment and cache state: writes, or warm reads, which no device delays.
    phases : tuple of str
        Those whose processor time is summed.

    Returns
    -------
    pandas.DataFrame
        case, group, packing, cpu_s, low, high (median processor seconds and their 95 %
        interval), each (processor seconds by block), plain_s (of the uncompressed one), extra_s
        (an Interval: their difference, paired by block), bytes, plain_bytes (of the files), rate
        (an Interval: break-even, bytes/s; infinite where the case spends no more time, 0 where it
        saves no byte).
    """
    frame = records.assign(cpu_s=records["user_s"] + records["sys_s"])
    plain_sizes: dict[str, float] = {}
    rows = []
    for pair in _pairs(frame, phases, "cpu_s"):
        before = plain_sizes.setdefault(pair.group, pair.file_bytes)  # the uncompressed comes first
        extra = median_interval(pair.values - pair.plain)
        spent = median_interval(pair.values)
        rows.append(
            {
                "case": f"{pair.group}/{pair.packing}",
                "group": pair.group,
                "packing": pair.packing,
                "cpu_s": spent.value,
                "low": spent.low,
                "high": spent.high,
                "each": pd.Series(pair.values, pair.blocks),
                "plain_s": float(np.median(pair.plain)),
                "extra_s": extra,
                "bytes": pair.file_bytes,
                "plain_bytes": before,
                "rate": break_even(before - pair.file_bytes, extra),
            }
        )
    return pd.DataFrame(rows)


def processor(costs: pd.DataFrame, of: str, to: str) -> Interval:
    """Return the processor time of one case over another's, paired by block.

    Parameters
    ----------
    costs : pandas.DataFrame
        From `costs`.
    of, to : str
        Cases.
    """
    each = costs.set_index("case")["each"]
    pair = pd.concat([each[of], each[to]], axis=1).dropna().to_numpy("f8")
    return paired_ratio(pair[:, 0], pair[:, 1])


def break_even(saved_bytes: float, extra_s: Interval) -> Interval:
    """Return the disk rate, in bytes/s, at which saving bytes is worth the time it costs.

    Parameters
    ----------
    saved_bytes : float
    extra_s : Interval
        Processor seconds spent more.

    Examples
    --------
    >>> break_even(100e6, Interval(0.5, 0.4, 1.0, 7))
    Interval(value=200000000.0, low=100000000.0, high=250000000.0, n=7)
    >>> break_even(100e6, Interval(-0.1, -0.2, 0.1, 7)).value
    inf
    """
    if saved_bytes <= 0:
        return Interval(0.0, 0.0, 0.0, extra_s.n)
    value, low, high = (
        saved_bytes / x if x > 0 else math.inf for x in (extra_s.value, extra_s.high, extra_s.low)
    )
    return Interval(value, low, high, extra_s.n)


def relative_time(cost: Mapping[Any, Any], rates: ArrayLike) -> NDArray[np.float64]:
    """Return a case's time over the uncompressed one's, on disks of some rates.

    Parameters
    ----------
    cost : mapping
        A row of `costs`.
    rates : array_like, shape (n,)
        Bytes/s.

    Returns
    -------
    array, shape (3, n)
        Estimate, and the ends of its interval.

    Examples
    --------
    >>> row = {"plain_s": 1.0, "bytes": 10.0, "plain_bytes": 110.0}
    >>> row["extra_s"] = Interval(2.0, 2.0, 2.0, 7)
    >>> relative_time(row, [1e-9, 50.0, 1e12])[0].round(3)
    array([0.091, 1.   , 3.   ])
    """
    each = np.asarray(rates, dtype="f8")
    extra = cost["extra_s"]
    plain = cost["plain_s"] + cost["plain_bytes"] / each
    ends = (extra.value, extra.low, extra.high)
    return np.stack([(cost["plain_s"] + x + cost["bytes"] / each) / plain for x in ends])


def device_rate(records: pd.DataFrame, phases: tuple[str, ...], case: str) -> float:
    """Return the rate, in bytes/s, that a case's file moved at while the processor was idle.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment and cache state.
    phases : tuple of str
    case : str

    Returns
    -------
    float
        NaN where less than a hundredth of the time was spent waiting.
    """
    rows = main(records)
    rows = rows[rows["case"] == case]
    stored = rows["file_bytes"].max()
    part = rows[rows["phase"].isin(phases)].groupby("block")[["wall_s", "user_s", "sys_s"]].sum()
    waited = part["wall_s"] - part["user_s"] - part["sys_s"]
    if not len(part) or waited.median() <= 0.01 * part["wall_s"].median():
        return math.nan
    return float(stored / waited.median())


def seen(puts: pd.DataFrame, gets: pd.DataFrame) -> dict[str, tuple[float, dict[str, Interval]]]:
    """Return what this disk did with tile 1: its rate, and the measured ratio of each layout.

    Parameters
    ----------
    puts, gets : pandas.DataFrame
        Records of the experiments "write" and "read"; of reads the cold ones count.

    Returns
    -------
    dict
        For "write" and "read": the disk's rate in bytes/s, and time over the uncompressed one's
        by layout; "read" is missing where nothing was read cold.
    """
    cold = gets[(gets["cache_state"] == "cold") & (gets["status"] == "ok")]
    found = {}
    for name, part, phases in (("write", puts, WRITING), ("read", cold, READING)):
        if not part.empty:
            timed = times(part, phases)
            first = timed[timed["group"] == "tile1"]
            rate = device_rate(part, phases, plain_of("tile1"))
            found[name] = (rate, dict(zip(first["packing"], first["ratio"], strict=True)))
    return found


@dataclass(frozen=True)
class _Pair:
    """A case's values and the uncompressed one's, over the blocks that hold both."""

    state: str
    group: str
    packing: str
    blocks: pd.Index
    values: NDArray[np.float64]
    plain: NDArray[np.float64]
    useful_bytes: float
    file_bytes: float


def _pairs(records: pd.DataFrame, phases: tuple[str, ...], column: str) -> Iterator[_Pair]:
    rows = main(records)
    for state, part in rows.groupby("cache_state"):
        sizes = part.groupby("case")[["useful_bytes", "file_bytes"]].max()
        moved = part[part["phase"].isin(phases)]
        table = moved.groupby(["block", "case"])[column].sum().unstack("case")
        for case in sorted(table.columns, key=_rank):
            group, _, packing = str(case).partition("/")
            if (plain := plain_of(group)) not in table:
                continue
            pair = table[[case, plain]].set_axis(["case", "plain"], axis=1).dropna()
            if pair.empty:
                continue
            yield _Pair(
                str(state),
                group,
                packing,
                pair.index,
                pair["case"].to_numpy("f8"),
                pair["plain"].to_numpy("f8"),
                float(sizes["useful_bytes"][case]),
                float(sizes["file_bytes"][case]),
            )


def _rank(case: str) -> tuple[bool, str, int, str]:
    """Order cases: by group, the uncompressed one first, then by codec."""
    group, _, packing = case.partition("/")
    order = ("none", "float", "deflate", "shuffle", "zstd", "blosc", "bitround", "int16")
    return group == FLOAT, group, order.index(packing.split("-")[0]), packing
