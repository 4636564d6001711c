"""The figure of the page on dask, from its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from .reduce_results import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(table: pd.DataFrame) -> Figure:
    """Draw the time of the mean, and how much faster more workers are.

    Parameters
    ----------
    table : pandas.DataFrame
        From `reduce_results.times`.
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullLocator

    from ..style import plain

    drawn, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.4))
    several = sorted(set(table["workers"]))
    for number, (mode, label) in enumerate(NAMES.items()):
        part = table[table["mode"] == mode].sort_values("workers")
        for axes, value, low, high in (
            (left, "ms", "low", "high"),
            (right, "gain", "gain_low", "gain_high"),
        ):
            axes.errorbar(
                part["workers"] * 1.03 ** (number - 1),
                part[value],
                yerr=[part[value] - part[low], part[high] - part[value]],
                fmt="osD^"[number] + "-",
                ms=5,
                capsize=2,
                label=label,
            )
    right.plot(several, several, ":", color="0.5", label="as many times as workers")
    left.set(ylabel="time of the mean, ms", xscale="log", yscale="log", xlabel="workers")
    right.set(ylabel="times faster than one worker", xscale="log", xlabel="workers")
    plain(left.yaxis)
    for axes in (left, right):
        axes.set_xticks(several, [str(workers) for workers in several])
        axes.xaxis.set_minor_locator(NullLocator())
    drawn.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn
