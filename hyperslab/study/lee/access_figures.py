"""Figures 6, 7 and 8 of Lee et al. 2008, with this machine's records in them."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..style import plain
from .access import DOCUMENT_NAMES, FIGURE_7, layouts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_7(timed: pd.DataFrame) -> "Figure":
    """Draw the time to read one column from each layout.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `times`, of the experiment "column-read".
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    names = list(FIGURE_7)
    place = np.arange(len(names))[::-1]
    for shift, state in ((0.16, "cold"), (-0.16, "warm")):
        part = timed[timed["cache_state"] == state].set_index("case").reindex(names)
        if part["ms"].isna().all():
            continue
        error = [part["ms"] - part["low"], part["high"] - part["ms"]]
        axes.errorbar(
            part["ms"], place + shift, xerr=error, fmt="o", ms=5, capsize=2, label=f"here, {state}"
        )
    axes.plot(list(FIGURE_7.values()), place, "D", ms=6, mfc="none", label="document, taken as ms")
    axes.set_yticks(place, [DOCUMENT_NAMES[name] for name in names])
    axes.set(xscale="log", xlabel="time to read one column, ms")
    plain(axes.xaxis)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    return figure


def figure_counts(counted: pd.DataFrame) -> "Figure":
    """Draw what a cold read of one column asks of the system.

    Parameters
    ----------
    counted : pandas.DataFrame
        From `counts`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.2), sharey=True)
    if counted["asked"].isna().all():
        for axes in panels:
            axes.text(0.5, 0.5, "not counted on this system", ha="center")
        return figure
    place = np.arange(len(counted))[::-1]
    left, right = panels
    left.plot(counted["asked"] / 1e6, place, "o", label="asked for in read calls")
    left.plot(counted["fetched"] / 1e6, place, "s", mfc="none", label="fetched from the device")
    left.axvline(counted["useful"].iloc[0] / 1e6, color="C2", ls=":", label="the column itself")
    left.set(xscale="log", xlabel="MB (10⁶ bytes)")
    left.set_yticks(place, [DOCUMENT_NAMES[name] for name in counted["case"]])
    left.legend(loc="lower left", bbox_to_anchor=(0, 1))
    right.plot(counted["calls"], place, "o", color="C1")
    right.set(xscale="log", xlabel="read calls")
    plain(left.xaxis)
    plain(right.xaxis)
    return figure


def figure_8(rows: int, columns: int) -> "Figure":
    """Draw where the bytes of one column lie in the file, for each layout.

    Parameters
    ----------
    rows, columns : int
        Lengths of the array.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 2.6))
    total = rows * columns
    strips = 256  # more would melt into one band
    for place, layout in enumerate(layouts(rows).values()):
        y = len(FIGURE_7) - 1 - place
        axes.broken_barh([(0, 1)], (y - 0.3, 0.6), color="C5", alpha=0.25, lw=0)
        if layout.chunks is None:
            spots = [(i / strips, 0.25 / strips) for i in range(strips)]
        else:
            # Chunks lie row by row of the grid: each grid row holds one chunk of the column.
            parts = rows // layout.chunks[0]
            width = layout.chunks[0] / total
            spots = [((part * columns + 100) * width, width) for part in range(parts)]
        axes.broken_barh(spots, (y - 0.3, 0.6), color="C1", lw=0.8, edgecolor="C1")
    axes.set_yticks(range(len(FIGURE_7)), [DOCUMENT_NAMES[n] for n in reversed(FIGURE_7)])
    axes.set(xlabel="place in the file, as a share of it", xlim=(0, 1))
    axes.grid(False)
    return figure
