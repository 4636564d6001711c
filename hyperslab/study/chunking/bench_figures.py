"""Figures of the page on benchmarking one's own file."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...measure.stats import Interval
from ..style import plain
from .bench import RATES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = {"cold": ("o", "C0"), "warm": ("D", "C1")}


def figure_elena(rated: pd.DataFrame) -> "Figure":
    """Draw the rates of writing and reading again for the chunks of run_bm_elena.

    Parameters
    ----------
    rated : pandas.DataFrame
        From `bench.rates`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.2), sharey=True)
    names = list(dict.fromkeys(rated["case"]))
    steps = (("write", "write, with close and fsync"), ("read again", "read again, in memory"))
    for axes, (step, title) in zip(panels, steps, strict=True):
        part = rated[rated["step"] == step].set_index("case").reindex(names)
        error = [part["rate"] - part["low"], part["high"] - part["rate"]]
        axes.errorbar(part["rate"], range(len(names)), xerr=error, fmt="o", ms=4, capsize=2)
        axes.set(title=title, xlabel="MB/s (10⁶ bytes)", xlim=(0, None))
    panels[0].set(yticks=range(len(names)), yticklabels=[_times(name) for name in names])
    panels[0].set_ylabel("chunks")
    panels[0].set_ylim(len(names) - 0.5, -0.5)
    return figure


def figure_shorts(ours: pd.DataFrame, theirs: pd.DataFrame) -> "Figure":
    """Draw bm_file's three rates against the number of dimensions, the document's beside ours.

    Parameters
    ----------
    ours : pandas.DataFrame
        From `bench.shorts_table`.
    theirs : pandas.DataFrame
        From `bench.document`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(7.2, 3.0), sharey=True)
    for axes, column in zip(panels, RATES, strict=True):
        low, high = ours[f"{column} low"], ours[f"{column} high"]
        ends = [(ours[column] - low).clip(lower=0), (high - ours[column]).clip(lower=0)]
        axes.errorbar(ours.index, ours[column], yerr=ends, fmt="o-", ms=4, capsize=2, label="here")
        axes.plot(theirs.index, theirs[column], "D--", ms=4, label="document (4.6.2)")
        axes.set(title=column, xlabel="dimensions", yscale="log", xticks=list(ours.index))
    panels[0].set_ylabel("MB/s (10⁶ bytes)")
    plain(panels[0].yaxis)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def figure_reads(table: pd.DataFrame) -> "Figure":
    """Draw the time of each access pattern for each layout, and the size of its file.

    Parameters
    ----------
    table : pandas.DataFrame
        From `bench.reads`.
    """
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(table["case"]))
    patterns = list(dict.fromkeys(table["pattern"]))
    figure, panels = plt.subplots(
        1, len(patterns) + 1, figsize=(7.2, 1.3 + 0.34 * len(names)), sharey=True, squeeze=False
    )
    sizes = table.drop_duplicates("case").set_index("case")["file_bytes"].reindex(names) / 1e6
    first, *others = panels[0]
    first.barh(range(len(names)), sizes, height=0.55, color="C2")
    first.set(title="file", xlabel="MB (10⁶ bytes)", yticks=range(len(names)), yticklabels=names)
    first.set_ylim(len(names) - 0.5, -0.5)
    for axes, pattern in zip(others, patterns, strict=True):
        _pattern(axes, table[table["pattern"] == pattern], names)
        axes.set(title=pattern.replace("_", " "), xlabel="ms", xscale="log")
        plain(axes.xaxis)
    handles, labels = others[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def _pattern(axes: "Axes", part: pd.DataFrame, names: list[str]) -> None:
    states = list(dict.fromkeys(part["cache_state"]))
    for place, state in enumerate(states):
        one = part[part["cache_state"] == state].set_index("case").reindex(names)
        rows = np.arange(len(names)) + 0.18 * (place - (len(states) - 1) / 2)
        error = [one["ms"] - one["low"], one["high"] - one["ms"]]
        mark, colour = _MARKS.get(state, ("s", "C2"))
        axes.errorbar(
            one["ms"], rows, xerr=error, fmt=mark, color=colour, ms=4, capsize=2, label=state
        )


def _times(name: str) -> str:
    return name.replace("x", " × ")


def shown(value: Interval) -> str:
    """Return an interval as text.

    Examples
    --------
    >>> shown(Interval(1204.0, 1190.0, 1220.0, 7))
    '1,204 [1,190, 1,220]'
    """
    digits = 0 if value.value >= 100 else 1 if value.value >= 10 else 2
    low, high = f"{value.low:,.{digits}f}", f"{value.high:,.{digits}f}"
    return f"{value.value:,.{digits}f} [{low}, {high}]"
