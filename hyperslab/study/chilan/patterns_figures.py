"""Figures of the four patterns, from records only."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..style import plain
from .document import WRITES
from .results import MODES, NAMES, TITLES, most_ranks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLORS = {"hdf5": "C0", "pnetcdf": "C1", "mpiio": "C2"}
_MARKERS = {"rowwise": "s", "independent": "o", "collective": "D"}


def _label(library: str, mode: str) -> str:
    return f"{NAMES[library]}, {MODES[mode]}"


def figure_requests(requests: pd.DataFrame) -> "Figure":
    """Draw the write requests of each pattern, and of interleaved columns over the ranks.

    Parameters
    ----------
    requests : pandas.DataFrame
        The experiment "requests".
    """
    import matplotlib.pyplot as plt

    ranks = most_ranks(requests)
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 4.2), width_ratios=(1.35, 1))
    mine = requests[requests["ranks"] == ranks]
    patterns = [name for name in TITLES if name in set(mine["pattern"])][::-1]
    ways = list(mine[["library", "mode"]].drop_duplicates().itertuples(index=False, name=None))
    for number, (library, mode) in enumerate(ways):
        part = mine[(mine["library"] == library) & (mine["mode"] == mode)]
        shift = 0.36 - 0.72 * number / max(1, len(ways) - 1)
        left.plot(
            part["requests"],
            [patterns.index(name) + shift for name in part["pattern"]],
            _MARKERS[mode],
            color=_COLORS[library],
            fillstyle="full" if mode == "collective" else "none",
            ms=5.5,
            label=_label(library, mode),
        )
        over = requests[
            (requests["pattern"] == "interleaved")
            & (requests["library"] == library)
            & (requests["mode"] == mode)
        ].sort_values("ranks")
        if len(over) > 1:
            right.plot(
                over["ranks"],
                over["requests"],
                _MARKERS[mode] + "-",
                color=_COLORS[library],
                fillstyle="full" if mode == "collective" else "none",
                ms=5,
            )
    left.set_xscale("log")
    left.set_yticks(range(len(patterns)), [TITLES[name] for name in patterns])
    left.set_ylim(-0.6, len(patterns) - 0.4)
    left.set_xlabel("write requests")
    left.set_title(f"{ranks} ranks")
    left.grid(axis="y", visible=False)
    right.set_xscale("log", base=2)
    right.set_yscale("log")
    right.set_xlabel("ranks")
    right.set_ylabel("write requests")
    right.set_title("interleaved columns")
    plain(right.xaxis)
    right.set_xticks(sorted(requests["ranks"].unique()))
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    return figure


def figure_latency(times: pd.DataFrame) -> "Figure":
    """Draw the seconds of each write over its requests, and what the requests alone would take.

    Parameters
    ----------
    times : pandas.DataFrame
        From `results.timed`.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 4.4))
    for (library, mode), part in times.groupby(["library", "mode"], sort=False):
        axes.errorbar(
            part["stages"],
            part["seconds"],
            yerr=[part["seconds"] - part["low"], part["high"] - part["seconds"]],
            fmt=_MARKERS[str(mode)],
            color=_COLORS[str(library)],
            fillstyle="full" if mode == "collective" else "none",
            ms=5.5,
            capsize=2,
            label=_label(str(library), str(mode)),
        )
    reach = np.array([1.0, float(WRITES["interleaved"].rows)])
    for latency_s in sorted(x for x in times["latency_s"].unique() if x > 0):
        axes.plot(reach, latency_s * reach, lw=1, ls="--", color="gray")
        axes.annotate(
            f"requests × {1e3 * latency_s:g} ms",
            (reach[1] / 40, latency_s * reach[1] / 40),
            rotation=0,
            ha="right",
            va="bottom",
            fontsize=8,
        )
    theirs = WRITES["interleaved"]
    axes.plot(theirs.rows, theirs.independent_s, "*", ms=11, color="C3")
    axes.annotate(
        "the document, independent:\n512K rows in 1659 s",
        (theirs.rows, theirs.independent_s),
        textcoords="offset points",
        xytext=(-14, 0),
        ha="right",
        va="center",
        fontsize=8,
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("requests of the rank that makes the most")
    axes.set_ylabel("seconds of writing")
    axes.legend(fontsize=8, loc="lower right")
    return figure
