"""Who is the quickest over which link, and what is done about it."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from ...analysis.cost import over_links
from .style import headline, logarithmic, two_a_row

_TRIPS_S, _RATES = np.geomspace(1e-3, 0.3, 160), np.geomspace(1e5, 1e9, 160) / 8
_NEAR = 1.1  # a lead by less than this factor is hardly one
_COLOURS, _SHADE = 7, 0.55  # of the style's cycle
_SLOWEST = 30.0  # times as long as the quickest is drawn darkest
_FRAME = "#cc3311"  # on dark pages too


@dataclass(frozen=True)
class MapOfLinks:
    """Which reader is the fastest over links of any round trip and rate, by the model."""

    moved: pd.DataFrame  # from `hyperslab.analysis.cost.moved`, by panel, layout and reader
    title: str
    # a marker of matplotlib, a round trip in seconds and a rate in bytes a second
    marked: Sequence[tuple[str, float, float]] = ()

    @cached_property
    def _maps(self) -> dict[str, tuple[NDArray[np.int64], NDArray[np.bool_]]]:
        """The fastest way at each point, by panel, and whether another is near."""
        maps = {}
        for panel, moved in self.moved.groupby(level=0, sort=False):
            ways = [": ".join(map(str, key[1:])) for key in moved.index]
            # What reads the same file with the same library is no other way, however it fetches.
            alike = [(key[1], str(key[2]).partition(",")[0]) for key in moved.index]
            family = np.array([alike.index(pair) for pair in alike])
            seconds = over_links(moved, _TRIPS_S, _RATES)
            best = seconds.argmin(axis=0)
            others = np.where(family[:, None, None] == family[best], np.inf, seconds).min(axis=0)
            numbers = np.array([self._ways.index(way) for way in ways])
            maps[str(panel)] = numbers[best], others < _NEAR * seconds.min(axis=0)
        return maps

    @cached_property
    def _ways(self) -> list[str]:
        return list(dict.fromkeys(": ".join(map(str, key[1:])) for key in self.moved.index))

    def leads(self) -> pd.DataFrame:
        """Return what share of each panel's map a way leads: a way a row, a panel a column."""
        shares = {
            panel: pd.Series(best.ravel()).map(self._ways.__getitem__).value_counts(normalize=True)
            for panel, (best, _) in self._maps.items()
        }
        return pd.DataFrame(shares).rename_axis("layout: reader")

    def __call__(self) -> Figure:
        winners = [self._ways.index(way) for way in self.leads().index]
        figure, grid = plt.subplots(2, 2, figsize=(7.2, 7.4), sharex=True, sharey=True)
        for axes, (panel, (best, near)) in zip(grid.flat, self._maps.items(), strict=False):
            order = np.full(len(self._ways), -1)
            order[winners] = range(len(winners))
            _draw_map(axes, order[best], near)
            for mark, trip_s, rate in self.marked:
                axes.plot(
                    1e3 * trip_s, 8e-6 * rate, mark, ms=6, mfc="none",
                    color=plt.rcParams["text.color"],
                )  # fmt: skip
            logarithmic(axes)
            axes.set_title(panel, loc="left")
            axes.grid(visible=False)
        for axes in grid[-1]:
            axes.set_xlabel("round trip, ms")
        for axes in grid[:, 0]:
            axes.set_ylabel("rate, Mbit/s")
        labels = [f"{n + 1}  {self._ways[way]}" for n, way in enumerate(winners)]
        handles = [Patch(fc=f"C{n % _COLOURS}", alpha=_SHADE) for n in range(len(winners))]
        labels.append(f"another is within {100 * (_NEAR - 1):.0f} %")
        handles.append(Patch(fc="none", ec="0.5", hatch="///", lw=0))
        headline(figure, self.title, (handles, labels), columns=2)
        return figure


def _draw_map(axes: Axes, order: NDArray[np.int64], near: NDArray[np.bool_]) -> None:
    """Draw colours, lines where the lead changes, the winners' numbers, and where it is close."""
    trips, rates, ink = 1e3 * _TRIPS_S, 8e-6 * _RATES, plt.rcParams["text.color"]
    colours = ListedColormap([f"C{n}" for n in range(_COLOURS)])
    axes.pcolormesh(
        trips, rates, order % _COLOURS, cmap=colours, vmin=-0.5, vmax=_COLOURS - 0.5,
        alpha=_SHADE, shading="nearest", rasterized=True,
    )  # fmt: skip
    if near.any():
        with plt.rc_context({"hatch.color": ink, "hatch.linewidth": 0.3}):
            axes.contourf(
                trips, rates, near.astype("f8"), [0.5, 1.5], colors="none", hatches=["///"]
            )
    for number in np.unique(order):
        mine = order == number
        if not mine.all():
            axes.contour(trips, rates, mine.astype("f8"), [0.5], colors=[ink], linewidths=0.8)
        row, column = _innermost(mine)
        axes.text(
            trips[column], rates[row], str(number + 1), ha="center", va="center", weight="bold",
            color=ink,
        )  # fmt: skip


def _innermost(mine: NDArray[np.bool_]) -> tuple[int, int]:
    """Return a point that lies as far inside as any."""
    from scipy.ndimage import distance_transform_edt

    depth = distance_transform_edt(np.pad(mine, 1))[1:-1, 1:-1]
    row, column = np.unravel_index(int(depth.argmax()), depth.shape)
    return int(row), int(column)


@dataclass(frozen=True)
class Remedies:
    """How many times as long as the quickest each remedy takes, and which is good enough."""

    table: pd.DataFrame  # from `hyperslab.analysis.places.chosen`
    # by layout and reader, what has to be done: the rows, from above
    remedies: Mapping[tuple[str, str], str]
    title: str

    def __call__(self) -> Figure:
        places, reads = (list(self.table.index.unique(name)) for name in ("place", "read"))
        rows = list(self.remedies)
        figure, grid = two_a_row(len(reads), 0.23 * len(rows) + 0.6, 0.4, sharex=True)
        for axes, read in zip(grid.flat, reads, strict=False):
            table = self.table[self.table.index.get_level_values("read") == read].droplevel("read")
            cells: list[Any] = table.to_dict("records")
            for (place, *way), cell in zip(table.index, cells, strict=True):
                _cell(axes, places.index(place), rows.index((way[0], way[1])), cell)
            for row, (above, below) in enumerate(pairwise(rows)):
                if self.remedies[above] != self.remedies[below]:
                    axes.axhline(row + 0.5, color="0.5", lw=1.2)
            axes.grid(visible=False)
            axes.set(title=read, xlim=(-0.5, len(places) - 0.5), ylim=(len(rows) - 0.5, -0.5))
            axes.set_xticks(
                range(len(places)), [textwrap.fill(name, 10) for name in places], size=6.3
            )
            names = [f"{what}: {_short(*key)}" for key, what in self.remedies.items()]
            axes.set_yticks(range(len(rows)), names, size=8)
            axes.tick_params(length=0)
        headline(figure, self.title)
        return figure


def _cell(axes: Axes, x: int, y: int, row: Mapping[Any, Any]) -> None:
    """Draw a number in a shade: bold is the quickest, framed the chosen, a star by the model."""
    times, corner = row["times"], (x - 0.5, y - 0.5)
    depth = float(LogNorm(1, _SLOWEST, clip=True)(times))
    shade, star = plt.get_cmap("cividis_r")(depth), "" if row["timed"] else "*"
    axes.add_patch(Rectangle(corner, 1, 1, color=shade, lw=0))
    axes.text(
        x, y, f"{times:.1f}{star}" if times < 9.95 else f"{times:,.0f}{star}",
        ha="center", va="center", size=7.5, weight="bold" if row["best"] else "normal",
        color="white" if depth > 0.6 else "black",
    )  # fmt: skip
    if row["chosen"]:
        inside = (corner[0] + 0.04, corner[1] + 0.04)
        axes.add_patch(Rectangle(inside, 0.92, 0.92, fill=False, ec=_FRAME, lw=2.2, zorder=3))


def _short(layout: str, reader: str) -> str:
    """Return what a remedy is called beside what has to be done."""
    return reader if layout == "netCDF-4" else layout + ", obstore" * reader.endswith("obstore")
