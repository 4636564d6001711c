"""Which layout is best for what, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from hyperslab.measure.stats import Interval, geometric_mean_ratio, paired_ratio

from .summary import COPY, Quantity, quantities, targets, times


def ratio(
    seconds: Mapping[tuple[str, Quantity], pd.Series], quantity: Quantity, of: str, to: str
) -> Interval | None:
    """Return how many times as long one layout takes as another, paired by block.

    None when the two were never measured in one block.
    """
    if (of, quantity) not in seconds or (to, quantity) not in seconds:
        return None
    both = pd.concat([seconds[of, quantity], seconds[to, quantity]], axis=1, join="inner").dropna()
    return None if both.empty else paired_ratio(both.iloc[:, 0], both.iloc[:, 1])


@dataclass(frozen=True)
class Best:
    """The quickest layout for one quantity.

    Parameters
    ----------
    quantity
    target
        The layout with the lowest median.
    alike
        Others whose paired ratio to it cannot be told from one.
    gain
        Time of the layout compared with over that of the best; None when that is the best itself.
    baseline
        The layout compared with: the file's own, else the slowest.
    ahead
        Whether it is told apart from any other; if not, no layout is the best.
    """

    quantity: Quantity
    target: str
    alike: tuple[str, ...]
    gain: Interval | None
    baseline: str
    ahead: bool = True


def best(frame: pd.DataFrame) -> list[Best]:
    """Return the quickest layout for every quantity, and by how much."""
    seconds = times(frame)
    typical = {key: float(values.median()) for key, values in seconds.items()}
    names, found = targets(frame), []
    for quantity in quantities(frame):
        having = [name for name in names if (name, quantity) in typical]
        order = [name for _, name in sorted((typical[name, quantity], name) for name in having)]
        top = order[0]
        base = COPY if COPY in having else order[-1]
        alike = []
        for name in order[1:]:
            slower = ratio(seconds, quantity, name, top)
            if slower is not None and slower.low <= 1:
                alike.append(name)
        gain = ratio(seconds, quantity, base, top) if base != top else None
        ahead = len(order) == 1 or len(alike) < len(order) - 1
        found.append(Best(quantity, top, tuple(alike), gain, base, ahead))
    return found


def overall(frame: pd.DataFrame) -> tuple[str, Interval, list[Quantity]] | None:
    """Return the layout that is best over all patterns, by how much, and over which.

    Patterns count alike (a geometric mean of paired ratios to the file's own layout), read cold
    where that was measured.

    Returns
    -------
    tuple
        The layout, how many times as fast as the file's own it is, and the patterns; None when
        there is nothing to compare.
    """
    seconds = times(frame)
    known = [q for q in quantities(frame) if q.cache_state]
    cold = [q for q in known if q.cache_state == "cold"] or known
    names = [name for name in targets(frame) if all((name, q) in seconds for q in cold)]
    if COPY not in names or len(names) < 2 or not cold:
        return None
    joined = pd.concat(
        {(name, q.label): seconds[name, q] for name in names for q in cold}, axis=1, join="inner"
    ).dropna()
    if joined.empty:
        return None
    gains = {
        name: geometric_mean_ratio(
            [(joined[COPY, q.label].to_numpy(), joined[name, q.label].to_numpy()) for q in cold]
        )
        for name in names
        if name != COPY
    }
    top = max(gains, key=lambda name: gains[name].value)
    return top, gains[top], cold
