"""Choose where two things count: how long it takes, and how large it is."""

from collections.abc import Collection, Mapping

import pandas as pd

from ..measure.stats import paired_ratio


def smallest_of_fastest(
    times: pd.DataFrame, sizes: Mapping[str, float], among: Collection[str]
) -> str:
    """Return the smallest of those that are not slower than the fastest, as far as is known.

    What was measured in fewer blocks than others takes no part. Times are a table of `compare`.

    >>> from hyperslab.analysis.compare import compare
    >>> from hyperslab.measure.records import frame_of
    >>> rows = [{"layout": layout, "block": block, "status": "ok", "run_id": "r", "phase": "read",
    ...          "wall_s": seconds + 0.1 * (block % 2 == (layout == "a"))}
    ...         for layout, seconds in (("a", 1.0), ("b", 1.01), ("c", 4.0)) for block in range(6)]
    >>> times = compare(frame_of(rows, ["layout"]), "wall_s", "layout")
    >>> smallest_of_fastest(times, {"a": 3.0, "b": 2.0, "c": 1.0}, "abc")
    'b'
    """
    able = times[[str(name) in among for name in times.index]]
    most = max(found.n for found in able["value"])
    full = able[[found.n == most for found in able["value"]]]
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
    return paired_ratio(both.iloc[:, 0], both.iloc[:, 1]).contains(1)
