"""Pictures that are no comparison: where bytes lie, and who wins over which link."""

import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..analysis.break_even import relative_time
from ..analysis.cost import over_links
from ..storage.layout import Layout
from ..text import amount, percent
from .style import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import DataArray

_STRIPS = 256  # more would melt into one band
_TRIPS_S, _RATES = np.geomspace(1e-3, 0.3, 160), np.geomspace(1e5, 1e9, 160) / 8
_NEAR = 1.1  # a lead by less than this factor is hardly one
_COLOURS, _SHADE = 7, 0.55  # of the style's cycle


_SLOWEST = 30.0  # times as long as the quickest is drawn darkest
_FRAME = "#D55E00"
_HAIR = 0.004  # least share of a panel that is drawn


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
class Predicted:
    """What was predicted over what was measured, a point each, and a line where both are equal.

    Parameters
    ----------
    points : pandas.DataFrame
        With the columns measured and predicted, in the unit of the axes.
    title : str
    axis : str
        What is measured, and its unit, such as "time, ms".
    colour, panel : str
        Columns that make the colours and the panels; one of each if there is none.
    within : float
        A band is drawn around the line, of predictions that are off by at most this share.

    Examples
    --------
    >>> points = pd.DataFrame({"measured": [1.0, 2.0], "predicted": [1.1, 1.9]})
    >>> Predicted(points, "Two points", "time, s")().axes[0].get_xlabel()
    'measured time, s'
    """

    points: pd.DataFrame
    title: str
    axis: str
    colour: str = ""
    panel: str = ""
    within: float = 0.0

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

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
            axes.set(xscale="log", yscale="log", xlabel=f"measured {self.axis}")
            axes.set_title(str(name), loc="left")
            plain(axes.xaxis)
            plain(axes.yaxis)
        row[0, 0].set_ylabel(f"predicted {self.axis}")
        handles, labels = row[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        figure.suptitle(self.title, x=0.01, ha="left", size=10.5)
        return figure


@dataclass(frozen=True)
class SentBytes:
    """Which bytes of a file were sent to each reader: a panel a read, a bar from first to last.

    Parameters
    ----------
    ranges : pandas.DataFrame
        Records with read, reader, stored_at and chunk_bytes of each range, and file_bytes.
    title : str
    highlighted : str
        The reader whose bytes have another colour.
    """

    ranges: pd.DataFrame
    title: str
    highlighted: str = ""

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

        names = [str(name) for name in self.ranges["reader"].dropna().unique()]
        reads = list(self.ranges["read"].unique())
        down = -(-len(reads) // 2)
        size = (7.4, down * (0.22 * len(names) + 0.9) + 0.5)
        figure, grid = plt.subplots(down, 2, figsize=size, sharey=True, squeeze=False)
        for axes in grid.flat[len(reads) :]:
            axes.set_visible(False)
        for axes, read in zip(grid.flat, reads, strict=False):
            part = self.ranges[self.ranges["read"] == read]
            whole = float(part["file_bytes"].iloc[0]) / 1e6
            for row, name in enumerate(names):
                sent = part[part["reader"] == name]
                # Less than a hair of the panel would not be seen.
                widths = np.maximum(sent["chunk_bytes"] / 1e6, _HAIR * whole)
                bars = list(zip(sent["stored_at"] / 1e6, widths, strict=True))
                colour = "C1" if name == self.highlighted else "C0"
                axes.broken_barh(bars, (row - 0.38, 0.76), facecolors=colour, linewidth=0)
            axes.set(title=read, xlim=(0, whole * (1 + _HAIR)), xlabel="place in the file, MB")
            axes.set_yticks(range(len(names)), names)
            axes.set_ylim(len(names) - 0.5, -0.5)
            axes.grid(axis="y", visible=False)
        figure.suptitle(self.title, x=0.01, ha="left", size=10.5)
        return figure


@dataclass(frozen=True)
class Remedies:
    """How many times as long as the quickest each remedy takes, and which is good enough.

    Parameters
    ----------
    table : pandas.DataFrame
        From `hyperslab.analysis.places.chosen`.
    remedies : mapping of (str, str) to str
        By layout and reader, what has to be done: the rows, from above.
    title : str
    """

    table: pd.DataFrame
    remedies: Mapping[tuple[str, str], str]
    title: str

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

        places, reads = (list(self.table.index.unique(name)) for name in ("place", "read"))
        rows, down = list(self.remedies), -(-len(reads) // 2)
        size = (7.4, down * (0.23 * len(rows) + 0.6) + 0.4)
        figure, grid = plt.subplots(down, 2, figsize=size, sharex=True, sharey=True, squeeze=False)
        for axes in grid.flat[len(reads) :]:
            axes.set_visible(False)
        for axes, read in zip(grid.flat, reads, strict=False):
            part = self.table[self.table.index.get_level_values("read") == read].droplevel("read")
            cells: list[Any] = part.to_dict("records")
            for (place, *way), cell in zip(part.index, cells, strict=True):
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
        figure.suptitle(self.title, x=0.01, ha="left", size=10.5)
        return figure


def _cell(axes: "Axes", x: int, y: int, row: Mapping[Any, Any]) -> None:
    """Draw a number in a shade: bold is the quickest, framed the chosen, a star by the model."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

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
    """Return what a remedy is called beside what has to be done.

    Examples
    --------
    >>> _short("netCDF-4", "kerchunk"), _short("Zarr, Blosc", "zarr, obstore")
    ('kerchunk', 'Zarr, Blosc, obstore')
    """
    if layout == "netCDF-4":
        return reader
    return layout + ", obstore" * reader.endswith("obstore")


@dataclass(frozen=True)
class Tradeoff:
    """Two quantities of each layout against each other, such as its time and its size.

    Parameters
    ----------
    across, upwards : pandas.Series of Interval
        By panel and layout; both logarithmic.
    axes : tuple of str
        What the two are.
    title : str
    named : collection of str
        Layouts that have a colour and a name; the others are grey.
    scales : tuple of float
        What the two are multiplied with.
    """

    across: "pd.Series[Any]"
    upwards: "pd.Series[Any]"
    axes: tuple[str, str]
    title: str
    named: Collection[str]
    scales: tuple[float, float] = (1.0, 1.0)

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

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
            axes.set(xscale="log", yscale="log", xlabel=self.axes[0])
            axes.set_title(panel, loc="left")
            plain(axes.xaxis)
            plain(axes.yaxis)
        row[0, 0].set_ylabel(self.axes[1])
        found = dict(zip(*row[0, 0].get_legend_handles_labels()[::-1], strict=True))
        names = [name for name in self.named if name in found]
        handles = [found[name] for name in names]
        figure.legend(handles, names, loc="outside lower center", ncols=3)
        figure.suptitle(self.title, x=0.01, ha="left", size=10.5)
        return figure


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
class Cloud:
    """Sizes of many variables against each other, a mark for each kind.

    Parameters
    ----------
    table : pandas.DataFrame
        With these columns.
    x, y : str
        Numbers of bytes.
    kind : str
    title : str
    axes : tuple of str
        What the two numbers are.
    lines : mapping of str to float
        Heights that are marked, in bytes.
    most_bytes : float
        Where the axis across ends; what is larger is left out.
    """

    table: pd.DataFrame
    x: str
    y: str
    kind: str
    title: str
    axes: tuple[str, str]
    lines: Mapping[str, float]
    most_bytes: float

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt
        from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

        figure, axes = plt.subplots(figsize=(7.2, 4.2))
        shown = self.table[self.table[self.x] <= self.most_bytes]
        for mark, (kind, part) in zip("o^sDv", shown.groupby(self.kind, sort=False), strict=False):
            axes.plot(part[self.x], part[self.y], mark, ms=4, mfc="none", label=str(kind))
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
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
        axes.set_title(self.title, loc="left", pad=26)
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


@dataclass(frozen=True)
class Successive:
    """How long each of successive reads takes, over its place in the file.

    Parameters
    ----------
    seconds : pandas.Series
        By reader and place, the latter as text.
    title : str
    across, upwards : str
        What the axes are; upwards in microseconds.
    lines : mapping of str to float
        Times that are marked, in seconds.
    """

    seconds: "pd.Series[float]"
    title: str
    across: str
    upwards: str
    lines: Mapping[str, float]

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(7.2, 3.6))
        readers = self.seconds.index.unique(0)
        for mark, name in zip("ox^", readers, strict=False):
            part = self.seconds[name]
            axes.plot(part.index.astype(float), 1e6 * part, mark, ms=3.5, mfc="none", label=name)
        for name, height in self.lines.items():
            axes.axhline(1e6 * height, color="0.5", ls=":")
            axes.annotate(
                name, (1, 1e6 * height), xycoords=("axes fraction", "data"), xytext=(0, 3),
                textcoords="offset points", ha="right", size=8, color="0.5",
            )  # fmt: skip
        axes.set(yscale="log", xlabel=self.across, ylabel=self.upwards)
        plain(axes.yaxis)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
        axes.set_title(self.title, loc="left", pad=26)
        return figure


@dataclass(frozen=True)
class Map:
    """A field on a map; grey where there are no values.

    Parameters
    ----------
    field : xarray.DataArray
        Of latitude and longitude, with units.
    title : str
    colours : str
        A colour map of matplotlib.
    limits : tuple of float
        Values of its ends; what is less is not drawn.
    arrows : tuple of xarray.DataArray
        Eastward and northward parts of a flow on the same grid.
    contour : float
        A value along which a line is drawn.
    """

    field: "DataArray"
    title: str
    colours: str
    limits: tuple[float, float]
    arrows: "tuple[DataArray, ...]" = ()
    contour: float | None = None

    def draw(self, axes: "Axes") -> None:
        """Draw it with its colour bar."""
        import matplotlib.pyplot as plt

        y, x = self.field.dims
        field = self.field.sortby([y, x])
        lat, lon = field[y].to_numpy(), field[x].to_numpy()
        dx, dy = (float(at[1] - at[0]) / 2 for at in (lon, lat))
        ends = (lon[0] - dx, lon[-1] + dx, lat[0] - dy, lat[-1] + dy)
        scale = 1 / np.cos(np.deg2rad(lat.mean())) if abs(lat.mean()) > 5 else 1
        colours = plt.get_cmap(self.colours).with_extremes(bad="0.7", under=(0, 0, 0, 0))
        low, high = self.limits
        picture = axes.imshow(
            field, cmap=colours, vmin=low, vmax=high, extent=ends, origin="lower", aspect=scale
        )
        bar = axes.figure.colorbar(picture, ax=axes, shrink=0.85, pad=0.015, aspect=18)
        bar.set_label(self.field.attrs["units"])
        bar.outline.set_visible(False)
        if self.contour is not None:
            axes.contour(lon, lat, field, [self.contour], colors="#202020", linewidths=0.9)
        if self.arrows:
            u, v = (part.sortby([y, x])[1::4, 1::4] for part in self.arrows)
            axes.quiver(u[x], u[y], u, v, color="w", scale=18, width=0.0019, headwidth=4)
        axes.set(xlabel="longitude, °E", ylabel="latitude, °N")
        axes.set_title(self.title, loc="left")
        axes.grid(visible=False)


@dataclass(frozen=True)
class Maps:
    """Fields on maps, below each other.

    Parameters
    ----------
    maps : sequence of Map
    """

    maps: Sequence[Map]

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

        size = (7.2, 3.6 * len(self.maps))
        figure, column = plt.subplots(len(self.maps), 1, figsize=size, dpi=130, squeeze=False)
        for axes, drawn in zip(column.flat, self.maps, strict=True):
            drawn.draw(axes)
        return figure


@dataclass(frozen=True)
class PointsInChunk:
    """Where decompression of a chunk can start: Figure 2 of Penard et al. 2025.

    Parameters
    ----------
    points : pandas.DataFrame
        Records with the labels file and index: a row for each point and one for the end, with
        out_at and stored_at, in decompressed and in compressed bytes.
    title : str
    """

    points: pd.DataFrame
    title: str

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

        parts = list(self.points.groupby(["file", "index"], sort=False, observed=True))
        size = (7.4, 1.5 * len(parts) + 0.4)
        figure, column = plt.subplots(len(parts), figsize=size, sharex=True, squeeze=False)
        for axes, ((file, index), part) in zip(column.flat, parts, strict=True):
            out, stored = 1e-6 * part["out_at"].to_numpy(), 1e-6 * part["stored_at"].to_numpy()
            axes.plot([out, stored], [1, 0], color="C0", lw=0.25 if len(part) > 60 else 0.8)
            for level, end in ((1, out[-1]), (0, stored[-1])):
                axes.plot([0, end], [level, level], color="0.6", lw=5, solid_capstyle="butt")
            axes.set_title(f"{file}: {len(part) - 1} points of {index}", loc="left")
            axes.set_yticks([0, 1], ["compressed", "decompressed"])
            axes.set_ylim(-0.35, 1.35)
            axes.grid(visible=False)
        axes.set_xlabel("bytes from the beginning of the chunk, MB")
        figure.suptitle(self.title, x=0.01, ha="left", size=10.5)
        return figure


@dataclass(frozen=True)
class DecodedBytes:
    """What requests want of a chunk, and what is decoded for them: Figures 4 and 5 of Penard et al.

    Parameters
    ----------
    sections : pandas.DataFrame
        Records with the labels file, index and request: rows of the phases chunk, run and section.
    panel : str
        The label that makes the panels.
    title : str
    """

    sections: pd.DataFrame
    panel: str
    title: str

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt
        from matplotlib.patches import Patch

        panels = list(self.sections.groupby(self.panel, sort=False, observed=True))
        size = (7.4, 1.4 * len(panels) + 1.2)
        figure, column = plt.subplots(len(panels), figsize=size, sharex=True, squeeze=False)
        for axes, (panel, part) in zip(column.flat, panels, strict=True):
            self._bars(axes, part)
            axes.set_title(panel, loc="left")
        axes.set_xlabel("bytes from the beginning of the chunk, MB")
        names = list(dict.fromkeys(self.sections["index"]))
        handles = [Patch(color=f"C{n}", label=f"decoded, {name}") for n, name in enumerate(names)]
        handles.append(Patch(color="C2", label="wanted"))
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
        figure.suptitle(self.title, x=0.01, ha="left", size=10.5)
        return figure

    def _bars(self, axes: "Axes", part: pd.DataFrame) -> None:
        """Draw the chunk as a bar, decompressed once and compressed for each index."""
        indexes = list(part.groupby("index", sort=False, observed=True))
        lines = [("decompressed", 0, indexes[0][1], "out_at", "predicted_bytes")]
        lines += [
            (f"compressed, {name}", number, rows, "stored_at", "wire_bytes")
            for number, (name, rows) in enumerate(indexes)
        ]
        for place, (_, number, rows, start, size) in enumerate(lines):
            phases = dict(list(rows.groupby("phase")))
            whole = 1e-6 * float(phases["chunk"][size].iloc[0])
            axes.barh(-place, whole, height=0.5, color="0.6", alpha=0.3)
            marked = [(phases["section"], size, f"C{number}", 0.5)]
            if place == 0:
                marked.append((phases["run"], "useful_bytes", "C2", 0.86))
            for found, length, colour, height in marked:
                # None too narrow to be seen.
                wide = (1e-6 * found[length]).clip(lower=0.002 * whole)
                left = 1e-6 * found[start]
                axes.barh(-place, wide, left=left, height=height, color=colour, lw=0)
        axes.set_yticks([-place for place in range(len(lines))], [line[0] for line in lines])
        axes.set_xlim(left=0)
        axes.grid(visible=False)
