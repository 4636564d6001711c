"""One quiet figure style, for light and for dark pages."""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from ...text import number

# Okabe and Ito's colours, which colour-blind readers tell apart; black, which SVG would not name,
# and white swap.
_CYCLE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#010101")
_INK, _FAINT = "#2b2b2b", "#c8c8c8"
_DARK_CYCLE = ("#56b4e9", "#e69f00", "#2fc79a", "#e59cc4", "#f0e442", "#7fa8ff", "#ffffff")
_DARK = dict(zip((*_CYCLE, _INK, _FAINT), (*_DARK_CYCLE, "#dddddd", "#4a4a4a"), strict=True))
# In dots and curves, these have a colour of their own: the number in this cycle.
_LIBRARIES = {
    "netCDF-C": 0, "netCDF-C, from C": 0, "hyperslab": 0, "netCDF4-python": 1, "chunkindex": 1,
    "HDF5": 2, "HDF5, from C": 2, "h5py": 3, "Python read": 4, "PnetCDF": 5, "C fread": 6,
}  # fmt: skip


@contextmanager
def styled() -> Iterator[None]:
    """Draw for light pages; the background is the page's own."""
    with matplotlib.rc_context(
        {
            "axes.axisbelow": True,
            "axes.edgecolor": _INK,
            "axes.grid": True,
            "axes.labelcolor": _INK,
            "axes.prop_cycle": cycler(color=_CYCLE),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlelocation": "left",
            "axes.titlesize": 10.5,
            "figure.constrained_layout.use": True,
            "figure.facecolor": "none",
            "figure.figsize": (7.2, 3.8),
            "font.size": 9.5,
            "grid.color": _FAINT,
            "grid.linewidth": 0.5,
            "axes.facecolor": "none",
            "legend.frameon": False,
            "legend.labelcolor": _INK,
            "lines.linewidth": 1.4,
            "savefig.facecolor": "none",
            "svg.fonttype": "path",
            "svg.hashsalt": "hyperslab",
            "text.color": _INK,
            "xtick.color": _INK,
            "ytick.color": _INK,
        }
    ):
        yield


def darkened(svg: str) -> str:
    """Return a figure for dark pages, which differs in nothing but colours."""
    return re.sub("|".join(_DARK), lambda match: _DARK[match[0]], svg)


def palette(names: Sequence[str]) -> list[str]:
    """Return a colour of the cycle for each name: its library's, or the next that is left."""
    own: dict[str, int] = {}
    for name in names:
        if name in _LIBRARIES and _LIBRARIES[name] not in own.values():
            own[name] = _LIBRARIES[name]
    others = (number for number in count() if number not in own.values())
    return [f"C{own[name] if name in own else next(others)}" for name in names]


def plain(axis: Any) -> None:
    """Label a logarithmic axis with plain numbers: at 1, 2 and 5, or at 1 alone when it is long."""
    low, high = axis.get_view_interval()
    short = high < 300 * low
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def logarithmic(axes: Any, **labels: str) -> None:
    """Make both axes logarithmic, with plain numbers, and label them."""
    axes.set(xscale="log", yscale="log", **labels)
    plain(axes.xaxis)
    plain(axes.yaxis)


def two_a_row(panels: int, each: float, more: float, **how: Any) -> tuple[Figure, Any]:
    """Return a figure, as high as its rows and some more, and its axes, two a row."""
    down = -(-panels // 2)
    size = (7.4, down * each + more)
    figure, grid = plt.subplots(down, 2, figsize=size, sharey=True, squeeze=False, **how)
    for axes in grid.flat[panels:]:
        axes.set_visible(False)
    return figure, grid


def entitled(axes: Any, title: str, columns: int = 4) -> None:
    """Say above a figure of one panel what came out, over its legend."""
    legend = axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns)
    lines = max(math.ceil(len(legend.get_texts()) / columns), 1)
    axes.set_title(title, loc="left", pad=12 + 14 * lines)
    axes.figure.set_figheight(axes.figure.get_figheight() + 14 * (lines - 1) / 72)


def headline(figure: Any, title: str, legend: Any = ((), ()), columns: int = 3) -> None:
    """Say above a figure of several panels what came out, and below what its colours are."""
    handles, labels = legend
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    figure.suptitle(title, x=0.01, ha="left", size=10.5)
