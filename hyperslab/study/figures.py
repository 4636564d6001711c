"""The figures of the pages: a table from `compare`, drawn on seaborn's and matplotlib's axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from .style import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SCALES = {"ms": 1e3, "s": 1.0, "MB": 1e-6, "kB": 1e-3, "MB/s": 1e-6, "": 1.0}
_APART = 0.34  # of a row: between dots of several colours


@dataclass(frozen=True)
class Dots:
    """Dots with their intervals, a row for each label, on a logarithmic axis.

    Parameters
    ----------
    table : pandas.DataFrame
        From `compare`.
    rows : str or sequence of str
        The label that makes the rows, or several.
    title : str
        What the figure says.
    axis : str
        What is measured, such as "time to read one column".
    unit : str
        Of the axis: "ms", "s", "MB", "kB", "MB/s" or "" for a number.
    colour : str
        The label that makes the colours; of one colour if there is none.
    value : str
        The column of the table that is drawn.
    panel : str
        The label that makes the panels; one panel if there is none.
    hollow : pandas.Series
        Values that were not measured, by all the labels, and `hollow_name` what they are.
    document : mapping of str to float, or pandas.Series
        The document's numbers by the label of the rows, or by several, in seconds or bytes.
    bound : float
        What nothing can beat, in seconds or bytes, and `bound_name` what that is.

    Examples
    --------
    >>> from hyperslab.text import Interval
    >>> index = pd.Index(["a"], name="x")
    >>> table = pd.DataFrame({"value": [Interval(0.2, 0.1, 0.3, 7)]}, index=index)
    >>> Dots(table, "x", "One dot", "time", "ms")().axes[0].get_title(loc="left")
    'One dot'
    """

    table: pd.DataFrame
    rows: str | Sequence[str]
    title: str
    axis: str
    unit: str = ""
    colour: str = ""
    value: str = "value"
    panel: str = ""
    hollow: "pd.Series[float] | None" = None
    hollow_name: str = "by the model, not timed"
    document: "Mapping[str, float] | pd.Series[float] | None" = None
    bound: float = 0.0
    bound_name: str = ""

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

        parts = self._parts()
        known = [parts[name] for name in ("measured", "hollow")]
        panels = list(dict.fromkeys(panel for part in known for panel in part["panel"]))
        names = list(dict.fromkeys(row for part in parts.values() for row in part["row"]))
        colours = list(dict.fromkeys(colour for part in known for colour in part["colour"]))
        if len(panels) == 1:
            figure, axes = plt.subplots(figsize=(7.2, 0.45 * len(names) + 1.3))
            self._draw(axes, parts, names, colours)
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
            axes.set_title(self.title, loc="left", pad=26)
            return figure
        down = -(-len(panels) // 2)
        size = (7.4, down * (0.22 * len(names) + 0.6) + 1.2)
        figure, grid = plt.subplots(down, 2, figsize=size, sharey=True, squeeze=False)
        for panel, axes in zip(panels, grid.flat, strict=False):
            mine = {name: part[part["panel"] == panel] for name, part in parts.items()}
            self._draw(axes, mine, names, colours)
            axes.set_title(panel, loc="left")
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes in grid.flat[: len(panels) - 2]:
            axes.set_xlabel("")
        told: dict[str, Any] = {}
        for axes in grid.flat:
            handles, labels = axes.get_legend_handles_labels()
            told |= dict(zip(labels, handles, strict=True))
        figure.legend(told.values(), told, loc="outside lower center", ncols=4)
        figure.suptitle(self.title, x=0.01, ha="left", size=10.5)
        return figure

    def _parts(self) -> dict[str, pd.DataFrame]:
        """Return what is drawn, by its kind, with the columns row, colour, panel and values."""
        scale = _SCALES[self.unit]
        parts = {"measured": _flat(self.table, self.value, scale)}
        for name, values in (("hollow", self.hollow), ("document", self.document)):
            one = pd.Series(dtype="f8") if values is None else pd.Series(values, dtype="f8")
            labels = [str(label) for label in one.index.names if label] or [self._rows[0]]
            parts[name] = (one * scale).rename("value").rename_axis(labels).reset_index()
        for part in parts.values():
            labels = [label for label in self._rows if label in part]
            part["row"] = part[labels].astype(str).agg(": ".join, axis=1) if len(part) else ""
            part["colour"] = part[self.colour].astype(str) if self.colour in part else "here"
            part["panel"] = part[self.panel].astype(str) if self.panel in part else ""
        known = set(parts["measured"]["row"]) | set(parts["hollow"]["row"])
        parts["document"] = parts["document"][parts["document"]["row"].isin(known)]
        return parts

    @property
    def _rows(self) -> list[str]:
        return [self.rows] if isinstance(self.rows, str) else list(self.rows)

    def _draw(
        self, axes: "Axes", parts: Mapping[str, pd.DataFrame], names: list[str], colours: list[str]
    ) -> None:
        import seaborn as sns

        palette = sns.color_palette(n_colors=len(colours))
        apart = _APART / max(len(colours) - 1, 1)
        for number, colour in enumerate(colours):
            shift = apart * (number - (len(colours) - 1) / 2)
            part, model = (parts[n][parts[n]["colour"] == colour] for n in ("measured", "hollow"))
            axes.errorbar(
                part["value"], [names.index(row) + shift for row in part["row"]],
                xerr=[part["value"] - part["low"], part["high"] - part["value"]],
                fmt="o", ms=5, capsize=2, color=palette[number], label=colour,
            )  # fmt: skip
            if len(model):
                axes.plot(
                    model["value"], [names.index(row) + shift for row in model["row"]], "o", ms=5,
                    mfc="none", color=palette[number], label=f"{colour}, {self.hollow_name}",
                )  # fmt: skip
        known = parts["document"]
        if len(known):
            axes.plot(
                known["value"], [names.index(row) for row in known["row"]], "D", ms=6, mfc="none",
                color="0.5", label="document",
            )  # fmt: skip
        if self.bound:
            bound = _SCALES[self.unit] * self.bound
            axes.axvline(bound, color="0.5", ls=":", label=self.bound_name)
        axes.set(xscale="log", xlabel=f"{self.axis}, {self.unit}" if self.unit else self.axis)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        plain(axes.xaxis)
        sns.despine(ax=axes, left=True)


def _flat(table: pd.DataFrame, value: str, scale: float) -> pd.DataFrame:
    """Return a table with the ends of its intervals as numbers, what was not measured left out."""
    known = table[[found.n > 0 for found in table[value]]]
    flat = known.index.to_frame(index=False)
    for name in ("value", "low", "high"):
        flat[name] = [scale * float(getattr(found, name)) for found in known[value]]
    return flat
