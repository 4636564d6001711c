"""Tables 7 and 8 of Lee et al. 2008 drawn, the cost of a call, and strided selections."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..style import plain
from .hyperslabs import DOCUMENT, LAYOUTS, SIDE, SWEPT, TABLED
from .hyperslabs_rates import HALF
from .hyperslabs_samples import ITEMSIZE
from .hyperslabs_ways import WAYS
from .strided import INDICES, STRIDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MODES = (("one", "o", None, "one call"), ("rows", "s", "none", "one call a row"))
_MARKS = ("o", "s", "^", "v", "D")


def figure_rates(read: pd.DataFrame, written: pd.DataFrame) -> "Figure":
    """Draw the rates of one call and of one call a row, by way, beside Tables 7 and 8.

    Parameters
    ----------
    read, written : pandas.DataFrame
        From `rates`.
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    figure, panels = plt.subplots(2, 2, figsize=(7.2, 5.2), sharey=True, sharex=True)
    names = ["document", "document, modified", *(WAYS[way].label for way in TABLED)]
    place = dict(zip(names, np.arange(len(names))[::-1], strict=True))
    for row, layout in enumerate(LAYOUTS):
        for column, (action, rated) in enumerate((("write", written), ("read", read))):
            axes = panels[row, column]
            one, many, mended = DOCUMENT[layout, action]
            _pair(axes, place["document"], one, many, "C6")
            _pair(axes, place["document, modified"], float("nan"), mended, "C6")
            for way in TABLED:
                part = rated[(rated["way"] == way) & (rated["layout"] == layout)]
                _measured(axes, part, place[WAYS[way].label])
            axes.set_title(f"{action}, {layout}")
    for axes in panels[1]:
        axes.set(xscale="log", xlabel="MB/s (10⁶ bytes)")
        plain(axes.xaxis)
        axes.xaxis.set_major_locator(
            LogLocator(subs=(1, 3))
        )  # the names beside them leave little room
    panels[0, 0].set_yticks(list(place.values()), list(place))
    handles, labels = panels[0, 0].get_legend_handles_labels()
    found = dict(zip(labels, handles, strict=True))
    figure.legend(found.values(), found.keys(), loc="outside upper center", ncols=2)
    return figure


def _pair(axes: Any, place: float, one: float, many: float, color: str) -> None:
    axes.plot([one, many], [place] * 2, color=color, lw=0.8)
    axes.plot(one, place, "o", color=color, ms=5)
    axes.plot(many, place, "s", color=color, mfc="none", ms=5)


def _measured(axes: Any, part: pd.DataFrame, place: float) -> None:
    axes.plot(part["rate"], [place] * len(part), color="C0", lw=0.8)
    for mode, mark, face, label in _MODES:
        row = part[part["mode"] == mode]
        error = [row["rate"] - row["low"], row["high"] - row["rate"]]
        axes.errorbar(
            row["rate"], [place] * len(row), xerr=error, fmt=mark, ms=5, capsize=2, color="C0",
            mfc=face, label=label,
        )  # fmt: skip


def figure_calls(cost: pd.DataFrame) -> "Figure":
    """Draw what a call costs, and which share of one call's rate is reached, over its bytes.

    Parameters
    ----------
    cost : pandas.DataFrame
        From `swept`.
    """
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.9))
    for number, way in enumerate(SWEPT):
        part = cost[cost["way"] == way]
        if part.empty:
            continue
        style = {"marker": _MARKS[number], "ms": 3.5, "color": f"C{number}"}
        line = left.plot(part["bytes"], part["us"], label=WAYS[way].label, **style)[0]
        left.fill_between(
            part["bytes"], part["us_low"], part["us_high"], color=line.get_color(), alpha=0.2, lw=0
        )
        right.plot(part["bytes"], part["share"], **style)
        right.fill_between(
            part["bytes"], part["share_low"], part["share_high"], color=line.get_color(),
            alpha=0.2, lw=0,
        )  # fmt: skip
    one, many, mended = DOCUMENT["contiguous", "read"]
    row = SIDE * ITEMSIZE
    right.plot(row, many / one, "D", color="C6", ms=6, mfc="none", label="document, Table 7")
    right.plot(row, mended / one, "d", color="C6", ms=6, label="document, Table 8")
    right.axhline(HALF, color="C6", lw=0.8, ls=":")
    left.set(xscale="log", yscale="log", xlabel="bytes of a call", ylabel="time of a call, µs")
    right.set(xscale="log", yscale="log", xlabel="bytes of a call")
    right.set_ylabel("rate, as a share of one call's")
    for axes in (left, right):
        plain(axes.xaxis)
        plain(axes.yaxis)
        ticks = (1e2, 1e3, 1e4, 1e5, 1e6, 1e7)
        axes.set_xticks(ticks, ["100", "1 kB", "10 kB", "100 kB", "1 MB", "10 MB"], rotation=35)
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def figure_strided(timed: pd.DataFrame) -> "Figure":
    """Draw the time of strided selections, by way and storage.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `strided.times`.
    """
    import matplotlib.pyplot as plt

    ways = [way for way in STRIDED if way in set(timed["way"])]
    place = np.arange(len(ways))[::-1]
    figure, panels = plt.subplots(1, len(INDICES), figsize=(7.2, 3.6), sharey=True, sharex=True)
    for axes, (pattern, spelled) in zip(panels, INDICES.items(), strict=True):
        for layout, shift, color, mark in (
            ("contiguous", 0.13, "C0", "o"),
            ("chunked", -0.13, "C1", "s"),
        ):
            part = timed[(timed["pattern"] == pattern) & (timed["layout"] == layout)]
            part = part.set_index("way").reindex(ways)
            error = [part["ms"] - part["low"], part["high"] - part["ms"]]
            axes.errorbar(
                part["ms"], place + shift, xerr=error, fmt=mark, ms=4.5, capsize=2, color=color,
                mfc=None if layout == "contiguous" else "none",
                label="contiguous" if layout == "contiguous" else "one chunk",
            )  # fmt: skip
        axes.set_title(spelled)
        axes.set(xscale="log", xlabel="ms")
        plain(axes.xaxis)
    panels[0].set_yticks(place, [WAYS[way].label for way in ways])
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure
