"""Pictures that are no comparison: where bytes lie, and who wins over which link."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..analysis.break_even import relative_time
from ..analysis.cost import over_links
from ..storage.layout import Layout
from .style import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STRIPS = 256  # more would melt into one band
_TRIPS_S, _RATES = np.geomspace(1e-3, 0.3, 160), np.geomspace(1e5, 1e9, 160) / 8
_NEAR = 1.1  # a lead by less than this factor is hardly one
_COLOURS, _SHADE = 7, 0.55  # of the style's cycle


@dataclass(frozen=True)
class ColumnInFile:
    """Where the bytes of one column lie in files of several layouts: Figure 8 of Lee et al. 2008.

    Parameters
    ----------
    layouts : mapping of str to Layout
        A chunk that holds part of the column counts as a whole.
    shape : tuple of int
        Rows and columns of the array.
    column : int
    title : str
    """

    layouts: Mapping[str, Layout]
    shape: tuple[int, int]
    column: int
    title: str

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(7.2, 2.8))
        rows, columns = self.shape
        for y, layout in enumerate(self.layouts.values()):
            axes.broken_barh([(0, 1)], (y - 0.3, 0.6), color="C5", alpha=0.25, lw=0)
            spots = [(strip / _STRIPS, 0.25 / _STRIPS) for strip in range(_STRIPS)]
            if layout.chunks:  # they lie row by row of the grid: one of each is of the column
                high, wide = layout.chunks
                down, across = -(-rows // high), -(-columns // wide)
                width = 1 / (down * across)
                place = self.column // wide
                spots = [((row * across + place) * width, width) for row in range(down)]
            axes.broken_barh(spots, (y - 0.3, 0.6), color="C1", lw=0.8, edgecolor="C1")
        axes.set_yticks(range(len(self.layouts)), list(self.layouts))
        axes.set(xlabel="place in the file, as a share of it", xlim=(0, 1))
        axes.invert_yaxis()
        axes.set_title(self.title, loc="left")
        axes.grid(False)
        return figure


@dataclass(frozen=True)
class MapOfLinks:
    """Which reader is the fastest over links of any round trip and rate, by the model.

    Parameters
    ----------
    moved : pandas.DataFrame
        From `hyperslab.analysis.cost.moved`, by panel, layout and reader.
    title : str
    marked : sequence of (str, float, float)
        A marker of matplotlib, a round trip in seconds and a rate in bytes a second.
    """

    moved: pd.DataFrame
    title: str
    marked: Sequence[tuple[str, float, float]] = ()

    @cached_property
    def _maps(self) -> dict[str, tuple[NDArray[np.int64], NDArray[np.bool_]]]:
        """The fastest way at each point, by panel, and whether another is near.

        What reads the same file with the same library, and merely fetches otherwise, is no other.
        """
        found = {}
        for panel, part in self.moved.groupby(level=0, sort=False):
            ways = [": ".join(map(str, key[1:])) for key in part.index]
            alike = [(key[1], str(key[2]).partition(",")[0]) for key in part.index]
            family = np.array([alike.index(one) for one in alike])
            seconds = over_links(part, _TRIPS_S, _RATES)
            best = seconds.argmin(axis=0)
            others = np.where(family[:, None, None] == family[best], np.inf, seconds).min(axis=0)
            numbers = np.array([self._ways.index(way) for way in ways])
            found[str(panel)] = numbers[best], others < _NEAR * seconds.min(axis=0)
        return found

    @cached_property
    def _ways(self) -> list[str]:
        keys = self.moved.index
        return list(dict.fromkeys(": ".join(map(str, key[1:])) for key in keys))

    def leads(self) -> pd.DataFrame:
        """Return what share of each panel's map a way leads: a way a row, a panel a column."""
        shares = {
            panel: pd.Series(best.ravel()).map(self._ways.__getitem__).value_counts(normalize=True)
            for panel, (best, _) in self._maps.items()
        }
        return pd.DataFrame(shares).rename_axis("layout: reader")

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt
        from matplotlib.patches import Patch

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
            axes.set(xscale="log", yscale="log")
            axes.set_title(panel, loc="left")
            axes.grid(visible=False)
            plain(axes.xaxis)
            plain(axes.yaxis)
        for axes in grid[-1]:
            axes.set_xlabel("round trip, ms")
        for axes in grid[:, 0]:
            axes.set_ylabel("rate, Mbit/s")
        handles = [
            Patch(fc=f"C{n % _COLOURS}", alpha=_SHADE, label=f"{n + 1}  {self._ways[way]}")
            for n, way in enumerate(winners)
        ]
        close = f"another is within {100 * (_NEAR - 1):.0f} %"
        handles.append(Patch(fc="none", ec="0.5", hatch="///", lw=0, label=close))
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
        figure.suptitle(self.title, x=0.01, ha="left", size=10.5)
        return figure


def _draw_map(axes: "Axes", order: NDArray[np.int64], near: NDArray[np.bool_]) -> None:
    """Draw colours, lines where the lead changes, the winners' numbers, and where it is close."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

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
class Cover:
    """How chunks of several lengths cover a square array: Figure 12 of Lee et al. 2008.

    Parameters
    ----------
    side : int
        Of the array.
    lengths : sequence of int
        Of the chunks; a panel for each.
    title : str
    """

    side: int
    lengths: Sequence[int]
    title: str

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt
        from matplotlib.patches import Rectangle

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
        figure.suptitle(self.title, x=0.01, ha="left", size=10.5)
        return figure


@dataclass(frozen=True)
class BreakEven:
    """Time with compression over the time without, by the rate of the storage.

    Parameters
    ----------
    costs : mapping of str to pandas.DataFrame
        From `hyperslab.analysis.break_even.costs`, by the title of the panel.
    document : mapping of str to float
        Rates of the document's storage in bytes/s, by panel.
    title : str
    """

    costs: Mapping[str, pd.DataFrame]
    document: Mapping[str, float]
    title: str

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

        rates = np.geomspace(1e7, 3e10, 200)
        figure, row = plt.subplots(1, len(self.costs), figsize=(7.2, 3.8), sharey=True)
        for axes, (panel, costs) in zip(row, self.costs.items(), strict=True):
            for number, (name, cost) in enumerate(costs.iterrows()):
                value, low, high = relative_time(cost.to_dict(), rates)
                axes.plot(1e-6 * rates, value, color=f"C{number}", label=name)
                axes.fill_between(1e-6 * rates, low, high, color=f"C{number}", alpha=0.2, lw=0)
            axes.axhline(1, lw=0.8, color="C6")
            axes.axvline(1e-6 * self.document[panel], lw=1, ls="--", color="0.5", label="document")
            axes.set(xscale="log", yscale="log", xlabel="rate of the storage, MB/s")
            axes.set_title(panel, loc="left")
            plain(axes.xaxis)
            plain(axes.yaxis)
        row[0].set_ylabel("time over the uncompressed one's")
        figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        figure.suptitle(self.title, x=0.01, ha="left", size=10.5)
        return figure
