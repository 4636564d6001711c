"""Choose where two things count: how long it takes, and how large it is."""

from collections.abc import Collection, Mapping

import pandas as pd

from ..measure.stats import over_runs, paired_ratio


def smallest_of_fastest(
    times: pd.DataFrame, sizes: Mapping[str, float], among: Collection[str]
) -> str:
    """Return the smallest of those that are not slower than the fastest, as far as is known."""
    candidates = times[[str(name) in among for name in times.index]]
    most = max(value.n for value in candidates["value"])
    full = candidates[[value.n == most for value in candidates["value"]]]
    fastest = min(full.index, key=lambda name: full["value"][name].value)
    base = full["blocks"][fastest]
    near = [
        str(name)
        for name, blocks in full["blocks"].items()
        if name == fastest or _alike(base, blocks)
    ]
    return min(near, key=lambda name: sizes[name])


def _alike(first: "pd.Series[float]", second: "pd.Series[float]") -> bool:
    both = pd.concat([first, second], axis=1, join="inner")
    return over_runs(paired_ratio(both.iloc[:, 0], both.iloc[:, 1])).contains(1)
