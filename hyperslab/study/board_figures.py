"""The picture of the verdict board."""

from math import ceil
from typing import TYPE_CHECKING

from ..claims.bands import VERDICTS
from .board import IN_PART_SYMBOL, SYMBOLS, Board, tiles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours: apart for colour-blind readers, and bright enough on dark pages. Each
# verdict also has its own symbol. Nothing measured is an outline.
COLOURS = {
    "holds": "#009E73",
    "stronger": "#0072B2",
    "weaker": "#56B4E9",
    "reversed": "#D55E00",
    "refuted": "#CC79A7",
    "obsolete": "#E69F00",
    "inconclusive": "#8C8C8C",
    "not measured": "none",
}
_DARK_INK = ("weaker", "refuted", "obsolete", "inconclusive")
COLUMNS = 4
_LEGEND_ROWS = 3
_WIDTH_IN, _ROW_IN = 7.2, 0.28


def draw(board: Board) -> "Figure":
    """Draw all claims by document, coloured and marked by verdict.

    Parameters
    ----------
    board : Board
    """
    import matplotlib.pyplot as plt

    shown = tiles(board)
    groups = [(key, rows) for key, rows in shown.groupby("document", sort=False)]
    heights = [1 + ceil(len(rows) / COLUMNS) for _, rows in groups]
    total = sum(heights) + 1 + _LEGEND_ROWS
    figure, axes = plt.subplots(figsize=(_WIDTH_IN, _ROW_IN * total))
    axes.set(xlim=(0, COLUMNS), ylim=(total, 0))
    axes.axis("off")
    top = 0.0
    for (key, rows), height in zip(groups, heights, strict=True):
        axes.text(0, top + 0.55, board.documents[str(key)], va="center", weight="bold")
        for index, tile in enumerate(rows[["id", "verdict", "symbol"]].itertuples(index=False)):
            _tile(axes, index % COLUMNS, top + 1 + index // COLUMNS, *map(str, tile))
        top += height
    _legend(axes, shown, top + 0.6)
    return figure


def _legend(axes: "Axes", shown: "pd.DataFrame", top: float) -> None:
    found, partly = list(shown["verdict"]), list(shown["symbol"]).count(IN_PART_SYMBOL)
    kinds = [(verdict, verdict, SYMBOLS[verdict], found.count(verdict)) for verdict in VERDICTS]
    if partly:
        kinds.insert(1, ("of these in part", "holds", IN_PART_SYMBOL, partly))
    per_row = ceil(len(kinds) / _LEGEND_ROWS)
    for index, (label, verdict, symbol, count) in enumerate(kinds):
        place = index % per_row * COLUMNS / per_row
        text = f"{label} ({count})"
        _tile(axes, place, top + index // per_row * 0.95 - 0.2, text, verdict, symbol)


def _tile(axes: "Axes", x: float, y: float, label: str, verdict: str, symbol: str) -> None:
    import matplotlib

    ink = matplotlib.rcParams["text.color"]
    filled = verdict != "not measured"
    mark = ("black" if verdict in _DARK_INK else "white") if filled else ink
    axes.text(
        x + 0.09,
        y + 0.5,
        symbol,
        ha="center",
        va="center",
        color=mark,
        family="DejaVu Sans",
        weight="bold",
        zorder=3,
    )
    axes.add_patch(
        matplotlib.patches.FancyBboxPatch(
            (x + 0.025, y + 0.12),
            0.13,
            0.76,
            boxstyle="round,pad=0,rounding_size=0.02",
            mutation_aspect=8,
            facecolor=COLOURS[verdict],
            edgecolor=ink if not filled else "none",
            linewidth=0.8,
        )
    )
    axes.text(x + 0.19, y + 0.5, label, va="center")
