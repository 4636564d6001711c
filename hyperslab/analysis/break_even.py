"""Storage rates at which the bytes that compression saves are worth the CPU time that it takes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..measure.stats import median_interval
from ..text import Interval
from .cells import select
from .compare import compare


def costs(
    records: pd.DataFrame,
    by: str,
    over: str,
    against: str,
    phases: Sequence[str],
    where: Mapping[str, object],
) -> pd.DataFrame:
    """Return what cases cost in CPU time, and the storage rate at which they break even."""
    # On storage of rate r a case takes its CPU time, and its bytes over r.
    chosen = select(records, where)
    cpu = compare(chosen, "cpu_s", [over, by], phases=phases)["blocks"]
    stored = compare(chosen, "file_bytes", [over, by])["blocks"]
    rows: dict[str, dict[str, object]] = {}
    for name in cpu.index.unique(level=by):
        shared = [key for key in cpu.index if key[1] == name and (key[0], against) in cpu.index]
        own, plain = ([(key[0], way) for key in shared] for way in (name, against))
        table = pd.concat([*cpu[own], *cpu[plain]], axis=1, join="inner")
        if table.empty:
            continue
        spent, before = np.split(table.to_numpy("f8"), 2, axis=1)
        size, whole = (
            float(np.mean([stored[key].median() for key in keys])) for keys in (own, plain)
        )
        extra = median_interval((spent - before).mean(axis=1))
        rows[str(name)] = {
            "plain_s": float(np.median(before.mean(axis=1))), "plain_bytes": whole,
            "extra_s": extra, "bytes": size, "rate": rate(whole - size, extra),
        }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(by)


def rate(saved_bytes: float, extra_s: Interval) -> Interval:
    """Return the storage rate, in bytes/s, at which saving bytes is worth the time it takes."""
    saved, ends = max(saved_bytes, 0.0), (extra_s.value, extra_s.high, extra_s.low)
    value, low, high = (saved / x if x > 0 else math.inf for x in ends)
    return Interval(value, low, high, extra_s.n)


def relative_time(cost: Mapping[Any, Any], rates: ArrayLike) -> NDArray[np.float64]:
    """Return a row's time over the uncompressed one's, on storage of some rates in bytes/s."""
    bytes_per_s = np.asarray(rates, dtype="f8")
    extra = cost["extra_s"]
    plain = cost["plain_s"] + cost["plain_bytes"] / bytes_per_s
    ends = (extra.value, extra.low, extra.high)
    return np.stack([(cost["plain_s"] + x + cost["bytes"] / bytes_per_s) / plain for x in ends])
