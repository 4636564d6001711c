"""The figures of the pages: a table from `compare`, drawn on seaborn's and matplotlib's axes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    rows : str
        The label that makes the rows.
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
    document : mapping of str to float
        The document's numbers by the labels of the rows, in seconds or bytes.
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
    rows: str
    title: str
    axis: str
    unit: str = ""
    colour: str = ""
    value: str = "value"
    document: Mapping[str, float] | None = None
    bound: float = 0.0
    bound_name: str = ""

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

        names = list(dict.fromkeys(self.table.index.get_level_values(self.rows)))
        figure, axes = plt.subplots(figsize=(7.2, 0.45 * len(names) + 1.3))
        self.draw(axes)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
        axes.set_title(self.title, loc="left", pad=26)
        return figure

    def draw(self, axes: "Axes") -> None:
        """Draw it into axes."""
        import seaborn as sns

        scale = _SCALES[self.unit]
        flat = _flat(self.table, self.value, scale)
        names = list(dict.fromkeys(flat[self.rows]))
        groups = list(flat.groupby(self.colour, sort=False)) if self.colour else [("here", flat)]
        colours = sns.color_palette(n_colors=len(groups))
        for number, (name, part) in enumerate(groups):
            place = [names.index(row) for row in part[self.rows]]
            shift = _APART * (number - (len(groups) - 1) / 2) / max(len(groups) - 1, 1)
            error = [part["value"] - part["low"], part["high"] - part["value"]]
            axes.errorbar(
                part["value"], [y + shift for y in place], xerr=error, fmt="o", ms=5, capsize=2,
                color=colours[number], label=str(name),
            )  # fmt: skip
        if self.document:
            known = [name for name in names if name in self.document]
            axes.plot(
                [scale * self.document[name] for name in known],
                [names.index(name) for name in known],
                "D", ms=6, mfc="none", color="0.5", label="document",
            )  # fmt: skip
        if self.bound:
            axes.axvline(scale * self.bound, color="0.5", ls=":", label=self.bound_name)
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
