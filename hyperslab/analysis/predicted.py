"""How good predictions are: how far they are off, and how often they name the faster of two."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..measure.records import main
from ..measure.stats import median_interval
from ..text import ENOUGH, Interval

APART = 1.5
"""A pair of reads has a winner when their times differ by more than this factor."""


def share(good: int, of: int) -> Interval:
    """Return a share with its exact 95 % interval: two of two are not yet all."""
    from scipy.stats import binomtest

    ends = binomtest(good, of).proportion_ci()
    return Interval(good / of, float(ends.low), float(ends.high), max(of, ENOUGH))


def beside(measured: pd.DataFrame, predicted: pd.DataFrame) -> pd.DataFrame:
    """Return predictions (a row each, `mode` the way to predict) beside what was measured."""
    rows = main(measured)
    read = rows[rows["phase"] == "read"].groupby(["case", "cache_state"])["wall_s"]
    seconds = read.apply(lambda wall_s: median_interval(wall_s).value).rename("seconds")
    joined = predicted.join(seconds, on=["case", "cache_state"], how="inner")
    decoded = np.where(joined["codec"] != "", ", decoded", ", not decoded")
    return joined.assign(
        predicted=joined["wall_s"],
        error=joined["wall_s"] / joined["seconds"] - 1,
        regime=joined["cache_state"] + decoded,
    )


def errors(predictions: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how far predictions are off, as shares of the time measured, by some columns."""
    groups = predictions.assign(size=predictions["error"].abs()).groupby(list(by), sort=False)
    return groups.agg(
        reads=("size", "size"),
        median=("size", "median"),
        p90=("size", lambda size: size.quantile(0.9)),
        bias=("error", "median"),
    )


def winners(predictions: pd.DataFrame, alike: Sequence[str] = ()) -> tuple[int, int]:
    """Return of how many pairs of reads that are `alike` the faster was named, and their number."""
    times, guesses = predictions["seconds"].to_numpy(), predictions["predicted"].to_numpy()
    a, b = np.triu_indices(len(predictions), 1)
    counted = np.maximum(times[a], times[b]) > APART * np.minimum(times[a], times[b])
    for name in alike:
        values = predictions[name].to_numpy()
        counted &= values[a] == values[b]
    right = (times[a] < times[b]) == (guesses[a] < guesses[b])
    return int((right & counted).sum()), int(counted.sum())


def gains(records: pd.DataFrame) -> pd.DataFrame:
    """Return advised changes of a file, with `off`, the factor between gain and predicted gain."""
    positive = records["gain_predicted"].gt(0) & records["gain"].gt(0)
    chosen = records[positive & (records["hints"] != "as it is")]
    ratio = chosen["gain"] / chosen["gain_predicted"]
    return chosen.assign(off=np.maximum(ratio, 1 / ratio))
