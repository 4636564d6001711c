"""Figures 1 and 2 of Chilan et al. 2006 with our records, and the requests behind them."""

from typing import TYPE_CHECKING

import pandas as pd

from ..style import plain
from .flash import CHECKPOINT
from .results import MODES, NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = {"hdf5": "C0", "pnetcdf": "C1", "mpiio": "C2"}
_MARKERS = {"independent": "o", "collective": "D"}


def figure_ranks(requests: pd.DataFrame, times: pd.DataFrame) -> "Figure":
    """Draw the requests of the checkpoint and the rates of writing it over the ranks.

    Parameters
    ----------
    requests : pandas.DataFrame
        The experiment "requests".
    times : pandas.DataFrame
        From `results.timed`.
    """
    import matplotlib.pyplot as plt

    sides = [side for side in ("8", "16") if side in set(times["size"])]
    figure, panels = plt.subplots(
        1, 1 + len(sides), figsize=(7.4, 3.8), squeeze=False, layout="constrained"
    )
    first, *others = panels[0]
    counted = requests[(requests["hints"] == "") & (requests["size"] == "16")]
    for library, mode in _ways(counted):
        mine = _of(counted, library, mode)
        _line(first, mine["ranks"], mine["requests"], library, mode)
    first.set_title("requests, 16³")
    first.set_ylabel("write requests")
    for axes, side in zip(others, sides, strict=True):
        part = times[(times["size"] == side) & (times["pattern"] == CHECKPOINT)]
        for library, mode in _ways(part):
            mine = _of(part, library, mode)
            middle = mine["rate"] / 1e6
            _line(axes, mine["ranks"], middle, library, mode)
            ends = [middle - mine["rate_low"] / 1e6, mine["rate_high"] / 1e6 - middle]
            axes.errorbar(
                mine["ranks"], middle, yerr=ends, fmt="none", capsize=2, color=_COLORS[library]
            )
        axes.set_title(f"rate, {side}³")
        axes.set_ylabel("MB/s")
        axes.set_ylim(bottom=0)
    for axes in panels[0]:
        axes.set_xscale("log", base=2)
        plain(axes.xaxis)
        axes.set_xticks(sorted(requests["ranks"].unique()))
        axes.set_xlabel("ranks")
    handles, labels = first.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    return figure


def _ways(frame: pd.DataFrame) -> list[tuple[str, str]]:
    found = frame[["library", "mode"]].drop_duplicates()
    return [(str(row["library"]), str(row["mode"])) for _, row in found.iterrows()]


def _of(frame: pd.DataFrame, library: str, mode: str) -> pd.DataFrame:
    return frame[(frame["library"] == library) & (frame["mode"] == mode)].sort_values("ranks")


def _line(
    axes: "Axes", x: "pd.Series[float]", y: "pd.Series[float]", library: str, mode: str
) -> None:
    axes.plot(
        x,
        y,
        _MARKERS[mode] + ("-" if mode == "collective" else ":"),
        color=_COLORS[library],
        fillstyle="full" if mode == "collective" else "none",
        ms=5,
        label=f"{NAMES[library]}, {MODES[mode]}",
    )
