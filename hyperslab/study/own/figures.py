"""Gains predicted against gains measured, of every candidate of every pair."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..style import plain

_CANDIDATE, _FIRST = "#8c8c8c", "#0072B2"


def gains(frame: pd.DataFrame) -> Any:
    """Draw each candidate by the gain predicted and the gain measured; first advice stands out.

    Parameters
    ----------
    frame : pandas.DataFrame
        Records of the evaluation.
    """
    import matplotlib.pyplot as plt

    drawn, axes = plt.subplots(figsize=(6.2, 4.4), layout="constrained")
    tried = frame[frame["mode"] == "candidate"]
    axes.scatter(
        tried["gain_predicted"], tried["gain"], s=9, color=_CANDIDATE, alpha=0.5, label="candidate"
    )
    first = frame[(frame["mode"] == "advised") & frame["rank"].notna()]
    axes.errorbar(
        first["gain_predicted"], first["gain"],
        yerr=[first["gain"] - first["gain_low"], first["gain_high"] - first["gain"]],
        fmt="*", ms=11, color=_FIRST, lw=1, capsize=2, label="first advice, its interval or range",
    )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="gain predicted, ×", ylabel="gain measured, ×")
    low = min(axes.get_xlim()[0], axes.get_ylim()[0])
    high = max(axes.get_xlim()[1], axes.get_ylim()[1])
    axes.plot([low, high], [low, high], color="#D55E00", lw=1, label="equal")
    axes.set(xlim=(low, high), ylim=(low, high))
    for axis in (axes.xaxis, axes.yaxis):
        plain(axis)
    axes.legend()
    return drawn
