"""Size against time of each access: what cannot be bettered in both stands on a line."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from ..advice.rows import Advice, Row
from ..report.plot import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREY, _BLUE, _ORANGE, _GREEN = "#8c8c8c", "#0072B2", "#D55E00", "#009E73"


def figure(advice: Advice, title: str = "") -> Figure:
    """Draw a panel for each access: size of the variable against the time of the read.

    Parameters
    ----------
    advice
        From `hyperslab.advise.advice.rank.advise`.
    title
        Above the whole.
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    names = [access.name for access in advice.accesses]
    with mpl.rc_context(STYLE):
        drawn, axes = plt.subplots(
            1, len(names), figsize=(1.2 + 3.3 * len(names), 3.6), sharey=True, squeeze=False,
            layout="constrained",
        )  # fmt: skip
        for place, name in zip(axes[0], names, strict=True):
            _panel(place, advice, name)
        axes[0][0].set_ylabel("size of the variable (MB)")
        handles, labels = axes[0][0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=3)
        if title:
            drawn.suptitle(title, x=0.01, ha="left")
    return drawn


def picture(advice: Advice, ending: str, title: str = "") -> bytes:
    """Return the figure as a file whose name has this ending: .png, .svg or .pdf."""
    import matplotlib.pyplot as plt

    drawn, file = figure(advice, title), BytesIO()
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


def _panel(axes: Axes, advice: Advice, name: str) -> None:
    rows = [row for row in (*advice.rows, *advice.beyond) if row.seconds]
    layouts = [row for row in rows if row.candidate.rewrites]
    places = [_place(row, name) for row in layouts]
    axes.scatter(*_axes(places), s=14, color=_GREY, label="layout, predicted", zorder=2)
    every = [*places, *([_place(advice.present, name)] if advice.present.seconds else [])]
    if every:
        best = [every[n] for n in front(every)]
        axes.step(*_axes(best), where="post", color=_GREY, lw=1, zorder=1)
    known = [row for row in (advice.present, *advice.rows) if row.measured]
    # Beside predictions for the file what was measured on a sample would mislead.
    if known and advice.sample_shape == advice.variable.shape:
        at = [(row.measured[name].value * 1e3, row.nbytes / 1e6) for row in known if row.measured]
        axes.scatter(*_axes(at), s=34, marker="D", facecolor="none", edgecolor=_BLUE,
                     label="measured", zorder=4)  # fmt: skip
    others = [_place(row, name) for row in rows if not row.candidate.rewrites]
    if others:
        axes.scatter(*_axes(others), s=36, marker="^", color=_GREEN, label="remedy", zorder=3)
    if advice.present.seconds:
        axes.scatter(*_axes([_place(advice.present, name)]), s=60, marker="s", color=_ORANGE,
                     label="as it is", zorder=5)  # fmt: skip
    if (first := advice.first) is not None and first.seconds:
        axes.scatter(*_axes([_place(first, name)]), s=90, marker="*", color=_BLUE,
                     label="advice", zorder=6)  # fmt: skip
    axes.set(title=name, xscale="log", xlabel="ms a read")


def _place(row: Row, name: str) -> tuple[float, float]:
    return row.seconds[name] * 1e3, row.nbytes / 1e6


def _axes(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]
