"""Predicted beside measured, from records alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...measure.records import main
from ...measure.stats import median_interval

APART = 1.5
"""A pair of reads has a winner when their times differ by more than this factor."""
WANTED = {"median": 0.15, "p90": 0.40, "pairs": 0.95}
MODES = ("probed", "blind")


def table(measured: pd.DataFrame, predicted: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each read and way to predict it.

    Parameters
    ----------
    measured : pandas.DataFrame
        Records of the reads that were held out.
    predicted : pandas.DataFrame
        Records of what was predicted of them.

    Returns
    -------
    pandas.DataFrame
        case, cache_state, library, format, codec, pattern, size, mode, seconds (measured, the
        median), low, high, n, predicted, error (predicted over measured, less 1), part (that takes
        most), regime.
    """
    rows = main(measured)
    times = {
        key: median_interval(part["wall_s"])
        for key, part in rows[rows["phase"] == "read"].groupby(["case", "cache_state"])
    }
    found = []
    for row in predicted.to_dict("records"):
        middle = times.get((row["case"], row["cache_state"]))
        if middle is None:
            continue
        kept = ("case", "cache_state", "library", "format", "codec", "pattern", "size", "mode")
        found.append(
            {name: row[name] for name in kept}
            | {
                "seconds": middle.value,
                "low": middle.low,
                "high": middle.high,
                "n": middle.n,
                "predicted": row["wall_s"],
                "error": row["wall_s"] / middle.value - 1,
                "part": row["hints"],
                "regime": f"{row['cache_state']}, {'decoded' if row['codec'] else 'not decoded'}",
            }
        )
    return pd.DataFrame(found)


def errors(found: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return how far the predictions are off.

    Parameters
    ----------
    found : pandas.DataFrame
        From `table`.
    by : sequence of str
        Columns to tell apart, beside the way to predict.

    Returns
    -------
    pandas.DataFrame
        mode, the columns, n, median and p90 of the absolute error, bias (median error).

    Examples
    --------
    >>> rows = pd.DataFrame({"mode": ["blind"] * 3, "error": [0.1, -0.2, 0.3]})
    >>> errors(rows)[["n", "median", "bias"]].round(3).to_numpy().tolist()
    [[3.0, 0.2, 0.1]]
    """
    rows = []
    for key, part in found.groupby(["mode", *by], sort=False):
        size = part["error"].abs()
        rows.append(
            dict(zip(("mode", *by), key, strict=True))
            | {
                "n": len(part),
                "median": float(size.median()),
                "p90": float(size.quantile(0.9)),
                "bias": float(part["error"].median()),
            }
        )
    return pd.DataFrame(rows)


def pairs(found: pd.DataFrame, mode: str, *, alike: bool) -> tuple[int, int]:
    """Return how many pairs of reads have a winner, and of how many it was predicted.

    Parameters
    ----------
    found : pandas.DataFrame
        From `table`.
    mode : str
        Way to predict.
    alike : bool
        Whether only pairs count that read the same values, equally cold: a choice of layout or
        library; otherwise all pairs.

    Examples
    --------
    >>> rows = pd.DataFrame({"mode": "blind", "seconds": [1.0, 2.0, 4.0], "size": "a: b",
    ...     "predicted": [1.0, 3.0, 2.5], "pattern": "map", "cache_state": "warm"})
    >>> pairs(rows, "blind", alike=True)
    (3, 2)
    """
    rows = found[found["mode"] == mode]
    times, guesses = rows["seconds"].to_numpy(), rows["predicted"].to_numpy()
    a, b = np.triu_indices(len(rows), 1)
    counted = np.maximum(times[a], times[b]) > APART * np.minimum(times[a], times[b])
    if alike:
        data = rows["size"].str.partition(":")[0] + "/" + rows["pattern"] + rows["cache_state"]
        same = data.to_numpy()
        counted &= same[a] == same[b]
    right = (times[a] < times[b]) == (guesses[a] < guesses[b])
    return int(counted.sum()), int((right & counted).sum())


def worst(found: pd.DataFrame, mode: str, number: int = 8) -> pd.DataFrame:
    """Return the reads that a way predicts worst, by the factor it is off."""
    rows = found[found["mode"] == mode]
    off = (rows["predicted"] / rows["seconds"]).map(np.log).abs()
    return rows.loc[off.sort_values(ascending=False).index[:number]]
