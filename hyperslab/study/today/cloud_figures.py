"""The figures of the page on the cloud, from its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ..style import plain
from .cloud_results import NAMES, TITLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

READS = ("series", "map", "open")
_MARKS = "osD"


def figure_counts(found: pd.DataFrame) -> Figure:
    """Draw the requests and the bytes of every layout.

    Parameters
    ----------
    found : pandas.DataFrame
        From `cloud_results.table`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(7.4, 4.8), sharey=True)
    for number, read in enumerate(READS):
        part = found[found["read"] == read]
        at = [_places()[way] + 0.2 - 0.2 * number for way in part["way"]]
        style = {"ls": "", "marker": _MARKS[number], "ms": 5, "color": f"C{number}"}
        panels[0].plot(part["requests"], at, label=TITLES[read], **style)
        panels[1].plot(part["wire_bytes"] / 1e6, at, **style)
    _finish(panels[0], "requests")
    _finish(panels[1], "megabytes sent")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def figure_times(found: pd.DataFrame) -> Figure:
    """Draw the time of every layout over the link, and what its counts predict.

    Parameters
    ----------
    found : pandas.DataFrame
        From `cloud_results.table`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(7.4, 4.6), sharey=True)
    for number, (axes, read) in enumerate(zip(panels, READS, strict=True)):
        part = found[found["read"] == read]
        at = [_places()[way] for way in part["way"]]
        axes.plot(
            part["predicted"], at, "D", ms=8, mfc="none", color="0.5",
            label="what the counts predict",
        )  # fmt: skip
        axes.errorbar(
            part["seconds"],
            at,
            xerr=[part["seconds"] - part["low"], part["high"] - part["seconds"]],
            fmt=_MARKS[number],
            ms=4.5,
            capsize=2,
            color=f"C{number}",
            label="measured",
        )
        axes.set_title(TITLES[read])
        _finish(axes, "seconds")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _places() -> dict[str, int]:
    return {way: len(NAMES) - 1 - number for number, way in enumerate(NAMES)}


def _finish(axes: Axes, label: str) -> None:
    axes.set(xscale="log", xlabel=label, ylim=(-0.6, len(NAMES) - 0.4))
    axes.set_yticks(list(_places().values()), list(NAMES.values()))
    plain(axes.xaxis)
