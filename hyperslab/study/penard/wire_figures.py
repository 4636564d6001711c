"""Which bytes of a file each reader was sent, and how many requests and bytes each needs."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..style import plain
from .local_results import PANELS
from .wire_ways import DRAWN, WAYS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

_COLORS = {"off": "C0", "on": "C1", "": "C2"}
_LABELS = {"off": "netCDF-4, shuffle off", "on": "netCDF-4, shuffle on", "": "Zarr, HDF5 in pages"}
_HAIR = 0.004
"""Least share of the panel's width that a range is drawn as: smaller ones would not be seen."""


def labels() -> dict[str, tuple[str, str]]:
    """Return by way's name what it is called and its shuffle.

    Examples
    --------
    >>> labels()["h5py-off-nocache"]
    ('h5py, no cache', 'off')
    """
    return {
        way.way(store): (way.label, store if store in ("off", "on") else "")
        for way in WAYS
        for store in way.stores
    }


def figure_touched(ranges: pd.DataFrame) -> "Figure":
    """Draw the bytes of the files without shuffle that each reader was sent.

    Parameters
    ----------
    ranges : pandas.DataFrame
        Records of the experiment "touched".
    """
    import matplotlib.pyplot as plt

    named = labels()
    figure, panels = plt.subplots(2, 2, figsize=(7.4, 6.4), sharey=True)
    for axes, (panel, title) in zip(panels.flat, PANELS.items(), strict=True):
        for row, way in enumerate(reversed(DRAWN)):
            part = ranges[ranges["case"] == f"{panel}/{way}"]
            if part.empty:
                continue
            size = part["file_bytes"].iloc[0] / 1e6
            widths = np.maximum(part["chunk_bytes"] / 1e6, _HAIR * size)
            axes.broken_barh(
                list(zip(part["stored_at"] / 1e6, widths, strict=True)),
                (row - 0.38, 0.76),
                facecolors="C1" if way.startswith("subchunk") else "C0",
                linewidth=0,
            )
            axes.set_xlim(0, size * (1 + _HAIR))
        axes.set(title=title)
        axes.grid(axis="y", visible=False)
        axes.set_yticks(range(len(DRAWN)), [named[way][0] for way in reversed(DRAWN)])
    for axes in panels[1]:
        axes.set_xlabel("byte of the file, MB")
    return figure


def figure_moved(counted: pd.DataFrame) -> "Figure":
    """Draw megabytes and serial stages of each reader over HTTP, for the four reads.

    Parameters
    ----------
    counted : pandas.DataFrame
        Records of the experiment "wire".
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    named = labels()
    counted = counted[counted["status"] == "ok"]
    rows = list(dict.fromkeys(label for label, _ in named.values()))[::-1]
    figure, panels = plt.subplots(2, 4, figsize=(7.4, 9.2), sharey=True)
    for column, (panel, title) in enumerate(PANELS.items()):
        part = counted[counted["case"].str.startswith(f"{panel}/")]
        for axes, (value, unit, label) in zip(
            panels[:, column],
            (("wire_bytes", 1e6, "MB"), ("stages", 1, "serial stages")),
            strict=True,
        ):
            for shuffle, color in _COLORS.items():
                mine = [
                    (rows.index(label), amount / unit)
                    for case, amount in zip(part["case"], part[value], strict=True)
                    for label, kind in [named[case.rpartition("/")[2]]]
                    if kind == shuffle
                ]
                if mine:
                    axes.plot(
                        [amount for _, amount in mine],
                        [row for row, _ in mine],
                        "os^"[list(_COLORS).index(shuffle)],
                        ms=4.5,
                        mfc="none" if shuffle == "on" else color,
                        color=color,
                        label=_LABELS[shuffle],
                    )
            axes.set(xscale="log", xlabel=label)
            axes.set_yticks(range(len(rows)), rows)
            plain(axes.xaxis)
            low, high = axes.get_xlim()
            # Four narrow panels have no room for more.
            axes.xaxis.set_major_locator(
                LogLocator(subs=(1.0, 3.0) if high < 100 * low else (1.0,))
            )
        panels[0, column].set_title(title.replace(", ", ",\n"))
    found: dict[str, Artist] = {}
    for axes in panels.flat:
        handles, texts = axes.get_legend_handles_labels()
        found |= dict(zip(texts, handles, strict=True))
    figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=3)
    return figure
