"""Figure 8 of Penard et al. 2025 with this machine's records in it, and the counts behind it."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..style import plain
from .local_results import PANELS, documented

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {
    "netcdf4": "netCDF4-python",
    "netcdf-c": "netCDF-C",
    "h5py": "h5py",
    "h5py-paged": "h5py, HDF5 in pages",
    "h5netcdf": "h5netcdf",
    "hidefix": "hidefix",
    "xarray-netcdf4": "xarray, netCDF4",
    "xarray": "xarray, h5netcdf",
    "chunkindex": "chunkindex layout",
    "subchunk": "hyperslab.subchunk",
    "zarr": "Zarr, Blosc",
    "zarr-deflate": "Zarr, deflate",
    "xarray-zarr": "xarray, Zarr, Blosc",
    "nczarr": "NCZarr, no codec",
    "nczarr-deflate": "NCZarr, deflate",
    "zarr3-shards": "Zarr 3, shards",
}
"""What the figures call a library and its format, in their order."""
_COLORS = {"off": "C0", "on": "C1", "": "C2"}
_LABELS = {
    "off": "netCDF-4, shuffle off",
    "on": "netCDF-4, shuffle on",
    "": "Zarr, NCZarr, HDF5 in pages",
}
_SHIFT = {"off": 0.17, "on": -0.17, "": 0.0}


def split(way: str) -> tuple[str, str]:
    """Return a way's library and its shuffle, "" where the name does not say.

    Examples
    --------
    >>> split("h5py-on"), split("zarr-deflate")
    (('h5py', 'on'), ('zarr-deflate', ''))
    """
    head, _, tail = way.rpartition("-")
    return (head, tail) if tail in ("off", "on") else (way, "")


def figure_8(timed: pd.DataFrame) -> "Figure":
    """Draw the time of each read through each library, for a chunk touched.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `times`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(7.4, 8.2), sharey=True)
    for axes, (panel, title) in zip(panels.flat, PANELS.items(), strict=True):
        part = timed[timed["panel"] == panel]
        for state, fill in (("cold", "none"), ("warm", None)):
            _points(axes, part[part["state"] == state], fill)
        theirs = documented()
        theirs = theirs[theirs["panel"] == panel]
        axes.plot(
            theirs["ms"],
            [_place(way) + _SHIFT[split(way)[1]] for way in theirs["way"]],
            "D",
            ms=7,
            mfc="none",
            color="C6",
            label="document, its fastest three",
        )
        axes.set(xscale="log", title=title)
        axes.set_yticks(range(len(NAMES)), list(NAMES.values())[::-1])
        plain(axes.xaxis)
    for axes in panels[1]:
        axes.set_xlabel("time for a chunk touched, ms")
    handles, labels = [], []
    for axes in panels.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            if label not in labels:
                handles.append(handle)
                labels.append(label)
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def figure_counts(counted: pd.DataFrame) -> "Figure":
    """Draw what a chunk costs through each library: bytes decompressed and read, CPU time.

    Parameters
    ----------
    counted : pandas.DataFrame
        From `counts`.
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    figure, panels = plt.subplots(1, 3, figsize=(7.4, 4.4), sharey=True)
    shown = (("decompressed", 1e6, "MB decompressed"), ("bytes", 1e6, "MB in read calls"),
             ("cpu_ms", 1, "CPU time, ms"))  # fmt: skip
    for axes, (column, unit, label) in zip(panels, shown, strict=True):
        values = counted[column] / unit
        known = values[values > 0]
        floor = known.min() / 2 if len(known) else 1.0  # nothing at all has no place on the axis
        for shuffle, color in _COLORS.items():
            mine = np.array([split(way)[1] == shuffle for way in counted["way"]])
            places = [_place(way) for way in counted["way"][mine]]
            axes.plot(
                values[mine].clip(lower=floor), places, "o", ms=5, color=color,
                label=_LABELS[shuffle],
            )  # fmt: skip
        for way in counted["way"][(values == 0).to_numpy()]:
            axes.annotate("none", (floor, _place(way)), xytext=(7, -3), textcoords="offset points")
        axes.set(xscale="log", xlabel=label)
        axes.set_yticks(range(len(NAMES)), list(NAMES.values())[::-1])
        plain(axes.xaxis)
        axes.xaxis.set_major_locator(LogLocator())  # three narrow panels
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def figure_opening(timed: pd.DataFrame) -> "Figure":
    """Draw opening apart from reading, shuffle on, for netCDF4 and h5py and xarray on each.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `times`.
    """
    import matplotlib.pyplot as plt

    names = ("netcdf4", "xarray-netcdf4", "h5py", "xarray")
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 2.8), sharey=True)
    warm = timed[timed["state"] == "warm"].set_index(["panel", "way"])
    for axes, (column, label) in zip(
        panels, (("open_ms", "opening, ms"), ("read_ms", "reading, ms")), strict=True
    ):
        for number, (panel, title) in enumerate(PANELS.items()):
            axes.plot(
                [warm.loc[(panel, f"{name}-on"), column] for name in names],
                np.arange(len(names))[::-1] + 0.24 - 0.16 * number,
                "oDs^"[number], ms=5, label=title.partition(". ")[2],
            )  # fmt: skip
        axes.set(xscale="log", xlabel=label)
        axes.set_yticks(range(len(names)), [NAMES[name] for name in reversed(names)])
        plain(axes.xaxis)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def _points(axes: "Axes", rows: pd.DataFrame, fill: str | None) -> None:
    for shuffle, color in _COLORS.items():
        mine = rows[[split(way)[1] == shuffle for way in rows["way"]]]
        if mine.empty:
            continue
        error = [mine["ms"] - mine["low"], mine["high"] - mine["ms"]]
        axes.errorbar(
            mine["ms"],
            [_place(way) + _SHIFT[shuffle] for way in mine["way"]],
            xerr=error,
            fmt="s" if fill else "o",
            ms=5 if fill else 4.5,
            mfc=fill or color,
            capsize=2,
            color=color,
            label=f"{_LABELS[shuffle]}, {'cold' if fill else 'warm'}",
        )


def _place(way: str) -> int:
    return len(NAMES) - 1 - list(NAMES).index(split(way)[0])
