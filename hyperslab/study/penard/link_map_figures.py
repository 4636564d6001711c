"""The map of links: which reader wins where, by the model."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..style import plain
from .link_map import MARKED, NEAR, Ground, axes_of, grounds, spelled
from .local_results import PANELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = 7  # of the style's cycle
_SHADE = 0.55


def figure_map(timed: pd.DataFrame) -> "Figure":
    """Draw which reader is the fastest over links of any rate and delay, by the model.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    found = grounds(timed)
    winners = list(dict.fromkeys(way for ground in found.values() for way in ground.shares()))
    trips, rates = axes_of()
    figure, panels = plt.subplots(2, 2, figsize=(7.2, 7.4), sharex=True, sharey=True)
    for axes, (panel, title) in zip(panels.flat, PANELS.items(), strict=True):
        if panel in found:
            _ground(axes, found[panel], winners)
        for trip, rate, mark in MARKED:
            axes.plot(trip, rate, mark, ms=6, mfc="none", color=plt.rcParams["text.color"])
        axes.set(
            xscale="log", yscale="log", title=title,
            xlim=(trips[0], trips[-1]), ylim=(rates[0], rates[-1]),
        )  # fmt: skip
        axes.grid(visible=False)
        for axis in (axes.xaxis, axes.yaxis):
            plain(axis)
    for axes in panels[1]:
        axes.set_xlabel("round trip, ms")
    for axes in panels[:, 0]:
        axes.set_ylabel("rate, Mbit/s")
    handles = [
        Patch(fc=f"C{n % _COLORS}", alpha=_SHADE, label=f"{n + 1}  {spelled(way)}")
        for n, way in enumerate(winners)
    ]
    near = f"the next is within {100 * (NEAR - 1):.0f} %"
    handles.append(Patch(fc="none", ec="0.5", hatch="///", lw=0, label=near))
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def _ground(axes: "Axes", ground: Ground, winners: list[str]) -> None:
    """Draw one map: colours, lines where the lead changes, and the winners' numbers."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    trips, rates = axes_of()
    ink = plt.rcParams["text.color"]
    numbers = np.array([winners.index(way) if way in winners else -1 for way in ground.ways])
    shown = numbers[ground.best]
    axes.pcolormesh(
        trips,
        rates,
        shown % _COLORS,
        cmap=ListedColormap([f"C{n}" for n in range(_COLORS)]),
        vmin=-0.5,
        vmax=_COLORS - 0.5,
        alpha=_SHADE,
        shading="nearest",
        rasterized=True,
    )
    if (ground.lead < NEAR).any():
        with plt.rc_context({"hatch.color": ink, "hatch.linewidth": 0.3}):
            axes.contourf(
                trips, rates, (ground.lead < NEAR).astype("f8"), [0.5, 1.5], colors="none",
                hatches=["///"],
            )  # fmt: skip
    for number in np.unique(shown):
        mine = shown == number
        if not mine.all():
            axes.contour(trips, rates, mine.astype("f8"), [0.5], colors=[ink], linewidths=0.8)
        row, column = _middle(mine)
        axes.text(
            trips[column], rates[row], str(number + 1), ha="center", va="center", weight="bold",
            color=ink,
        )  # fmt: skip


def _middle(mine: NDArray[np.bool_]) -> tuple[int, int]:
    """Return a point that lies as far inside as any."""
    left = mine
    while True:
        padded = np.pad(left, 1)
        inner = left & padded[2:, 1:-1] & padded[:-2, 1:-1] & padded[1:-1, 2:] & padded[1:-1, :-2]
        if not inner.any():
            rows, columns = np.nonzero(left)
            middle = int(np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2))
            return int(rows[middle]), int(columns[middle])
        left = inner
