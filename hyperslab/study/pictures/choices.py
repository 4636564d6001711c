"""What was predicted or chosen, over what was measured."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ...analysis.break_even import relative_time
from ...text import amount, percent
from .style import entitled, headline, logarithmic


@dataclass(frozen=True)
class Predicted:
    """What was predicted over what was measured, a point each, and a line where both are equal."""

    points: pd.DataFrame  # with the columns measured and predicted, in the unit of the axes
    title: str
    axis: str  # what is measured, and its unit, such as "time, ms"
    colour: str = ""  # columns that make the colours and the panels; one of each if there is none
    panel: str = ""
    # a band is drawn around the line, of predictions that are off by at most this share
    within: float = 0.0

    def __call__(self) -> Figure:
        all_points = self.points.assign(
            colour=self.points[self.colour] if self.colour else "",
            panel=self.points[self.panel] if self.panel else "",
        )
        both = self.points[["measured", "predicted"]]
        ends = np.array([0.7 * both.min().min(), 1.4 * both.max().max()])
        panels = list(dict.fromkeys(all_points["panel"]))
        figure, row = plt.subplots(
            1, len(panels), figsize=(7.4, 4.4), sharex=True, sharey=True, squeeze=False
        )
        for axes, name in zip(row.flat, panels, strict=True):
            if self.within:
                low, high = ends * (1 - self.within), ends * (1 + self.within)
                band = f"off by at most {percent(self.within)}"
                axes.fill_between(ends, low, high, alpha=0.15, lw=0, color="0.5", label=band)
            axes.plot(ends, ends, lw=0.8, color="0.5")
            for number, (label, points) in enumerate(all_points.groupby("colour", sort=False)):
                mine = points[points["panel"] == name]
                axes.plot(
                    mine["measured"], mine["predicted"], "os^D"[number % 4], ms=3.6, alpha=0.75,
                    color=f"C{number}", label=str(label),
                )  # fmt: skip
            logarithmic(axes, xlabel=f"measured {self.axis}")
            axes.set_title(str(name), loc="left")
        row[0, 0].set_ylabel(f"predicted {self.axis}")
        headline(figure, self.title, row[0, 0].get_legend_handles_labels())
        return figure


@dataclass(frozen=True)
class Tradeoff:
    """Two quantities of each layout against each other, such as its time and its size."""

    across: "pd.Series[Any]"  # by panel and layout; both logarithmic
    upwards: "pd.Series[Any]"
    axes: tuple[str, str]  # what the two are
    title: str
    named: Collection[str]  # layouts that have a colour and a name; the others are grey
    scales: tuple[float, float] = (1.0, 1.0)  # what the two are multiplied with

    def __call__(self) -> Figure:
        panels = list(dict.fromkeys(panel for panel, _ in self.across.index))
        figure, row = plt.subplots(1, len(panels), figsize=(7.4, 4.2), sharey=True, squeeze=False)
        colours = {name: f"C{number}" for number, name in enumerate(self.named)}
        wide, high = self.scales
        for panel, axes in zip(panels, row.flat, strict=True):
            for layout, x in self.across[panel].items():
                colour = colours.get(str(layout))
                axes.errorbar(
                    wide * x.value, high * self.upwards[panel, layout].value,
                    xerr=[[wide * (x.value - x.low)], [wide * (x.high - x.value)]],
                    fmt="o", ms=6 if colour else 4, capsize=2, color=colour or "0.7",
                    zorder=3 if colour else 2, label=str(layout) if colour else None,
                )  # fmt: skip
            logarithmic(axes, xlabel=self.axes[0])
            axes.set_title(panel, loc="left")
        row[0, 0].set_ylabel(self.axes[1])
        handles = dict(zip(*row[0, 0].get_legend_handles_labels()[::-1], strict=True))
        names = [name for name in self.named if name in handles]
        headline(figure, self.title, ([handles[name] for name in names], names))
        return figure


@dataclass(frozen=True)
class Cover:
    """How chunks of several lengths cover a square array: Figure 12 of Lee et al. 2008."""

    side: int  # of the array
    lengths: Sequence[int]  # of the chunks; a panel for each
    title: str

    def __call__(self) -> Figure:
        figure, row = plt.subplots(1, len(self.lengths), figsize=(7.2, 3.6), sharey=True)
        for axes, length in zip(row, self.lengths, strict=True):
            starts = range(0, self.side, length)
            for spot in ((x, y) for x in starts for y in starts):
                axes.add_patch(Rectangle(spot, length, length, fill=False, ec="C0", lw=1))
            axes.add_patch(Rectangle((0, 0), self.side, self.side, fc="C1", alpha=0.35, lw=0))
            ends = (-0.03 * self.side, 1.28 * self.side)
            axes.set(xlim=ends, ylim=ends[::-1], aspect="equal", xlabel="column")
            axes.set_title(f"{length} × {length}: {len(starts) ** 2} chunks", loc="left")
            axes.grid(False)
        row[0].set_ylabel("row")
        headline(figure, self.title)
        return figure


@dataclass(frozen=True)
class Cloud:
    """Sizes of many variables against each other, a mark for each kind."""

    table: pd.DataFrame  # with these columns
    x: str  # numbers of bytes
    y: str
    kind: str
    title: str
    axes: tuple[str, str]  # what the two numbers are
    lines: Mapping[str, float]  # heights that are marked, in bytes
    most_bytes: float  # where the axis across ends; what is larger is left out

    def __call__(self) -> Figure:
        figure, axes = plt.subplots(figsize=(7.2, 4.2))
        shown = self.table[self.table[self.x] <= self.most_bytes]
        for mark, (kind, sizes) in zip("o^sDv", shown.groupby(self.kind, sort=False), strict=False):
            axes.plot(sizes[self.x], sizes[self.y], mark, ms=4, mfc="none", label=str(kind))
        for name, height in self.lines.items():
            axes.axhline(height, color="0.5", lw=0.9, ls=":")
            axes.annotate(
                name, (1, height), xycoords=("axes fraction", "data"), xytext=(4, 0),
                textcoords="offset points", va="center", size=8, color="0.5",
            )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel=self.axes[0], ylabel=self.axes[1])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(base=1000.0, numticks=12))
            axis.set_major_formatter(FuncFormatter(lambda value, _: amount(value, "B")))
            axis.set_minor_locator(NullLocator())
        entitled(axes, self.title)
        return figure


@dataclass(frozen=True)
class BreakEven:
    """Time with compression over the time without, by the rate of the storage."""

    # from `hyperslab.analysis.break_even.costs`, by the title of the panel
    costs: Mapping[str, pd.DataFrame]
    document: Mapping[str, float]  # rates of the document's storage in bytes/s, by panel
    title: str

    def __call__(self) -> Figure:
        rates = np.geomspace(1e7, 3e10, 200)
        figure, row = plt.subplots(1, len(self.costs), figsize=(7.2, 3.8), sharey=True)
        for axes, (panel, costs) in zip(row, self.costs.items(), strict=True):
            for number, (name, cost) in enumerate(costs.iterrows()):
                value, low, high = relative_time(cost.to_dict(), rates)
                axes.plot(1e-6 * rates, value, color=f"C{number}", label=name)
                axes.fill_between(1e-6 * rates, low, high, color=f"C{number}", alpha=0.2, lw=0)
            axes.axhline(1, lw=0.8, color="C6")
            axes.axvline(1e-6 * self.document[panel], lw=1, ls="--", color="0.5", label="document")
            logarithmic(axes, xlabel="rate of the storage, MB/s")
            axes.set_title(panel, loc="left")
        row[0].set_ylabel("time over the uncompressed one's")
        headline(figure, self.title, row[0].get_legend_handles_labels(), columns=4)
        return figure
