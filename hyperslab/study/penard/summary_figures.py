"""What each remedy takes from each place, and which of them to choose."""

import textwrap
from typing import TYPE_CHECKING

import pandas as pd

from ..style import plain
from .local_results import PANELS
from .summary_choice import REMEDIES, compared, labels
from .summary_seconds import PLACES, TABLE_3

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = dict(zip(PLACES, "os^vD", strict=True))
_STEP = 0.15
_MOST = 30.0
"""How many times as long as the quickest is drawn darkest."""


def figure_choice(seconds: pd.DataFrame) -> "Figure":
    """Draw how many times as long as the quickest each remedy takes, and which is good enough.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary_seconds.seconds`.
    """
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

    found = compared(seconds)
    places, ways = labels(found), list(REMEDIES)
    shades, norm = plt.get_cmap("cividis_r"), LogNorm(1, _MOST, clip=True)
    figure, panels = plt.subplots(2, 2, figsize=(7.4, 6.6), sharex=True, sharey=True)
    for axes, (panel, title) in zip(panels.flat, PANELS.items(), strict=True):
        for row in found[found["panel"] == panel].to_dict("records"):
            at = list(places).index(row["place"]) - 0.5, ways.index(row["way"]) - 0.5
            depth = float(norm(row["times"]))
            axes.add_patch(Rectangle(at, 1, 1, color=shades(depth), lw=0))
            axes.text(
                at[0] + 0.5,
                at[1] + 0.5,
                f"{_times(row['times'])}{'' if row['n'] else '*'}",
                ha="center",
                va="center",
                size=7.5,
                weight="bold" if row["best"] else "normal",
                color="white" if depth > 0.6 else "black",
            )
            if row["chosen"]:
                axes.add_patch(
                    Rectangle((at[0] + 0.04, at[1] + 0.04), 0.92, 0.92, fill=False, ec="#D55E00",
                              lw=2.2, zorder=3)
                )  # fmt: skip
        _kinds(axes)
        axes.grid(visible=False)
        axes.set(title=title, xlim=(-0.5, len(places) - 0.5), ylim=(len(ways) - 0.5, -0.5))
        axes.set_xticks(range(len(places)), [_narrow(words) for words in places.values()], size=6.3)
        axes.set_yticks(range(len(ways)), [REMEDIES[way].label for way in ways], size=8)
        axes.tick_params(length=0)
    return figure


def _kinds(axes: "Axes") -> None:
    """Draw lines between remedies of different work."""
    kinds = [remedy.work for remedy in REMEDIES.values()]
    for row in range(1, len(kinds)):
        if kinds[row] != kinds[row - 1]:
            axes.axhline(row - 0.5, color="0.5", lw=1.2)


def _narrow(words: str) -> str:
    return textwrap.fill(words.replace(" and ", " "), 9)


def _times(times: float) -> str:
    return f"{times:.1f}" if times < 9.95 else f"{times:,.0f}"


def figure_times(seconds: pd.DataFrame) -> "Figure":
    """Draw the seconds of each remedy from each place, and the document's.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary_seconds.seconds`.
    """
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    mine = seconds[seconds["way"].isin(list(REMEDIES))]
    places, ways = labels(mine), list(REMEDIES)[::-1]
    kinds: set[str] = set()
    figure, panels = plt.subplots(2, 2, figsize=(7.4, 8.4), sharey=True)
    for axes, (panel, title) in zip(panels.flat, PANELS.items(), strict=True):
        for number, where in enumerate(places):
            part = mine[(mine["panel"] == panel) & (mine["place"] == where)]
            shift = _STEP * ((len(places) - 1) / 2 - number)
            rows = {way: row + shift for row, way in enumerate(ways)}
            kinds |= _points(axes, part, rows, f"C{number}", where)
            theirs = _document(part, where, panel)
            if theirs:
                at = [rows[way] for way in theirs]
                axes.plot(list(theirs.values()), at, "x", ms=6, mew=1.6, color=f"C{number}")
                kinds.add("document")
        for row in range(1, len(ways)):
            if REMEDIES[ways[row]].work != REMEDIES[ways[row - 1]].work:
                axes.axhline(row - 0.5, color="0.5", lw=0.8)
        axes.set(xscale="log", title=title, ylim=(-0.6, len(ways) - 0.4))
        axes.grid(axis="y", visible=False)
        axes.set_yticks(range(len(ways)), [REMEDIES[way].label for way in ways])
        plain(axes.xaxis)
    for axes in panels[1]:
        axes.set_xlabel("time of the read, s")
    handles = [
        Line2D([], [], ls="", marker=_MARKS[where], color=f"C{number}", label=words)
        for number, (where, words) in enumerate(places.items())
    ]
    if "model" in kinds:
        handles.append(
            Line2D([], [], ls="", marker="o", mfc="none", color="0.5", label="by the model")
        )
    if "document" in kinds:
        handles.append(Line2D([], [], ls="", marker="x", color="0.5", label="the document's"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _points(
    axes: "Axes", part: pd.DataFrame, rows: dict[str, float], color: str, where: str
) -> set[str]:
    """Draw the times from a place, hollow by the model; return whether there are such."""
    timed, expected = part[part["n"] > 0], part[part["n"] == 0]
    axes.errorbar(
        timed["seconds"],
        [rows[way] for way in timed["way"]],
        xerr=[timed["seconds"] - timed["low"], timed["high"] - timed["seconds"]],
        fmt=_MARKS[where],
        ms=4.5,
        capsize=2,
        color=color,
    )
    if expected.empty:
        return set()
    at = [rows[way] for way in expected["way"]]
    axes.plot(expected["seconds"], at, _MARKS[where], ms=4.5, mfc="none", color=color)
    return {"model"}


def _document(part: pd.DataFrame, where: str, panel: str) -> dict[str, float]:
    """Return the document's seconds of remedies, where they stand beside ours."""
    if where not in TABLE_3 or not part["whole"].any():
        return {}
    return {way: s for way, s in TABLE_3[where][panel].items() if way in REMEDIES}
