"""Figure 9 of Lee et al. 2008, and the disk rates at which compression breaks even."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...measure.stats import Interval
from ..penard.datasets import TABLE_5
from ..style import plain
from .break_even import DOCUMENT_DISK, relative_time
from .tiles import FLOAT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MB = 1e6
CURVES = ("deflate-1", "deflate-9", "zstd-3", "blosc-zstd", "blosc-lz4")
LINES = ("-", "--", "-.", (0, (5, 1)), (0, (1, 1)))
_SPELLED = {
    "none": "uncompressed",
    "float": "float32",
    "int16-shuffle-deflate-1": "as int16, shuffle, deflate 1",
    "float-shuffle-deflate-1": "float32, shuffle, deflate 1",
    "bitround-shuffle-deflate-1": "rounded, shuffle, deflate 1",
    "bitround-blosc-zstd": "rounded, Blosc zstd",
    "shuffle-deflate-1": "shuffle, deflate 1",
    "blosc-lz4": "Blosc lz4",
    "blosc-zstd": "Blosc zstd",
}


def spelled(packing: str) -> str:
    """Return a layout's name as people write it.

    Examples
    --------
    >>> spelled("deflate-9"), spelled("blosc-lz4")
    ('deflate 9', 'Blosc lz4')
    """
    return _SPELLED.get(packing, packing.replace("-", " "))


def figure_9(written: pd.DataFrame, read: pd.DataFrame) -> "Figure":
    """Draw the time to write and to read each tile, with deflate 1 and without.

    Parameters
    ----------
    written, read : pandas.DataFrame
        From `times`; of reads the cold ones are drawn, or the warm ones where there are no others.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.0), sharey=True)
    state = "cold" if "cold" in set(read["cache_state"]) else "warm"
    parts = (
        ("write", written, "write, fsync included"),
        ("read", read[read["cache_state"] == state], f"read, {state}"),
    )
    for axes, (operation, part, title) in zip(panels, parts, strict=True):
        tiles = sorted(set(part["group"]) - {FLOAT})
        place = {tile: len(tiles) - 1 - i for i, tile in enumerate(tiles)}
        for shift, packing in ((0.12, "none"), (-0.12, "deflate-1")):
            rows = part[(part["packing"] == packing) & part["group"].isin(tiles)]
            _dots(
                axes, rows, [place[t] + shift for t in rows["group"]], f"here, {spelled(packing)}"
            )
        rows = part[(part["packing"] == "none") & part["group"].isin(tiles)]
        axes.plot(
            rows["useful_mb"] / DOCUMENT_DISK[operation],
            [place[t] for t in rows["group"]],
            "D", ms=6, mfc="none", color="C3", label="uncompressed, on the document's disk",
        )  # fmt: skip
        axes.set(xscale="log", xlabel="time, s", title=title, ylim=(-0.5, len(tiles) - 0.5))
        axes.set_yticks(list(place.values()), list(place))
        plain(axes.xaxis)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def figure_codecs(written: pd.DataFrame, read: pd.DataFrame, whole: pd.DataFrame) -> "Figure":
    """Draw how small each codec makes the data, and the processor time it takes.

    Parameters
    ----------
    written, read : pandas.DataFrame
        From `costs`, of the writes and of the warm reads.
    whole : pandas.DataFrame
        Records of the experiment "table5": what stands beside the document's number.
    """
    import matplotlib.pyplot as plt

    rows = written[written["group"].isin(("tile1", FLOAT))]
    place = np.arange(len(rows))[::-1] + 0.8 * (rows["group"] != FLOAT).to_numpy()
    labels = [spelled(packing) for packing in rows["packing"]]
    figure, panels = plt.subplots(1, 3, figsize=(7.2, 1.2 + 0.24 * len(rows)), sharey=True)
    panels[0].plot(rows["plain_bytes"] / rows["bytes"], place, "o", color="C0", label="here")
    tile = whole[whole["case"] == "tile1/deflate-1"].iloc[0]
    top = place.max() + 1.3
    panels[0].plot(tile["useful_bytes"] / tile["file_bytes"], top, "o", color="C0")
    panels[0].plot(TABLE_5["tile1"], top, "D", ms=7, mfc="none", color="C3", label="document")
    panels[0].set(xlabel="times smaller")
    for axes, costs, name in ((panels[1], written, "write"), (panels[2], read, "read")):
        chosen = costs.set_index("case").reindex(rows["case"])
        million = chosen["plain_bytes"] / MB
        error = [chosen["cpu_s"] - chosen["low"], chosen["high"] - chosen["cpu_s"]]
        axes.errorbar(
            1e3 * chosen["cpu_s"] / million, place,
            xerr=[1e3 * end / million for end in error], fmt="s", capsize=2, color="C1",
        )  # fmt: skip
        axes.set(xlabel=f"ms of CPU to {name} 1 MB")
    for axes in panels:
        axes.set(xscale="log")
        plain(axes.xaxis)
        axes.margins(x=0.12)
    panels[0].set_yticks([top, *place], ["whole tile, deflate 1", *labels])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def figure_break_even(
    written: pd.DataFrame,
    read: pd.DataFrame,
    seen: Mapping[str, tuple[float, Mapping[str, Interval]]],
) -> "Figure":
    """Draw the time with compression over the time without, against the rate of the disk.

    Parameters
    ----------
    written, read : pandas.DataFrame
        From `costs`, of the writes and of the warm reads.
    seen : mapping
        For "write" and "read": this disk's rate in bytes/s, and the measured ratio by layout.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.8), sharey=True)
    rates = np.geomspace(10 * MB, 3e4 * MB, 200)
    for axes, operation, costs in zip(panels, ("write", "read"), (written, read), strict=True):
        here, ratios = seen.get(operation, (math.nan, {}))
        tile = costs[costs["group"] == "tile1"].set_index("packing")
        for i, packing in enumerate(name for name in CURVES if name in tile.index):
            value, low, high = relative_time(tile.loc[packing].to_dict(), rates)
            style: dict[str, Any] = {"color": f"C{i}"}
            axes.plot(rates / MB, value, label=spelled(packing), ls=LINES[i], **style)
            axes.fill_between(rates / MB, low, high, alpha=0.2, lw=0, **style)
            if packing in ratios and math.isfinite(here):
                axes.plot(here / MB, ratios[packing].value, "o", ms=5, **style)
        axes.axhline(1, lw=0.8, color="C6")
        axes.axvline(DOCUMENT_DISK[operation], lw=1, ls="--", color="C6")
        axes.text(
            DOCUMENT_DISK[operation], 1.01, "document", ha="center", va="bottom",
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
        if math.isfinite(here):
            axes.axvline(here / MB, lw=1, ls=":", color="C6")
            axes.text(
                here / MB, 1.01, "here", ha="center", va="bottom",
                transform=axes.get_xaxis_transform(),
            )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel=f"rate of the disk ({operation}), MB/s")
        plain(axes.xaxis)
        plain(axes.yaxis)
    panels[0].set_ylabel("time over the uncompressed one's")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
    return figure


def _dots(axes: "Axes", rows: pd.DataFrame, place: list[float], label: str) -> None:
    error = [rows["s"] - rows["low"], rows["high"] - rows["s"]]
    axes.errorbar(rows["s"], place, xerr=error, fmt="o", ms=5, capsize=2, label=label)
