"""Where bytes lie in a file or a chunk, and which of them are sent or decoded."""

from collections.abc import Mapping
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ...io.layout import Layout
from .style import entitled, headline, plain, two_a_row

_STRIPS = 256  # more would melt into one band
_HAIR = 0.004  # least share of a panel that is drawn


@dataclass(frozen=True)
class ColumnInFile:
    """Where the bytes of a column lie in files of several layouts: Figure 8 of Lee et al. 2008."""

    layouts: Mapping[str, Layout]  # a chunk that holds part of the column counts as a whole
    shape: tuple[int, int]  # rows and columns of the array
    column: int
    title: str

    def __call__(self) -> Figure:
        figure, axes = plt.subplots(figsize=(7.2, 2.8))
        rows, columns = self.shape
        for y, layout in enumerate(self.layouts.values()):
            axes.broken_barh([(0, 1)], (y - 0.3, 0.6), color="C5", alpha=0.25, lw=0)
            spots = [(strip / _STRIPS, 0.25 / _STRIPS) for strip in range(_STRIPS)]
            if layout.chunks:  # they lie row by row of the grid: one of each is of the column
                high, wide = layout.chunks
                down, across = -(-rows // high), -(-columns // wide)
                width = 1 / (down * across)
                grid_column = self.column // wide
                spots = [((row * across + grid_column) * width, width) for row in range(down)]
            axes.broken_barh(spots, (y - 0.3, 0.6), color="C1", lw=0.8, edgecolor="C1")
        axes.set_yticks(range(len(self.layouts)), list(self.layouts))
        axes.set(xlabel="place in the file, as a share of it", xlim=(0, 1))
        axes.invert_yaxis()
        axes.set_title(self.title, loc="left")
        axes.grid(False)
        return figure


@dataclass(frozen=True)
class SentBytes:
    """Which bytes of a file were sent to each reader: a panel a read, a bar from first to last."""

    # records with read, reader, stored_at and chunk_bytes of each range, and file_bytes
    ranges: pd.DataFrame
    title: str
    highlighted: str = ""  # the reader whose bytes have another colour

    def __call__(self) -> Figure:
        names = [str(name) for name in self.ranges["reader"].dropna().unique()]
        reads = list(self.ranges["read"].unique())
        figure, grid = two_a_row(len(reads), 0.22 * len(names) + 0.9, 0.5)
        for axes, read in zip(grid.flat, reads, strict=False):
            ranges = self.ranges[self.ranges["read"] == read]
            whole = float(ranges["file_bytes"].iloc[0]) / 1e6
            for row, name in enumerate(names):
                sent = ranges[ranges["reader"] == name]
                # Less than a hair of the panel would not be seen.
                widths = np.maximum(sent["chunk_bytes"] / 1e6, _HAIR * whole)
                bars = list(zip(sent["stored_at"] / 1e6, widths, strict=True))
                colour = "C1" if name == self.highlighted else "C0"
                axes.broken_barh(bars, (row - 0.38, 0.76), facecolors=colour, linewidth=0)
            axes.set(title=read, xlim=(0, whole * (1 + _HAIR)), xlabel="place in the file, MB")
            axes.set_yticks(range(len(names)), names)
            axes.set_ylim(len(names) - 0.5, -0.5)
            axes.grid(axis="y", visible=False)
        headline(figure, self.title)
        return figure


@dataclass(frozen=True)
class Successive:
    """How long each of successive reads takes, over its place in the file."""

    seconds: "pd.Series[float]"  # by reader and place, the latter as text
    title: str
    across: str  # what the axes are; upwards in microseconds
    upwards: str
    lines: Mapping[str, float]  # times that are marked, in seconds

    def __call__(self) -> Figure:
        figure, axes = plt.subplots(figsize=(7.2, 3.6))
        readers = self.seconds.index.unique(0)
        for mark, name in zip("ox^", readers, strict=False):
            times = self.seconds[name]
            axes.plot(times.index.astype(float), 1e6 * times, mark, ms=3.5, mfc="none", label=name)
        for name, height in self.lines.items():
            axes.axhline(1e6 * height, color="0.5", ls=":")
            axes.annotate(
                name, (1, 1e6 * height), xycoords=("axes fraction", "data"), xytext=(0, 3),
                textcoords="offset points", ha="right", size=8, color="0.5",
            )  # fmt: skip
        axes.set(yscale="log", xlabel=self.across, ylabel=self.upwards)
        plain(axes.yaxis)
        entitled(axes, self.title, columns=3)
        return figure


@dataclass(frozen=True)
class PointsInChunk:
    """Where decompression of a chunk can start: Figure 2 of Penard et al. 2025."""

    # records with the labels file and index: a row for each point and one for the end, with
    # out_at and stored_at, in decompressed and in compressed bytes
    points: pd.DataFrame
    title: str

    def __call__(self) -> Figure:
        indexes = list(self.points.groupby(["file", "index"], sort=False, observed=True))
        size = (7.4, 1.5 * len(indexes) + 0.4)
        figure, column = plt.subplots(len(indexes), figsize=size, sharex=True, squeeze=False)
        for axes, ((file, index), points) in zip(column.flat, indexes, strict=True):
            out, stored = 1e-6 * points["out_at"].to_numpy(), 1e-6 * points["stored_at"].to_numpy()
            axes.plot([out, stored], [1, 0], color="C0", lw=0.25 if len(points) > 60 else 0.8)
            for level, end in ((1, out[-1]), (0, stored[-1])):
                axes.plot([0, end], [level, level], color="0.6", lw=5, solid_capstyle="butt")
            axes.set_title(f"{file}: {len(points) - 1} points of {index}", loc="left")
            axes.set_yticks([0, 1], ["compressed", "decompressed"])
            axes.set_ylim(-0.35, 1.35)
            axes.grid(visible=False)
        axes.set_xlabel("bytes from the beginning of the chunk, MB")
        headline(figure, self.title)
        return figure


@dataclass(frozen=True)
class DecodedBytes:
    """What requests want of a chunk, and what is decoded: Figures 4 and 5 of Penard et al. 2026."""

    # records with the labels file, index and request: rows of the phases chunk, run and section
    sections: pd.DataFrame
    panel: str  # the label that makes the panels
    title: str

    def __call__(self) -> Figure:
        panels = list(self.sections.groupby(self.panel, sort=False, observed=True))
        size = (7.4, 1.4 * len(panels) + 1.2)
        figure, column = plt.subplots(len(panels), figsize=size, sharex=True, squeeze=False)
        for axes, (panel, sections) in zip(column.flat, panels, strict=True):
            self._bars(axes, sections)
            axes.set_title(panel, loc="left")
        axes.set_xlabel("bytes from the beginning of the chunk, MB")
        names = list(dict.fromkeys(self.sections["index"]))
        handles = [Patch(color=f"C{n}", label=f"decoded, {name}") for n, name in enumerate(names)]
        handles.append(Patch(color="C2", label="wanted"))
        headline(figure, self.title, (handles, [each.get_label() for each in handles]))
        return figure

    def _bars(self, axes: Axes, sections: pd.DataFrame) -> None:
        """Draw the chunk as a bar, decompressed once and compressed for each index."""
        indexes = list(sections.groupby("index", sort=False, observed=True))
        lines = [("decompressed", 0, indexes[0][1], "out_at", "predicted_bytes")]
        lines += [
            (f"compressed, {name}", number, rows, "stored_at", "wire_bytes")
            for number, (name, rows) in enumerate(indexes)
        ]
        for position, (_, number, rows, start, size) in enumerate(lines):
            phases = dict(list(rows.groupby("phase")))
            whole = 1e-6 * float(phases["chunk"][size].iloc[0])
            axes.barh(-position, whole, height=0.5, color="0.6", alpha=0.3)
            marked = [(phases["section"], size, f"C{number}", 0.5)]
            if position == 0:
                marked.append((phases["run"], "useful_bytes", "C2", 0.86))
            for extents, length, colour, height in marked:
                # None too narrow to be seen.
                wide = (1e-6 * extents[length]).clip(lower=0.002 * whole)
                left = 1e-6 * extents[start]
                axes.barh(-position, wide, left=left, height=height, color=colour, lw=0)
        axes.set_yticks([-position for position in range(len(lines))], [line[0] for line in lines])
        axes.set_xlim(left=0)
        axes.grid(visible=False)
