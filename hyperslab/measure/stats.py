"""Paired ratios and medians with intervals over blocks, and the documents' own statistics."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..text import ENOUGH
from ..text import Interval as Interval

_OUTSIDE = 1 - 0.95  # how often an interval may miss what it is of
BETWEEN_RUNS = 0.012
"""The standard deviation of a ratio's logarithm between runs of one machine that the blocks of one
run do not show: by `repeats` of runs at one pace on two processors, the median over claims."""
RUNS_HALF_WIDTH = NormalDist().inv_cdf(1 - _OUTSIDE / 2) * BETWEEN_RUNS
"""Half the width of an interval that had nothing else, in logarithms: 2.4 %."""


def median_interval(x: ArrayLike) -> Interval:
    """Return the median and its interval between two order statistics.

    From six values on it covers the true median in 95 % or more, whatever the distribution; a
    bootstrap of so few falls short (90 % for seven).

    Parameters
    ----------
    x : array_like, shape (n,)
        One value a block; NaN is dropped.

    Raises
    ------
    ValueError
        When no value is left.

    Examples
    --------
    >>> median_interval([3.0, 1.0, 2.0]).value
    2.0
    """
    values = np.sort(_clean(x))
    n = values.size
    rank = _outermost([math.comb(n, below) / 2**n for below in range(n)])
    return Interval(float(np.median(values)), float(values[rank - 1]), float(values[-rank]), n)


def paired_ratio(a: ArrayLike, b: ArrayLike) -> Interval:
    """Return the typical a/b over blocks and its interval, by Hodges and Lehmann.

    The estimate is the median of the geometric means of all pairs of ratios; its interval ends at
    two of these, by Wilcoxon's signed ranks. The logarithms of the ratios are taken to scatter
    alike to both sides. Below six blocks it is their range, which covers less than 95 %.

    Source: Hodges & Lehmann 1963; Hollander, Wolfe & Chicken 2014, section 3.3.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Two configurations, measured in the same n blocks, in the same order.

    Raises
    ------
    ValueError
        When the two differ in length or no pair is left.

    Examples
    --------
    >>> paired_ratio([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]).value
    2.0
    """
    return geometric_mean_ratio([(a, b)])


def geometric_mean_ratio(pairs: Sequence[tuple[ArrayLike, ArrayLike]]) -> Interval:
    """Return the ratio of two sides over several groups, as `paired_ratio` does for one.

    Parameters
    ----------
    pairs : sequence of (a, b)
        For each group, two arrays of shape (n,) as in `paired_ratio`; n is the same for all.

    Raises
    ------
    ValueError
        When there is no group, or the groups differ in their number of blocks.

    Examples
    --------
    >>> geometric_mean_ratio([([2.0, 2.0], [1.0, 1.0]), ([8.0, 8.0], [1.0, 1.0])]).value
    4.0
    """
    if not pairs:
        raise ValueError("no groups to take a mean of: give at least one pair of arrays")
    ratios = [_ratios(a, b) for a, b in pairs]
    if len({x.size for x in ratios}) != 1:
        raise ValueError(
            f"groups have {sorted({x.size for x in ratios})} blocks: all must have the same number"
        )
    with np.errstate(divide="ignore"):
        blocks = _clean(np.log(ratios).mean(axis=0))
    if np.ptp(blocks) == 0:  # a count: exactly what its quotient is
        value = float(np.exp(blocks[0]) if len(ratios) > 1 else _clean(ratios[0])[0])
        return Interval(value, value, value, blocks.size)
    value, low, high = np.exp(_hodges_lehmann(blocks)).tolist()
    return Interval(value, low, high, blocks.size)


def over_runs(ratio: Interval) -> Interval:
    """Return the interval of a ratio of times that holds over runs of the machine, not for one.

    `RUNS_HALF_WIDTH` is added in quadrature. What is exact stays so, and so does a range of fewer
    than six blocks.

    Examples
    --------
    >>> wider = over_runs(Interval(1.0, 0.99, 1.01, 7))
    >>> round(wider.low, 3), round(wider.high, 3)
    (0.975, 1.026)
    """
    value, low, high = ratio.value, ratio.low, ratio.high
    if ratio.n < ENOUGH or low == high or not 0 < value < math.inf:
        return ratio
    if low > 0:
        low = value * math.exp(-math.hypot(math.log(value / low), RUNS_HALF_WIDTH))
    if high < math.inf:
        high = value * math.exp(math.hypot(math.log(high / value), RUNS_HALF_WIDTH))
    return replace(ratio, low=low, high=high)


def _hodges_lehmann(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the estimate of a symmetric distribution's centre, and the ends of its interval."""
    first, second = np.triu_indices(x.size)
    walsh = np.sort((x[first] + x[second]) / 2)
    rank = _signed_rank(x.size)
    return np.array([np.median(walsh), walsh[rank - 1], walsh[-rank]])


@cache
def _signed_rank(n: int) -> int:
    """Return the rank among all sums of signed ranks at which the interval begins."""
    ways = np.ones(1)
    for rank in range(1, n + 1):  # each rank counts or does not
        ways = np.concatenate([ways, np.zeros(rank)]) + np.concatenate([np.zeros(rank), ways])
    return _outermost(ways / 2.0**n)


def _outermost(chances: ArrayLike) -> int:
    """Return how many of the first have the chance of one side of an interval; at least one."""
    return max(int(np.searchsorted(np.cumsum(chances), _OUTSIDE / 2, side="right")), 1)


def middle_eight(x: ArrayLike) -> float:
    """Return the mean without the best and the worst value.

    Source: Lee et al. 2008, section 2.2 (ten runs, the middle eight averaged).

    Raises
    ------
    ValueError
        When there are fewer than three values.

    Examples
    --------
    >>> middle_eight([1, 2, 3, 100])
    2.5
    """
    values = np.sort(_clean(x))
    if values.size < 3:
        raise ValueError(f"{values.size} values: dropping best and worst needs at least 3")
    return float(values[1:-1].mean())


def _clean(x: ArrayLike) -> NDArray[np.float64]:
    values: NDArray[np.float64] = np.asarray(x, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if not values.size:
        raise ValueError("no values: every sample is missing")
    return values


def _ratios(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    x, y = np.asarray(a, dtype="f8"), np.asarray(b, dtype="f8")
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"pairs need two 1-D arrays of one length, not {x.shape} and {y.shape}")
    ratio: NDArray[np.float64] = np.divide(x, y)
    return ratio
