"""The figure of the page on threads and processes, from its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from .local import PROCESSES, THREADS
from .local_results import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(table: pd.DataFrame) -> Figure:
    """Draw how much faster several workers read, threads left and processes right.

    Parameters
    ----------
    table : pandas.DataFrame
        From `local_results.speedups`.
    """
    import matplotlib.pyplot as plt

    several = sorted(set(table["workers"]) - {1})
    height = 1.3 + 0.28 * len(NAMES) * max(len(several), 2) / 1.5
    drawn, panels = plt.subplots(1, 2, figsize=(7.2, height), sharex=True, sharey=True)
    for axes, mode in zip(panels, (THREADS, PROCESSES), strict=True):
        for number, workers in enumerate(several):
            part = table[(table["mode"] == mode) & (table["workers"] == workers)]
            shift = 0.6 * ((number + 0.5) / len(several) - 0.5)
            axes.errorbar(
                part["gain"],
                [_place(way) - shift for way in part["way"]],
                xerr=[part["gain"] - part["low"], part["high"] - part["gain"]],
                fmt="osD^v"[number % 5],
                ms=5,
                capsize=2,
                color=f"C{number}",
                label=f"{workers} workers",
            )
            axes.axvline(workers, color=f"C{number}", ls=":", lw=1)
        axes.axvline(1, color="0.5", lw=1)
        axes.set(title=mode.capitalize(), xlabel="times faster than one")
        axes.set_yticks(range(len(NAMES)), list(NAMES.values())[::-1])
        axes.set_xlim(left=0)
    drawn.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(several)
    )
    return drawn


def _place(way: str) -> int:
    return len(NAMES) - 1 - list(NAMES).index(way)
