"""Figure 10 of Penard et al. 2025 with our records."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..style import plain
from .local_results import PANELS
from .s3_reads import ABROAD, NEAR
from .wire_figures import labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_SHIFT = {"off": 0.17, "on": -0.17, "": 0.0}
_COLORS = {"off": "C0", "on": "C1", "": "C2"}
_DOCUMENT = "document, its fastest three"
_KINDS = {"off": "netCDF-4, shuffle off", "on": "netCDF-4, shuffle on", "": "Zarr, NCZarr"}


def figure_10(timed: pd.DataFrame, theirs: Mapping[str, Mapping[str, float]]) -> "Figure":
    """Draw the time of each read from a store that speaks S3.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    theirs : mapping
        The document's seconds by panel and way; empty where they do not stand beside ours.
    """
    here = "o", "S3 on this machine"
    shown = {"s3": here, NEAR: here, ABROAD: ("o", "a store that others run")}
    return _figure_times(timed, shown, theirs)


def _figure_times(
    timed: pd.DataFrame,
    shown: Mapping[str, tuple[str, str]],
    theirs: Mapping[str, Mapping[str, float]],
) -> "Figure":
    import matplotlib.pyplot as plt

    named = labels()
    rows = list(dict.fromkeys(named[way][0] for way in named if way in set(timed["way"])))[::-1]

    def at(ways: Iterable[str]) -> list[float]:
        return [rows.index(named[way][0]) + _SHIFT[named[way][1]] for way in ways]

    figure, panels = plt.subplots(2, 2, figsize=(7.4, 7.6), sharey=True)
    drawn: set[str] = set()  # colours, markers and kinds that a legend must tell
    for axes, (panel, title) in zip(panels.flat, PANELS.items(), strict=True):
        for shuffle, color in _COLORS.items():
            for link, (marker, words) in shown.items():
                mine = _rows(timed[timed["link"] == link], panel, shuffle)
                if len(mine):
                    drawn |= {shuffle, words}
                    axes.errorbar(
                        mine["seconds"],
                        at(mine["way"]),
                        xerr=[mine["seconds"] - mine["low"], mine["high"] - mine["seconds"]],
                        fmt=marker,
                        ms=4.5,
                        capsize=2,
                        color=color,
                    )
        known = {way: s for way, s in theirs.get(panel, {}).items() if named[way][0] in rows}
        if known:
            drawn.add(_DOCUMENT)
            axes.plot(list(known.values()), at(known), "D", ms=7, mfc="none", color="C6")
        axes.set(xscale="log", title=title)
        axes.set_yticks(range(len(rows)), rows)
        plain(axes.xaxis)
    for axes in panels[1]:
        axes.set_xlabel("time of the read, s")
    handles = list(_handles(shown, drawn))
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _handles(shown: Mapping[str, tuple[str, str]], drawn: set[str]) -> Iterator["Line2D"]:
    """Yield what a legend tells: colours, then markers, then what is no time of ours."""
    from matplotlib import rcParams
    from matplotlib.lines import Line2D

    ink = rcParams["text.color"]
    for shuffle, color in _COLORS.items():
        if shuffle in drawn:
            yield Line2D([], [], ls="", marker="o", ms=6, color=color, label=_KINDS[shuffle])
    for words, marker in {words: marker for marker, words in shown.values()}.items():
        if words in drawn:
            yield Line2D([], [], ls="", marker=marker, ms=4.5, color=ink, label=words)
    if _DOCUMENT in drawn:
        yield Line2D([], [], ls="", marker="D", ms=7, mfc="none", color="C6", label=_DOCUMENT)


def _rows(table: pd.DataFrame, panel: str, shuffle: str) -> pd.DataFrame:
    named = labels()
    alike = np.array([named[way][1] == shuffle for way in table["way"]], bool)
    return table[alike & (table["panel"] == panel).to_numpy()]
