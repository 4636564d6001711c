"""Size against time of each access: what cannot be bettered in both stands on a line."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import pandas as pd

from ..advice.candidates import LAYOUT, NOW, REMEDY
from ..report.plot import STYLE
from .rows import BEYOND, SAID

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREY, _BLUE, _ORANGE, _GREEN = "#8c8c8c", "#0072B2", "#D55E00", "#009E73"


def figure(frame: pd.DataFrame) -> Figure:
    """Draw a panel for each access: size of the variable against the time of the read.

    Parameters
    ----------
    frame : pandas.DataFrame
        Records of an advice, from `hyperslab.advise.advisor.rows.rows`.
    """
    import matplotlib.pyplot as plt

    frame = frame[frame["mode"] != SAID]
    names = list(dict.fromkeys(frame["pattern"]))
    drawn, axes = plt.subplots(
        1, len(names), figsize=(1.2 + 3.3 * len(names), 3.9), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for place, name in zip(axes[0], names, strict=True):
        _panel(place, frame[frame["pattern"] == name])
        place.set(title=name, xscale="log", xlabel="ms a read")
        _plain(place)
    axes[0][0].set_ylabel("size of the variable (MB)")
    handles, labels = axes[0][0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=3)
    return drawn


def picture(frame: pd.DataFrame, ending: str, title: str = "") -> bytes:
    """Return the figure as a file whose name has this ending: .png, .svg or .pdf."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context(STYLE):
        drawn, file = figure(frame), BytesIO()
        if title:
            drawn.suptitle(title, x=0.01, ha="left")
        try:
            drawn.savefig(file, dpi=150, format=ending.lower().removeprefix("."))
        finally:
            plt.close(drawn)
    return file.getvalue()


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return which points no other betters in both coordinates, by the first.

    Examples
    --------
    >>> front([(1, 5), (2, 2), (3, 3), (4, 1)])
    [0, 1, 3]
    """
    kept: list[int] = []
    for n in sorted(range(len(points)), key=lambda n: points[n]):
        if not kept or points[n][1] < points[kept[-1]][1]:
            kept.append(n)
    return kept


def _panel(axes: Axes, frame: pd.DataFrame) -> None:
    known = frame[frame["predicted_s"].notna()]
    kinds = {kind: _points(known[known["mode"].isin(kind)]) for kind in _KINDS}
    every = [point for kind in _FRONT for point in kinds[kind]]
    if every:
        best = [every[n] for n in front(every)]
        axes.step(*_axes(best), where="post", color=_GREY, lw=1, zorder=1)
    for kind, (label, mark, size, colour, over) in _KINDS.items():
        if kinds[kind]:
            axes.scatter(
                *_axes(kinds[kind]), s=size, marker=mark, color=colour, label=label, zorder=over
            )
    measured = frame[frame["wall_s"].notna()]
    if len(measured):
        pairs = zip(measured["wall_s"] * 1e3, measured["file_bytes"] / 1e6, strict=True)
        axes.scatter(
            *_axes(list(pairs)), s=46, marker="D", facecolor="none", edgecolor=_BLUE,
            label="measured on the sample", zorder=4,
        )  # fmt: skip
    first = known[known["rank"] == 1]
    if len(first):
        axes.scatter(
            *_axes(_points(first)), s=110, marker="*", color=_BLUE, label="advice", zorder=6
        )


def _plain(axes: Axes) -> None:
    """Label the times with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


_KINDS = {
    (LAYOUT, BEYOND): ("layout, predicted", "o", 14, _GREY, 2),
    (REMEDY,): ("remedy, predicted", "^", 36, _GREEN, 3),
    (NOW,): ("as it is, predicted", "s", 60, _ORANGE, 5),
}
_FRONT = ((LAYOUT, BEYOND), (NOW,))


def _points(frame: pd.DataFrame) -> list[tuple[float, float]]:
    pairs = zip(frame["predicted_s"] * 1e3, frame["file_bytes"] / 1e6, strict=True)
    return [(float(x), float(y)) for x, y in pairs]


def _axes(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]
