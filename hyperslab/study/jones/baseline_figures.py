"""Figures 3 to 5 of Jones et al. 2016 with our records, what they ask for, and read-ahead."""

from typing import TYPE_CHECKING

import pandas as pd

from ..style import plain
from .baseline import FIGURE_3, STATED, sizes_of
from .latencies import LINK, NBYTES
from .plan import size_bytes
from .spots import PATTERNS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {"c-fread": "C", "python-read": "Python", "c-pread": "C pread"}
_COLORS = {"c-fread": "C0", "python-read": "C1"}
_MARKS = {"sequential": "o", "strided": "s", "random": "^"}
_APART = 1.12
"""By what factor the two ways to say one rate stand apart along the axis."""


def figure_3(table: pd.DataFrame, state: str) -> "Figure":
    """Draw the rates of each pattern over the size of the buffer, from C and from Python.

    Parameters
    ----------
    table : pandas.DataFrame
        From `rates`.
    state : str
        "cold" or "warm".
    """
    import matplotlib.pyplot as plt

    part = table[(table["state"] == state) & table["reader"].isin(FIGURE_3)]
    patterns = [name for name in PATTERNS if name in set(part["pattern"])] or PATTERNS[:1]
    figure, grid = plt.subplots(1, len(patterns), figsize=(7.4, 4.2), sharey=True, squeeze=False)
    panels = list(grid.flat)
    for axes, pattern in zip(panels, patterns, strict=True):
        for reader in FIGURE_3:
            _rate_lines(axes, part[(part["reader"] == reader) & (part["pattern"] == pattern)])
        if state == "cold":
            _stated(axes, pattern, part)
        axes.set(xscale="log", yscale="log", title=pattern)
        _size_axis(axes, part)
    panels[0].set_ylabel("rate, MB/s")
    panels[len(panels) // 2].set_xlabel("bytes of a read")
    plain(panels[0].yaxis)
    handles: dict[str, Artist] = {}
    for axes in panels:
        found = zip(*axes.get_legend_handles_labels(), strict=True)
        handles.update({label: handle for handle, label in found})
    ordered = sorted(handles, key=lambda label: label.startswith("document"))
    figure.legend(
        [handles[label] for label in ordered], ordered, loc="outside upper center", ncols=2
    )
    return figure


def figure_counts(table: pd.DataFrame) -> "Figure":
    """Draw what cold reads ask of the system: bytes from the device, and read calls.

    Parameters
    ----------
    table : pandas.DataFrame
        From `rates`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(7.4, 3.5))
    part = table[(table["state"] == "cold") & table["reader"].isin(FIGURE_3)]
    if part.empty or part["fetched"].isna().all():
        for axes in panels:
            axes.text(0.5, 0.5, "not counted on this system", ha="center")
        return figure
    for axes, column, words in (
        (panels[0], "fetched", "bytes fetched for each asked for"),
        (panels[1], "calls", "system calls for each read"),
    ):
        for reader in FIGURE_3:
            for pattern in PATTERNS:
                line = part[(part["reader"] == reader) & (part["pattern"] == pattern)]
                line = line.sort_values("nbytes")
                axes.plot(
                    line["nbytes"], line[column], marker=_MARKS[pattern], ms=5,
                    color=_COLORS[reader], ls="-" if reader == FIGURE_3[0] else "--",
                    mfc=None if reader == FIGURE_3[0] else "none",
                    label=f"{NAMES[reader]}, {pattern}",
                )  # fmt: skip
        axes.set(xscale="log", yscale="log", title=words, xlabel="bytes of a read")
        plain(axes.yaxis)
        _size_axis(axes, part)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def figure_latencies(timed: pd.DataFrame, warm: float) -> "Figure":
    """Draw the time of each successive cold read over its place in the file.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `latencies.table`.
    warm : float
        Seconds of a read of the same size out of memory; NaN where it was not measured.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.4, 3.4))
    for reader, part in timed.groupby("reader"):
        place = part["read"] * NBYTES / 2**20
        axes.plot(
            place, part["seconds"] * 1e6, ls="", ms=3.5,
            marker="o" if reader == "c-fread" else "x",
            label=f"{'fread' if reader == 'c-fread' else 'pread'}, median of the blocks",
        )  # fmt: skip
    limit = NBYTES / LINK * 1e6
    axes.axhline(limit, color="C2", ls=":", label="what the document's link takes at least")
    if warm == warm:
        axes.axhline(warm * 1e6, color="C3", ls="--", label="out of memory")
    axes.set(yscale="log", xlabel="place in the file, MiB", ylabel="time of a read of 64 KiB, µs")
    plain(axes.yaxis)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


def _rate_lines(axes: "Axes", line: pd.DataFrame) -> None:
    if line.empty:
        return
    line = line.sort_values("nbytes")
    reader = str(line["reader"].iloc[0])
    color, name = _COLORS[reader], NAMES[reader]
    mean, sd = line["mean"] / 1e6, line["sd"].fillna(0.0) / 1e6
    axes.errorbar(
        line["nbytes"] * _APART, mean, yerr=[sd.clip(upper=0.9 * mean), sd], fmt="D", ms=4,
        mfc="none", color=color, capsize=2, elinewidth=0.8, label=f"{name}, mean and deviation",
    )  # fmt: skip
    middle, low, high = (line[name] / 1e6 for name in ("median", "low", "high"))
    axes.errorbar(
        line["nbytes"] / _APART, middle, yerr=[middle - low, high - middle],
        fmt="o-", ms=3.5, color=color, elinewidth=0.8, label=f"{name}, median and interval",
    )  # fmt: skip


def _stated(axes: "Axes", pattern: str, part: pd.DataFrame) -> None:
    if part.empty:
        return
    for number, item in enumerate(STATED):
        if item.pattern == pattern:
            size = size_bytes(item.size) if item.size else part["nbytes"].max()
            axes.plot(
                size, item.rate / 1e6, "*+x"[number], ms=9, color="C3", mfc="none", ls="",
                label=f"document: {item.where.partition(' ')[0]}, {item.what}",
            )  # fmt: skip


def _size_axis(axes: "Axes", part: pd.DataFrame) -> None:
    from matplotlib.ticker import NullLocator

    names = sizes_of(part)
    shown = [
        name for name in names if name in ("512B", "4KiB", "64KiB", "1MiB", "8MiB", "64MiB", "1GiB")
    ]
    axes.set_xticks([size_bytes(name) for name in shown], shown, rotation=60)
    axes.xaxis.set_minor_locator(NullLocator())
