"""The figures of the pages: a table from `compare`, drawn on matplotlib's axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .pictures.style import entitled, headline, palette, plain, two_a_row

Numbers: TypeAlias = "Mapping[Any, float] | pd.Series[float]"
SCALES: Mapping[str, float] = {
    "": 1.0, "×": 1.0, "s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9, "B": 1.0, "kB": 1e-3, "MB": 1e-6,
    "GB": 1e-9, "KiB": 2**-10, "MiB": 2**-20, "MB/s": 1e-6, "GB/s": 1e-9, "%": 100.0,
}  # fmt: skip
"""What values in seconds, bytes, bytes a second and shares are multiplied with, by unit."""
_APART = 0.34  # of a row: between dots of several colours
_DIRECT = 5  # so many curves are labelled at their ends, more in a legend


class _Drawn:
    """What dots and curves share: a table from `compare`, an axis, colours, panels, a document."""

    table: pd.DataFrame
    title: str
    axis: str
    unit: str
    colour: str
    value: str
    panel: str
    document: "Numbers | None"

    @property
    def labels(self) -> list[str]:
        raise NotImplementedError

    def numbers_drawn(self) -> dict[str, pd.DataFrame]:
        """Return what is drawn, by its kind, with the columns colour, panel and values."""
        return {
            "measured": self.named(_flat(self.table, self.value, SCALES[self.unit])),
            "document": self.named(self.numbers(self.document)),
        }

    def numbers(self, values: "Numbers | None") -> pd.DataFrame:
        """Return numbers by labels as a table with these as columns."""
        series = pd.Series(dtype="f8") if values is None else pd.Series(values, dtype="f8")
        labels = [str(label) for label in series.index.names if label] or [self.labels[0]]
        return (series * SCALES[self.unit]).rename("value").rename_axis(labels).reset_index()

    def named(self, frame: pd.DataFrame) -> pd.DataFrame:
        colour = frame[self.colour].astype(str) if self.colour in frame else "here"
        panel = frame[self.panel].astype(str) if self.panel in frame else ""
        return frame.assign(colour=colour, panel=panel)

    @property
    def axis_label(self) -> str:
        return f"{self.axis}, {self.unit}" if self.unit else self.axis


@dataclass(frozen=True)
class Dots(_Drawn):
    """Dots with their intervals, a row for each label."""

    table: pd.DataFrame  # from `compare`
    rows: str | Sequence[str]  # the label that makes the rows, or several
    title: str  # what the figure says
    axis: str  # what is measured, such as "time to read one column"
    unit: str = ""  # of the axis: one of `SCALES`
    colour: str = ""  # the label that makes the colours; one colour if there is none
    value: str = "value"  # the column of the table that is drawn
    panel: str = ""  # the label that makes the panels; one panel if there is none
    # the document's numbers by the label of the rows, or by several, in seconds or bytes
    document: "Numbers | None" = None
    bound: float = 0.0  # what nothing can beat, in seconds or bytes
    bound_name: str = ""
    # values that were not measured, by all the labels, but come from the cost model
    hollow: "pd.Series[float] | None" = None
    log: bool = True  # whether the axis is logarithmic

    @property
    def labels(self) -> list[str]:
        return [self.rows] if isinstance(self.rows, str) else list(self.rows)

    def __call__(self) -> Figure:
        frames = self.frames
        names, panels = _values(frames, "row"), _values(frames, "panel")
        if len(panels) == 1:
            figure, axes = plt.subplots(figsize=(7.2, 0.45 * len(names) + 1.3))
            self.draw(axes, frames, names)
            entitled(axes, self.title)
            return figure
        height = 0.22 * len(names) + 0.6
        return _in_panels(self, height, lambda axes, frames: self.draw(axes, frames, names))

    @cached_property
    def frames(self) -> Mapping[str, pd.DataFrame]:
        """What is drawn, by its kind, with the columns row, colour, panel and values."""
        frames = {**self.numbers_drawn(), "hollow": self.named(self.numbers(self.hollow))}
        for frame in frames.values():
            labels = [label for label in self.labels if label in frame]
            frame["row"] = frame[labels].astype(str).agg(": ".join, axis=1) if len(frame) else ""
        drawn = {*frames["measured"]["row"], *frames["hollow"]["row"]}
        frames["document"] = frames["document"][frames["document"]["row"].isin(drawn)]
        return {name: frames[name] for name in ("measured", "hollow", "document")}

    def draw(self, axes: Axes, frames: Mapping[str, pd.DataFrame], names: Sequence[str]) -> None:
        """Draw what is given of these frames on axes with these rows."""
        colours = _values(self.frames, "colour")
        apart = _APART / max(len(colours) - 1, 1)
        for number, (label, colour) in enumerate(zip(colours, palette(colours), strict=True)):
            shift = apart * (number - (len(colours) - 1) / 2)
            dots, hollow = (frames[n][frames[n]["colour"] == label] for n in ("measured", "hollow"))
            axes.errorbar(
                dots["value"], [names.index(row) + shift for row in dots["row"]],
                xerr=[dots["value"] - dots["low"], dots["high"] - dots["value"]],
                fmt="o", ms=5, capsize=2, color=colour, label=label,
            )  # fmt: skip
            if len(hollow):
                axes.plot(
                    hollow["value"], [names.index(row) + shift for row in hollow["row"]], "o", ms=5,
                    mfc="none", color=colour, label=f"{label}, by the model, not timed",
                )  # fmt: skip
        stated = frames["document"]
        if len(stated):
            axes.plot(
                stated["value"], [names.index(row) for row in stated["row"]], "D", ms=6, mfc="none",
                color="0.5", label="document",
            )  # fmt: skip
        if self.bound:
            bound = SCALES[self.unit] * self.bound
            axes.axvline(bound, color="0.5", ls=":", label=self.bound_name)
        axes.set(xscale="log" if self.log else "linear", xlabel=self.axis_label)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        if self.log:
            plain(axes.xaxis)
        sns.despine(ax=axes, left=True)


@dataclass(frozen=True)
class Curves(_Drawn):
    """Curves with intervals against a number, such as the size of a chunk, one for each colour."""

    table: pd.DataFrame  # this and the others up to `bound_name` are as of `Dots`
    x: str  # the label whose values are the numbers, in seconds, bytes or without unit
    title: str
    axis: str
    unit: str = ""
    colour: str = ""
    value: str = "value"
    panel: str = ""
    document: "Numbers | None" = None
    bound: float = 0.0
    bound_name: str = ""
    across: str = ""  # what the number is, such as "size of a chunk"
    across_unit: str = ""  # that it is drawn in: one of `SCALES`
    log: str = "xy"  # which axes are logarithmic
    marks: Mapping[str, float] | None = None  # lines across the curves, by what they mark
    legend: bool = False  # whether few curves have their names in a legend, not at their ends
    ticks: Mapping[str, float] | None = None  # numbers that are named on the axis across

    @property
    def labels(self) -> list[str]:
        return [self.x]

    def __call__(self) -> Figure:
        frames = self.frames
        panels = _values(frames, "panel")
        if len(panels) == 1:
            figure, axes = plt.subplots(figsize=(7.2, 3.8))
            self.draw(axes, frames)
            axes.set_title(self.title, loc="left")
            handles, labels = axes.get_legend_handles_labels()
            if labels:
                axes.legend(handles, labels)
            return figure
        return _in_panels(self, 2.6, self.draw)

    @cached_property
    def frames(self) -> Mapping[str, pd.DataFrame]:
        """What is drawn, by its kind, with the columns x, colour, panel and values."""
        frames = self.numbers_drawn()
        for frame in frames.values():
            scale = SCALES[self.across_unit]
            frame["x"] = scale * pd.to_numeric(frame[self.labels[0]].astype(str))
        return frames

    def draw(self, axes: Axes, frames: Mapping[str, pd.DataFrame]) -> None:
        colours = _values(self.frames, "colour")
        direct = len(colours) <= _DIRECT and not self.panel and not self.legend
        for label, colour in zip(colours, palette(colours), strict=True):
            measured = frames["measured"][frames["measured"]["colour"] == label].sort_values("x")
            axes.errorbar(
                measured["x"], measured["value"],
                yerr=[measured["value"] - measured["low"], measured["high"] - measured["value"]],
                fmt="o-", ms=4, capsize=2, color=colour, label=None if direct else label,
            )  # fmt: skip
            if direct and len(measured) and len(colours) > 1:
                axes.annotate(
                    label, (measured["x"].iloc[-1], measured["value"].iloc[-1]), xytext=(6, 0),
                    textcoords="offset points", va="center", color=colour,
                )  # fmt: skip
            stated = frames["document"][frames["document"]["colour"] == label].sort_values("x")
            if len(stated):
                name = "document" if len(colours) == 1 else f"{label}, document"
                axes.plot(
                    stated["x"], stated["value"], "D--", ms=5, mfc="none", color=colour, label=name
                )
        if self.bound:
            axes.axhline(SCALES[self.unit] * self.bound, color="0.5", ls=":", label=self.bound_name)
        for name, at in (self.marks or {}).items():
            axes.axvline(SCALES[self.across_unit] * at, color="0.5", ls="--", lw=1, label=name)
        across = f"{self.across}, {self.across_unit}" if self.across_unit else self.across
        axes.set(xlabel=across, ylabel=self.axis_label)
        for letter, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            if letter in self.log:
                axes.set(**{f"{letter}scale": "log"})
                plain(axis)
            else:
                # From zero; the other end stays open to what panels that share it still draw.
                getattr(axes, f"set_{letter}lim")(0, None, auto=None)
        if self.ticks:
            positions = [SCALES[self.across_unit] * number for number in self.ticks.values()]
            axes.set_xticks(positions, list(self.ticks), rotation=30, ha="right", minor=False)
        sns.despine(ax=axes)


@dataclass(frozen=True)
class Beside:
    """Dots of the same rows and colours, for several quantities side by side."""

    parts: Sequence[Dots]  # each without panels
    title: str

    def __call__(self) -> Figure:
        rows = [row for dots in self.parts for row in _values(dots.frames, "row")]
        names = list(dict.fromkeys(rows))
        size = (7.4, 0.3 * len(names) + 1.6)
        figure, row = plt.subplots(1, len(self.parts), figsize=size, sharey=True, squeeze=False)
        for dots, axes in zip(self.parts, row.flat, strict=True):
            dots.draw(axes, dots.frames, names)
            axes.set_title(dots.title, loc="left")
        _finish(figure, self.title)
        return figure


def _in_panels(of: Dots | Curves, height: float, draw: Any) -> Figure:
    """Draw a figure of several panels, two a row."""
    frames, panels = of.frames, _values(of.frames, "panel")
    figure, grid = two_a_row(len(panels), height, 1.2)
    for panel, axes in zip(panels, grid.flat, strict=False):
        draw(axes, {name: frame[frame["panel"] == panel] for name, frame in frames.items()})
        axes.set_title(panel, loc="left")
    for axes in grid.flat[: len(panels) - 2]:
        axes.set_xlabel("")
    for axes in grid[:, 1]:
        axes.set_ylabel("")
    _finish(figure, of.title)
    return figure


def _finish(figure: Figure, title: str) -> None:
    """Give a figure of several axes one legend and its title."""
    by_name: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        by_name |= dict(zip(labels, handles, strict=True))
    legend = (list(by_name.values()), list(by_name)) if len(by_name) > 1 else ((), ())
    headline(figure, title, legend, columns=4)


def _values(frames: Mapping[str, pd.DataFrame], column: str) -> list[str]:
    """Return the values of a column in what is drawn, the document's last if they are rows."""
    chosen = [frame for name, frame in frames.items() if column == "row" or name != "document"]
    return list(dict.fromkeys(str(value) for frame in chosen for value in frame[column]))


def _flat(table: pd.DataFrame, value: str, scale: float) -> pd.DataFrame:
    """Return a table with the ends of its intervals as numbers, what was not measured left out."""
    measured = table[[interval.n > 0 for interval in table[value]]]
    flat = measured.index.to_frame(index=False)
    for name in ("value", "low", "high"):
        flat[name] = [scale * float(getattr(interval, name)) for interval in measured[value]]
    return flat
