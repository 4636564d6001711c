"""Figures 6 to 8 of Jones et al. 2016 with our records, and what lies behind them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..style import plain
from .netcdf import FIGURE_6, NAMES
from .plan import size_bytes, size_name
from .spots import PATTERNS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS = {
    "c-fread": ("C6", "s"),
    "netcdf-c": ("C0", "o"),
    "python-read": ("C2", "^"),
    "netcdf4-python": ("C1", "D"),
    "netcdf4-python-plain": ("C4", "v"),
    "h5py": ("C3", "P"),
    "h5netcdf": ("C5", "X"),
    "xarray": ("C2", "*"),
    "zarr": ("C6", "<"),
}
"""Colour and marker of each reader, the same on every figure of the page."""
_PANELS = {
    "C and plain binary": ("c-fread", "netcdf-c", "python-read"),
    "arrays in Python": (
        *("netcdf4-python", "netcdf4-python-plain", "h5py"),
        *("h5netcdf", "xarray", "zarr"),
    ),
}
_FIGURE_7 = ("c-fread", "python-read", "netcdf-c", "netcdf4-python")
_FAULTS = ("c-fread", "netcdf-c", "python-read", "netcdf4-python", "netcdf4-python-plain", "h5py")
_TICKS = ("512B", "4KiB", "64KiB", "1MiB", "8MiB", "64MiB", "1GiB")


def figure_6(table: pd.DataFrame, predicted: pd.DataFrame) -> "Figure":
    """Draw the rates of cold reads in each pattern, over the size of the buffer.

    Parameters
    ----------
    table : pandas.DataFrame
        From `baseline.rates`, of the experiment "patterns".
    predicted : pandas.DataFrame
        From `from_device.predicted`.
    """
    import matplotlib.pyplot as plt

    part = table[table["state"] == "cold"]
    readers = ("c-fread", "netcdf-c", "netcdf4-python-plain", "netcdf4-python")
    figure, panels = plt.subplots(1, len(PATTERNS), figsize=(7.4, 3.7), sharey=True)
    for axes, pattern in zip(panels, PATTERNS, strict=True):
        _bands(axes, predicted[predicted["pattern"] == pattern], readers)
        _rates(axes, part[part["pattern"] == pattern], readers)
        _marks(axes)
        axes.set_title(f"{pattern}, cold")
        _size_axis(axes, part["nbytes"])
    panels[0].fill_between([], [], [], color="0.5", alpha=0.3, lw=0, label="by the three costs")
    panels[0].set_ylabel("rate, MB/s")
    plain(panels[0].yaxis)
    _legend(figure, panels)
    return figure


def figure_warm(table: pd.DataFrame, predicted: pd.DataFrame) -> "Figure":
    """Draw the rates of sequential reads from memory, measured and by the three costs.

    Parameters
    ----------
    table : pandas.DataFrame
        From `baseline.rates`, of the experiment "patterns".
    predicted : pandas.DataFrame
        From `model.rates`.
    """
    import matplotlib.pyplot as plt

    part = table[(table["state"] == "warm") & (table["pattern"] == "sequential")]
    along = predicted[predicted["pattern"] == "sequential"]
    figure, panels = plt.subplots(1, 2, figsize=(7.4, 4.2), sharey=True)
    for axes, (title, readers) in zip(panels, _PANELS.items(), strict=True):
        _rates(axes, part, readers, line="")
        for reader in readers:
            mine = along[along["reader"] == reader].sort_values("nbytes")
            axes.plot(mine["nbytes"], mine["predicted"] / 1e6, "--", color=_LOOKS[reader][0])
        axes.plot([], [], "--", color="C7", label="by the three costs")
        _marks(axes)
        axes.set_title(title)
        _size_axis(axes, part["nbytes"])
    panels[0].set_ylabel("rate from memory, MB/s")
    plain(panels[0].yaxis)
    _legend(figure, panels)
    return figure


def figure_7(table: pd.DataFrame) -> "Figure":
    """Draw the share of CPU time in the time of sequential reads, cold and warm.

    Parameters
    ----------
    table : pandas.DataFrame
        From `baseline.rates`, of the experiment "patterns".
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(7.4, 3.6), sharey=True)
    for axes, state in zip(panels, ("cold", "warm"), strict=True):
        _shares(axes, table, state, _FIGURE_7)
        axes.set_title(state)
    panels[0].set_ylabel("CPU time over wall time")
    _legend(figure, panels)
    return figure


def figure_8(table: pd.DataFrame) -> "Figure":
    """Draw the rate of cold reads by h5py beside others, and its share of CPU time.

    Parameters
    ----------
    table : pandas.DataFrame
        From `baseline.rates`, of the experiment "patterns".
    """
    import matplotlib.pyplot as plt

    part = table[(table["state"] == "cold") & (table["pattern"] == "sequential")]
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.6))
    readers = ("c-fread", "h5py", "netcdf4-python", "h5netcdf", "xarray", "zarr")
    _rates(left, part, readers)
    _size_axis(left, part["nbytes"])
    left.set(title="rate, cold", ylabel="rate, MB/s")
    plain(left.yaxis)
    _shares(right, table, "cold", readers[1:])
    right.set(title="CPU time over wall time, cold")
    _legend(figure, (left, right))
    return figure


def figure_faults(table: pd.DataFrame) -> "Figure":
    """Draw the minor page faults for each MB (10⁶ bytes) read from memory.

    Parameters
    ----------
    table : pandas.DataFrame
        From `baseline.rates`, of the experiment "patterns".
    """
    import matplotlib.pyplot as plt

    part = table[(table["state"] == "warm") & (table["pattern"] == "sequential")]
    figure, axes = plt.subplots(figsize=(7.2, 3.6))
    for reader in _FAULTS:
        mine = part[part["reader"] == reader].sort_values("nbytes")
        if len(mine):
            color, mark = _LOOKS[reader]
            # None has no place on a logarithmic axis.
            axes.plot(
                mine["nbytes"],
                np.maximum(mine["faults"] / 1e3, 1e-3),
                marker=mark,
                ms=4.5,
                color=color,
                label=NAMES[reader],
            )
    axes.axhline(1e6 / 4096, color="C7", ls=":", lw=1)
    axes.annotate(
        "one for each 4,096 bytes", (0.4, 1e6 / 4096), xycoords=("axes fraction", "data"),
        xytext=(0, 3), textcoords="offset points", fontsize=8,
    )  # fmt: skip
    axes.set(xscale="log", yscale="log", ylabel="minor page faults for each MB")
    _size_axis(axes, part["nbytes"])
    plain(axes.yaxis)
    _legend(figure, [axes])
    return figure


def figure_chunks(chunked: pd.DataFrame) -> "Figure":
    """Draw the rate of whole files over the size of their chunks.

    Parameters
    ----------
    chunked : pandas.DataFrame
        From `chunked.by_chunk`.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 3.0))
    for color, (state, part) in zip(("C0", "C1"), chunked.groupby("state"), strict=False):
        part = part.sort_values("chunk_bytes")
        axes.errorbar(
            part["chunk_bytes"], part["rate"] / 1e6, marker="o", ms=4.5, capsize=2, color=color,
            yerr=[(part["rate"] - part["low"]) / 1e6, (part["high"] - part["rate"]) / 1e6],
            label=f"netCDF4-python, {state}",
        )  # fmt: skip
    axes.axvline(2**20, color="C7", ls=":", lw=1)
    axes.annotate(
        "the document's size", (2**20, 0.02), xycoords=("data", "axes fraction"),
        xytext=(4, 0), textcoords="offset points", fontsize=8,
    )  # fmt: skip
    axes.set(xscale="log", ylabel="rate, MB/s", ylim=(0, None))
    names = [size_name(int(nbytes)) for nbytes in sorted(chunked["chunk_bytes"].unique())]
    _ticks(axes, names)
    axes.set_xlabel("bytes of a chunk")
    _legend(figure, [axes])
    return figure


def _rates(axes: "Axes", part: pd.DataFrame, readers: Iterable[str], line: str = "-") -> None:
    for reader in readers:
        mine = part[part["reader"] == reader].sort_values("nbytes")
        if mine.empty:
            continue
        color, mark = _LOOKS[reader]
        middle, low, high = (mine[name] / 1e6 for name in ("median", "low", "high"))
        axes.errorbar(
            mine["nbytes"], middle, yerr=[middle - low, high - middle], marker=mark, ms=4.5,
            ls=line, capsize=2, color=color, label=NAMES[reader],
        )  # fmt: skip
    axes.set_yscale("log")


def _bands(axes: "Axes", predicted: pd.DataFrame, readers: Iterable[str]) -> None:
    for reader in readers:
        mine = predicted[predicted["reader"] == reader].sort_values("nbytes")
        if len(mine) > 1:
            axes.fill_between(
                mine["nbytes"], mine["on_top"] / 1e6, mine["hidden"] / 1e6, lw=0, alpha=0.3,
                color=_LOOKS[reader][0],
            )  # fmt: skip


def _shares(axes: "Axes", table: pd.DataFrame, state: str, readers: Sequence[str]) -> None:
    part = table[(table["state"] == state) & (table["pattern"] == "sequential")]
    for reader in readers:
        mine = part[part["reader"] == reader].sort_values("nbytes")
        if mine.empty:
            continue
        color, mark = _LOOKS[reader]
        axes.plot(
            mine["nbytes"], mine["cpu"], marker=mark, ms=4.5, color=color, label=NAMES[reader]
        )
    axes.axhline(1, color="C7", ls=":", lw=1)
    axes.set_ylim(0, 1.2)
    _size_axis(axes, part["nbytes"])


def _marks(axes: "Axes") -> None:
    for words, name in FIGURE_6.items():
        axes.axvline(size_bytes(name), color="C7", ls=":", lw=1)
        axes.annotate(
            words, (size_bytes(name), 0.02), xycoords=("data", "axes fraction"), rotation=90,
            xytext=(-1, 0), textcoords="offset points", fontsize=7, ha="right", va="bottom",
        )  # fmt: skip


def _size_axis(axes: "Axes", nbytes: "pd.Series[int]") -> None:
    axes.set_xscale("log")
    known = set(nbytes)
    _ticks(axes, [name for name in _TICKS if size_bytes(name) in known])
    axes.set_xlabel("bytes of a read")


def _ticks(axes: "Axes", names: Sequence[str]) -> None:
    from matplotlib.ticker import NullLocator

    axes.set_xticks([size_bytes(name) for name in names], list(names), rotation=60)
    axes.xaxis.set_minor_locator(NullLocator())


def _legend(figure: "Figure", panels: Iterable["Axes"]) -> None:
    found: dict[str, Artist] = {}
    for axes in panels:
        handles, words = axes.get_legend_handles_labels()
        found |= dict(zip(words, handles, strict=True))
    figure.legend(list(found.values()), list(found), loc="outside upper center", ncols=3)
