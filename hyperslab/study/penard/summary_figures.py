"""How much each remedy gains over h5py as it comes."""

from typing import TYPE_CHECKING

import pandas as pd

from ..style import plain
from .local_results import PANELS
from .summary import PLACES, REMEDIES, gains

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHIFT = {"local": 0.2, "link": 0.0, "s3": -0.2}


def figure_gains(seconds: pd.DataFrame) -> "Figure":
    """Draw the gain of each remedy, from each place, for each read.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary.seconds`.
    """
    import matplotlib.pyplot as plt

    found = gains(seconds)
    ways = list(REMEDIES)[::-1]
    figure, panels = plt.subplots(2, 2, figsize=(7.4, 6.0), sharey=True)
    for axes, (panel, title) in zip(panels.flat, PANELS.items(), strict=True):
        for number, (where, words) in enumerate(PLACES.items()):
            mine = found[(found["panel"] == panel) & (found["place"] == where)]
            axes.errorbar(
                mine["gain"],
                [ways.index(way) + _SHIFT[where] for way in mine["way"]],
                xerr=[mine["gain"] - mine["low"], mine["high"] - mine["gain"]],
                fmt="os^"[number],
                ms=5,
                capsize=2,
                color=f"C{number}",
                label=words,
            )
        axes.axvline(1, color="0.5", lw=1)
        axes.axhline(2.5, color="0.5", lw=0.6, ls=":")
        axes.set(xscale="log", title=title)
        axes.set_yticks(range(len(ways)), [REMEDIES[way][0] for way in ways])
        plain(axes.xaxis)
    for axes in panels[1]:
        axes.set_xlabel("times as fast as h5py")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
