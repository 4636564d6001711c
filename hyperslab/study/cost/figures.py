"""Predicted against measured, and errors by library and regime, drawn from records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..style import plain
from .results import MODES, WANTED, errors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"probed": "with a few chunks decoded first", "blind": "from sizes alone"}
_REGIMES = ("warm, not decoded", "warm, decoded", "cold, not decoded", "cold, decoded")
_MARKS = ("o", "s", "^", "D")


def scatter(found: pd.DataFrame) -> Figure:
    """Draw predicted over measured times, one panel for each way to predict.

    Parameters
    ----------
    found : pandas.DataFrame
        From `results.table`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(7.4, 4.6), sharex=True, sharey=True)
    ends = np.array([found["seconds"].min() * 0.6, found["seconds"].max() * 1.6]) * 1e3
    for axes, mode in zip(panels, MODES, strict=True):
        part = found[found["mode"] == mode]
        axes.fill_between(
            ends, ends * (1 - WANTED["p90"]), ends * (1 + WANTED["p90"]), alpha=0.15, lw=0,
            color="C6", label=f"off by {WANTED['p90']:.0%} at most",
        )  # fmt: skip
        axes.plot(ends, ends, lw=0.8, color="C6")
        for number, (regime, mark) in enumerate(zip(_REGIMES, _MARKS, strict=True)):
            rows = part[part["regime"] == regime]
            axes.plot(
                rows["seconds"] * 1e3, rows["predicted"] * 1e3, mark, ms=3.6, alpha=0.75,
                color=f"C{number}", label=regime,
            )  # fmt: skip
        axes.set(xscale="log", yscale="log", title=NAMES[mode], xlabel="measured, ms")
        plain(axes.xaxis)
        plain(axes.yaxis)
    panels[0].set_ylabel("predicted, ms")
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=3)
    return figure


def by_library(found: pd.DataFrame) -> Figure:
    """Draw the median and the 90 % quantile of the errors of each library and regime.

    Parameters
    ----------
    found : pandas.DataFrame
        From `results.table`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(7.4, 4.4))
    for axes, column, title in zip(
        panels, ("library", "regime"), ("by library", "by regime"), strict=True
    ):
        names = sorted(set(found[column]))[::-1]
        for shift, mode in zip((0.14, -0.14), MODES, strict=True):
            rows = errors(found[found["mode"] == mode], [column]).set_index(column)
            known = [name for name in names if name in rows.index]
            at = [names.index(name) + shift for name in known]
            low, high = 100 * rows.loc[known, "median"], 100 * rows.loc[known, "p90"]
            color = f"C{MODES.index(mode)}"
            axes.hlines(at, low, high, lw=1.2, color=color)
            axes.plot(low, at, "o", ms=5, color=color, label=f"median, {NAMES[mode]}")
            axes.plot(high, at, "|", ms=9, color=color, label=f"nine of ten, {NAMES[mode]}")
        for key in ("median", "p90"):
            axes.axvline(100 * WANTED[key], lw=0.8, ls=":", color="C6")
        axes.set(title=title, xlabel="off by, %", xlim=(0, None))
        axes.set_yticks(range(len(names)), names)
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=1)
    return figure
