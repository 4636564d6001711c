"""Figures of the page on default chunks, from records only."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..style import plain
from .defaults import DOCUMENT_BYTES, fixed_bytes
from .slabs import AXES, STORED, STORED_NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_KINDS = {
    "none": ("o", "no dimension unlimited"),
    "some": ("^", "some unlimited"),
    "all": ("s", "all unlimited"),
    "lone": ("D", "a single one, unlimited"),
}


def figure_picked(picked: pd.DataFrame, default_bytes: float) -> "Figure":
    """Draw the chunk picked against the size of what one record, or the variable, holds.

    Parameters
    ----------
    picked : pandas.DataFrame
        Records of the experiment "picked".
    default_bytes : float
        What a chunk is meant to take in the installed build.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    size = picked["case"].map(fixed_bytes).astype(float)
    for kind, (mark, label) in _KINDS.items():
        mine = picked["mode"] == kind
        axes.plot(size[mine], picked["useful_bytes"][mine], mark, ms=4, mfc="none", label=label)
    axes.axhline(default_bytes, color="C3", lw=1, label="what the build aims at")
    axes.axhline(
        DOCUMENT_BYTES["chunk"], color="C4", lw=1, ls="--", label="document: at most 4 MiB"
    )
    axes.axhline(DOCUMENT_BYTES["series"], color="C5", lw=1, ls=":", label="document: 4 KiB")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="the variable, or one record of it: product of the fixed lengths, bytes",
        ylabel="chunk picked, bytes",
    )
    for axis in (axes.xaxis, axes.yaxis):
        _byte_labels(axis)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    return figure


def figure_slabs(timed: pd.DataFrame) -> "Figure":
    """Draw time and bytes of a slab across each axis, for each way to store the variable.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `slabs.times`.
    """
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.9), sharey=True)
    places = {
        (stored, axis): -(len(AXES) + 1) * group - place
        for group, stored in enumerate(STORED)
        for place, axis in enumerate(AXES)
    }
    for state, mark, shift in (("warm", "o", 0.0), ("cold", "s", -0.25)):
        part = timed[timed["cache_state"] == state]
        if part.empty:
            continue
        y = _rows(part, places) + shift
        error = [part["ms"] - part["low"], part["high"] - part["ms"]]
        left.errorbar(part["ms"], y, xerr=error, fmt=mark, ms=4.5, capsize=2, label=state)
    part = timed[timed["cache_state"] == timed["cache_state"].iloc[0]]
    y = _rows(part, places)
    if part["asked"].notna().any():
        right.plot(part["asked"] / 1e6, y, "o", ms=4.5, color="C2", label="asked for")
    cold = timed[(timed["cache_state"] == "cold") & timed["fetched"].notna()]
    if len(cold):
        spots = _rows(cold, places) - 0.25
        right.plot(
            cold["fetched"] / 1e6, spots, "s", ms=4.5, mfc="none", color="C1", label="fetched, cold"
        )
    right.plot(part["useful"] / 1e6, y, "|", ms=9, color="C3", label="the slab itself")
    left.set_yticks(list(places.values()), [axis for _, axis in places])
    for group, stored in enumerate(STORED):
        top = -(len(AXES) + 1) * group + 0.45
        left.text(0.02, top, STORED_NAMES[stored], transform=left.get_yaxis_transform())
    left.set(xscale="log", xlabel="time of the read, ms", ylabel="slab across")
    left.set_ylim(top=1.1)
    right.set(xscale="log", xlabel="MB (10⁶ bytes)")
    for axes in (left, right):
        plain(axes.xaxis)
        _legend_above(axes)
    return figure


def _rows(part: pd.DataFrame, places: dict[tuple[str, str], int]) -> NDArray[Any]:
    return np.array([places[key] for key in zip(part["stored"], part["axis"], strict=True)])


def _legend_above(axes: "Axes") -> None:
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, handletextpad=0.3, columnspacing=1
    )


def _byte_labels(axis: object) -> None:
    from matplotlib.axis import Axis
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    assert isinstance(axis, Axis)
    axis.set_major_locator(LogLocator(base=1000.0, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _bytes(value)))
    axis.set_minor_locator(NullLocator())


def _bytes(value: float) -> str:
    step = int(np.log10(value) // 3)
    return f"{value / 1000**step:g} {('B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB')[step]}"
