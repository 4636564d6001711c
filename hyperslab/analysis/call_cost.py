"""What a call costs beyond its bytes, and how many bytes make it cheap."""

from typing import Any

import numpy as np
import pandas as pd

from ..measure.stats import median_interval
from ..text import Interval
from .compare import UNKNOWN


def extra(times: pd.DataFrame, of: Any, to: Any, calls: int) -> Interval:
    """Return what one row takes more than another in each of its calls, in seconds.

    Parameters
    ----------
    times : pandas.DataFrame
        From `compare`; differences are taken within blocks.
    of, to : label or tuple of labels
        Rows of it: one in many calls, and one in a single call, or in as many.
    calls : int
        That the difference is spread over.

    Examples
    --------
    >>> blocks = [pd.Series([1.0] * 7), pd.Series([3.0] * 7)]
    >>> extra(pd.DataFrame({"blocks": blocks}, index=["one", "many"]), "many", "one", 100).value
    0.02
    """
    if of not in times.index or to not in times.index:
        return UNKNOWN
    more = (times["blocks"][of] - times["blocks"][to]).dropna()
    return median_interval(more.to_numpy() / calls) if len(more) else UNKNOWN


def enough(rates: pd.DataFrame) -> "pd.Series[Any]":
    """Return how many bytes a call must move to reach half the rate of the largest call.

    Parameters
    ----------
    rates : pandas.DataFrame
        From `compare`: rates by a label and the bytes of a call.

    Returns
    -------
    pandas.Series
        Intervals of bytes, by the label: interpolated between the sizes, block by block. A row
        that has half at its smallest size has that size.

    Examples
    --------
    >>> index = pd.MultiIndex.from_tuples([("a", b) for b in (100, 1600, 6400)], names=["x", "b"])
    >>> blocks = [pd.Series([rate] * 7) for rate in (1.0, 4.0, 4.0)]
    >>> round(enough(pd.DataFrame({"blocks": blocks}, index=index))["a"].value)
    400
    """
    found: dict[Any, Interval] = {}
    for name, part in rates["blocks"].groupby(level=0, sort=False, observed=True):
        keys: list[Any] = [key for key, blocks in part.items() if len(blocks)]
        if not keys:
            continue
        table = pd.concat({float(key[1]): part[key] for key in keys}, axis=1)
        table = table.sort_index(axis=1).dropna()
        sizes = [_halfway(row / row.iloc[-1]) for _, row in table.iterrows()]
        found[name] = median_interval(sizes)
    return pd.Series(found).rename_axis(str(rates.index.names[0]))


def _halfway(shares: "pd.Series[float]") -> float:
    """Return the size at which shares first come to a half.

    Larger calls may fall below it again, when their memory is new; the cost of a call is not why.
    """
    sizes, known = np.log(shares.index.to_numpy("f8")), np.log(shares.to_numpy())
    at = int(np.flatnonzero(shares >= 0.5)[0])
    if not at:
        return float(shares.index[0])
    part = (np.log(0.5) - known[at - 1]) / (known[at] - known[at - 1])
    return float(np.exp(sizes[at - 1] + part * (sizes[at] - sizes[at - 1])))
