"""All claims that rest on a ratio, each with its interval and the band in which it holds."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...claims.bands import VERDICTS
from .style import headline, plain

_LINE = 0.17  # inches a claim


@dataclass(frozen=True)
class Forest:
    """A line for each claim: dot and interval, on the band in which it holds."""

    # claim, paper, value, low, high, least and most (of the band), verdict, noisy
    table: pd.DataFrame
    title: str
    axis: str
    document: float  # where the document's number lies on the axis
    nothing: float  # where there is no effect
    ends: tuple[float, float]  # of the axis; what lies beyond is drawn at its end as an arrow
    log: bool = False  # whether the axis is logarithmic

    def __call__(self) -> Figure:
        left, right = self.ends
        papers = list(dict.fromkeys(self.table["paper"]))
        counts = [int((self.table["paper"] == paper).sum()) for paper in papers]
        figure, column = plt.subplots(
            len(papers), 1, sharex=True, squeeze=False, height_ratios=counts,
            figsize=(7.2, 1.2 + 0.3 * len(papers) + _LINE * len(self.table)),
        )  # fmt: skip
        colours = {verdict: f"C{n % 7}" for n, verdict in enumerate(VERDICTS)}
        for axes, paper in zip(column[:, 0], papers, strict=True):
            claims = self.table[self.table["paper"] == paper].reset_index(drop=True)
            heights = np.arange(len(claims))
            least, most = (claims[name].clip(left, right) for name in ("least", "most"))
            axes.barh(heights, most - least, left=least, height=0.8, color="0.5", alpha=0.22, lw=0)
            for verdict, rows in claims.groupby("verdict"):
                value, low, high = (rows[n].clip(left, right) for n in ("value", "low", "high"))
                errors = [value - low, high - value]
                colour = colours[str(verdict)]
                axes.errorbar(value, rows.index, xerr=errors, fmt="none", ecolor=colour, lw=1.2)
                beyond = {">": rows["value"] > right, "<": rows["value"] < left}
                far = beyond[">"] | beyond["<"]
                for noisy, fill in ((False, colour), (True, "none")):
                    chosen = ~far & (rows["noisy"] == noisy)
                    axes.plot(value[chosen], rows.index[chosen], "o", ms=4, c=colour, mfc=fill)
                for arrow, chosen in beyond.items():
                    if chosen.any():  # what is empty and not clipped takes room at the origin
                        at = value[chosen], rows.index[chosen]
                        axes.plot(*at, arrow, ms=5, c=colour, clip_on=False)
            axes.axvline(self.nothing, color="0.5", lw=0.8)
            axes.axvline(self.document, color="0.5", lw=0.9, ls="--")
            axes.set(ylim=(len(claims) - 0.4, -0.6), xlim=(left, right))
            axes.set_yticks(heights, claims["claim"], size=7)
            axes.set_title(paper, size=9)
            axes.tick_params(axis="y", length=0)
            axes.grid(axis="y", visible=False)
        last = column[-1, 0]
        if self.log:
            last.set_xscale("log")
            plain(last.xaxis)
        last.set_xlabel(self.axis)
        verdicts = [verdict for verdict in VERDICTS if (self.table["verdict"] == verdict).any()]
        keys = [Line2D([], [], color=colours[verdict], marker="o", ms=4) for verdict in verdicts]
        headline(figure, self.title, (keys, verdicts), columns=4)
        return figure
