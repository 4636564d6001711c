"""A benchmark as a picture: a panel for each time, a row for each layout."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hyperslab.text import Interval, amount

from .summary import Findings, Quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers tell apart.
_COLOURS = {"cold": "#0072B2", "warm": "#D55E00", "": "#009E73"}
_MARKS = {"cold": "o", "warm": "D", "": "s"}
_NONE = Interval(np.nan, np.nan, np.nan, 0)  # where a layout was not measured
STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.5,
    "font.size": 9,
    "grid.color": "#d0d0d0",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "svg.fonttype": "path",
}


def picture(frame: pd.DataFrame, ending: str, title: str = "") -> bytes:
    """Return a benchmark drawn as a file whose name has this ending: .png, .svg or .pdf."""
    return saved(figure(frame, title), ending)


def saved(drawn: Figure, ending: str) -> bytes:
    """Return a figure as a file whose name has this ending, and close it."""
    import matplotlib.pyplot as plt

    file = BytesIO()
    try:
        drawn.savefig(file, dpi=150, format=ending.lower().removeprefix("."))
    finally:
        plt.close(drawn)
    return file.getvalue()


def figure(frame: pd.DataFrame, title: str = "") -> Figure:
    """Draw the times of every layout with their intervals, and the size of its file."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    findings = Findings(frame)
    names, quantities = findings.targets, findings.quantities
    panels = list(dict.fromkeys(q.name for q in quantities if q.name != "open"))
    size = (3.7 + 1.7 * len(panels), 1.6 + 0.34 * len(names))
    with mpl.rc_context(STYLE):
        drawn, (axes,) = plt.subplots(
            1, len(panels) + 1, figsize=size, sharey=True, squeeze=False, layout="constrained"
        )
        _sizes(axes[0], findings)
        for panel, name in zip(axes[1:], panels, strict=True):
            _times(panel, findings, name, [q for q in quantities if q.name == name])
        handles, labels = axes[-1].get_legend_handles_labels()
        if len(labels) > 1:
            drawn.legend(handles, labels, loc="outside lower center", ncols=2)
        if title:
            drawn.suptitle(title, x=0.01, ha="left")
    return drawn


def _sizes(axes: Axes, findings: Findings) -> None:
    names = findings.targets
    sizes = findings.table.set_index("target")["file_bytes"].astype(float).reindex(names) / 1e6
    axes.barh(range(len(names)), sizes.fillna(0), color="#999999", height=0.6)
    for row, size in enumerate(sizes):
        axes.text(0, row, f" {amount(size * 1e6, 'B')}", va="center", fontsize=8)
    axes.set(title="file", xlabel="MB (10⁶ bytes)", yticks=range(len(names)), yticklabels=names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False)


def _times(axes: Axes, findings: Findings, name: str, chosen: list[Quantity]) -> None:
    for number, quantity in enumerate(chosen):
        state, aside = quantity.cache_state, 0.16 * (number - (len(chosen) - 1) / 2)
        medians = [findings.medians.get((case, quantity), _NONE) for case in findings.targets]
        value, low, high = 1e3 * np.array([[x.value, x.low, x.high] for x in medians]).T
        axes.errorbar(
            value, np.arange(len(medians)) + aside, xerr=[value - low, high - value],
            fmt=_MARKS[state], color=_COLOURS[state], ms=4.5, capsize=2, lw=1, label=state or None,
        )  # fmt: skip
    axes.set(title=name, xscale="log", xlabel="ms")
    low, high = axes.get_xlim()
    axes.set_xlim(low / 1.1, high * 1.1)
    plain(axes, fine=30)


def plain(axes: Axes, fine: float) -> None:
    """Label a logarithmic axis with plain numbers, more of them where it spans less than `fine`."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < fine * low else (1.0,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
