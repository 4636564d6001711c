"""The figure of the page on rechunking, from its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from .rechunk_results import MIB, NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(measured: pd.DataFrame, allowed_bytes: int, nbytes: int) -> Figure:
    """Draw the time of each engine against the most memory that it took.

    Parameters
    ----------
    measured : pandas.DataFrame
        From `rechunk_results.table`.
    allowed_bytes : int
        Memory that an engine was given.
    nbytes : int
        Bytes of the values.
    """
    import matplotlib.pyplot as plt

    from ..style import plain

    drawn, axes = plt.subplots(figsize=(7.2, 3.6))
    for number, (engine, label) in enumerate(NAMES.items()):
        part = measured[measured["engine"] == engine]
        axes.errorbar(
            part["mib"],
            part["s"],
            xerr=[part["mib"] - part["mib_low"], part["mib_high"] - part["mib"]],
            yerr=[part["s"] - part["s_low"], part["s_high"] - part["s"]],
            fmt="osD^v"[number],
            color=f"C{number}",
            ms=7,
            capsize=2,
            label=label if len(part) else f"{label} (not here)",
        )
    for size, style, label in (
        (allowed_bytes, "-", "allowed memory"),
        (nbytes, ":", "size of the values"),
    ):
        axes.axvline(size / MIB, color="0.5", ls=style, lw=1.2, label=label)
    axes.set(
        xscale="log", yscale="log", xlabel="most memory taken, MiB", ylabel="time of the rewrite, s"
    )
    axes.margins(0.15)
    plain(axes.xaxis)
    plain(axes.yaxis)
    drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
