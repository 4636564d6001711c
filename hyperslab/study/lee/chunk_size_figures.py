"""Figures 10, 11 and 12 of Lee et al. 2008, with this machine's records in them."""

from typing import TYPE_CHECKING

import pandas as pd

from ...storage.geometry import chunk_grid
from ..style import plain
from .chunk_size import DOCUMENT_RATES, SIDE, TABLE_6

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figure_10(rated: pd.DataFrame, length: int) -> "Figure":
    """Draw the write rate against the chunk length.

    Parameters
    ----------
    rated : pandas.DataFrame
        From `rates`.
    length : int
        Elements along each axis of the array.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    _shade(axes, length)
    error = [rated["rate"] - rated["low"], rated["high"] - rated["rate"]]
    axes.errorbar(
        rated["side"], rated["rate"], yerr=error, fmt="o-", ms=4, capsize=2, label="here: median"
    )
    axes.plot(rated["side"], rated["mean8"], "_", ms=9, label="here: the document's mean")
    if length == SIDE:
        axes.plot(*zip(*DOCUMENT_RATES.items(), strict=True), "D", ms=5, label="document (2008)")
    axes.set(xscale="log", yscale="log", ylabel="write rate, MB/s (10⁶ bytes)")
    _side_axis(axes)
    axes.legend(loc="lower right")
    return figure


def figure_11(rated: pd.DataFrame, sized: pd.DataFrame, length: int) -> "Figure":
    """Draw the file size against the chunk length, measured and predicted.

    Parameters
    ----------
    rated : pandas.DataFrame
        From `rates`.
    sized : pandas.DataFrame
        Records of the experiment "geometry".
    length : int
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    _shade(axes, length)
    side = sized["case"].str.split("x").str[0].astype(int)
    axes.plot(side, sized["predicted_bytes"] / 1e6, "-", label="predicted from the geometry")
    axes.plot(rated["side"], rated["file_mb"], "o", ms=4, label="here: size of the file")
    if length == SIDE:
        document = {side: size for side, (_, size) in TABLE_6.items()}
        axes.plot(
            *zip(*document.items(), strict=True), "D", ms=9, mfc="none", label="document (Table 6)"
        )
    axes.axhline(length * length * 4 / 1e6, lw=0.8, ls=":", color="C3", label="the data alone")
    axes.set(xscale="log", ylabel="file size, MB (10⁶ bytes)")
    axes.set_ylim(bottom=0)
    _side_axis(axes)
    axes.legend(loc="upper left")
    return figure


def figure_12(length: int) -> "Figure":
    """Draw how chunks of floor and ceil of a quarter cover the array."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    parts = 4 if length == SIDE else 5
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.4))
    for axes, side in zip(panels, (length // parts, -(-length // parts)), strict=True):
        n = chunk_grid((length,), (side,))[0]
        for row in range(n):
            for column in range(n):
                spot = (column * side, row * side)
                axes.add_patch(Rectangle(spot, side, side, fill=False, ec="C0", lw=1))
        axes.add_patch(Rectangle((0, 0), length, length, fc="C1", alpha=0.35, lw=0))
        axes.set(
            xlim=(-0.03 * length, 1.28 * length),
            ylim=(1.28 * length, -0.03 * length),
            aspect="equal",
            title=f"{side} × {side}: {n * n} chunks",
            xlabel="column",
        )
        axes.grid(False)
    panels[0].set_ylabel("row")
    return figure


def figure_ceil(divided: pd.DataFrame) -> "Figure":
    """Draw how much larger than the data a file is, for chunks of ceil(d/N) and floor(d/N).

    Parameters
    ----------
    divided : pandas.DataFrame
        Records of the experiment "ceil".
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    for kind, mark in (("floor", "v"), ("ceil", "o")):
        part = divided[divided["case"].str.startswith(kind)]
        extra = 100 * (part["file_bytes"] / part["useful_bytes"] - 1)
        axes.plot(part["stages"], extra, mark, ms=3.5, label=f"chunks of {kind}(d/N)")
        predicted = 100 * (part["predicted_bytes"] / part["useful_bytes"] - 1)
        axes.plot(part["stages"], predicted, "-", lw=0.7, color="C2")
    axes.plot([], [], "-", lw=0.7, color="C2", label="predicted from the geometry")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="N, the parts that an axis is divided into",
        ylabel="file larger than the data by, %",
    )
    plain(axes.xaxis)
    plain(axes.yaxis)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    return figure


def _shade(axes: "Axes", length: int) -> None:
    """Mark the document's regions A (small chunks) and B (a quarter of the axis)."""
    if length != SIDE:
        return
    for name, low, high in (("A", 7, 145), ("B", 760, 825), ("C", 2900, 3440)):
        axes.axvspan(low, high, alpha=0.12, lw=0, color="C5")
        middle = (low * high) ** 0.5
        axes.text(middle, 1.01, name, transform=axes.get_xaxis_transform(), ha="center")


def _side_axis(axes: "Axes") -> None:
    axes.set_xlabel("chunk length along each axis, elements")
    plain(axes.xaxis)
    if axes.get_yscale() == "log":
        plain(axes.yaxis)
