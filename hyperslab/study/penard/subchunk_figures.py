"""Figures 2, 4 and 5 of Penard et al. 2025 from a real file, and what points cost and save."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..style import plain
from .subchunk_results import DOCUMENT_CHUNKS, DOCUMENT_SERIES_S, FILES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MB = 1e6
_REQUESTS = {"row": "a row", "patch": "a patch of a map", "box": "a box over levels"}
_MARKS = {"ours": "o", "document": "D"}


def figure_points(places: pd.DataFrame) -> "Figure":
    """Draw the points of a chunk in its decompressed and its compressed bytes, after Figure 2.

    Parameters
    ----------
    places : pandas.DataFrame
        Records of the experiment "points".
    """
    import matplotlib.pyplot as plt

    cases = list(dict.fromkeys(places["case"]))
    figure, panels = plt.subplots(len(cases), 1, figsize=(7.2, 1.55 * len(cases)), sharex=True)
    for axes, case in zip(np.atleast_1d(panels), cases, strict=True):
        rows = places[places["case"] == case]
        out, stored = rows["out_at"].to_numpy() / MB, rows["stored_at"].to_numpy() / MB
        many = len(rows) > 60
        for low, high in zip(stored, out, strict=True):
            axes.plot([high, low], [1, 0], color="C0", lw=0.25 if many else 0.8)
        for level, end in ((1, out[-1]), (0, stored[-1])):
            axes.plot([0, end], [level, level], color="C6", lw=5, solid_capstyle="butt")
        axes.set_title(_points_title(case, len(rows) - 1))
        axes.set_yticks([0, 1], ["compressed", "decompressed"])
        axes.set_ylim(-0.35, 1.35)
        axes.grid(visible=False)
    np.atleast_1d(panels)[-1].set_xlabel("bytes from the beginning of the chunk, MB")
    return figure


def figure_shuffle(sections: pd.DataFrame) -> "Figure":
    """Draw where one row lies with shuffle and without, after Figure 4.

    Parameters
    ----------
    sections : pandas.DataFrame
        Records of the experiment "sections".
    """
    import matplotlib.pyplot as plt

    lines = [
        (f"{mark}row/{shuffle}", stage)
        for shuffle in ("off", "on")
        for mark, stage in (("", "out"), ("", "stored"), ("ours/", "stored"))
    ]
    figure, panels = plt.subplots(2, 1, figsize=(7.2, 3.9), sharex=True)
    for axes, shuffle in zip(panels, ("off", "on"), strict=True):
        mine = [line for line in lines if line[0].endswith(shuffle)]
        _strips(axes, sections, mine)
        axes.set_title(f"shuffle {shuffle}")
    panels[-1].set_xlabel("bytes from the beginning of the chunk, MB")
    _legend(figure)
    return figure


def figure_boxes(sections: pd.DataFrame) -> "Figure":
    """Draw where a row, a patch and a box of as many values lie, after Figure 5.

    Parameters
    ----------
    sections : pandas.DataFrame
        Records of the experiment "sections".
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(len(_REQUESTS), 1, figsize=(7.2, 5.4), sharex=True)
    for axes, (request, words) in zip(panels, _REQUESTS.items(), strict=True):
        lines = [(f"{request}/off", "out"), (f"{request}/off", "stored")]
        _strips(axes, sections, [*lines, (f"ours/{request}/off", "stored")])
        axes.set_title(words)
    panels[-1].set_xlabel("bytes from the beginning of the chunk, MB")
    _legend(figure)
    return figure


def figure_spacing(curves: pd.DataFrame, timed: pd.DataFrame) -> "Figure":
    """Draw the time of a series over the size of the index, and h5py's.

    Parameters
    ----------
    curves : pandas.DataFrame
        From `curves`.
    timed : pandas.DataFrame
        From `times`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(7.2, 5.8), sharex=True, sharey="row")
    for axes, (file, words) in zip(panels.flat, FILES.items(), strict=True):
        part = curves[curves["file"] == file]
        for mark, color, label in (("ours", "C0", "ours"), ("document", "C1", "document's layout")):
            rows = part[part["index"].str.startswith(mark)]
            error = [rows["ms"] - rows["low"], rows["high"] - rows["ms"]]
            axes.errorbar(
                100 * rows["share"], rows["ms"], yerr=error, fmt=f"{_MARKS[mark]}-", ms=4.5,
                capsize=2, color=color, label=label,
            )  # fmt: skip
        default = part[part["index"] == "ours"]
        axes.plot(
            100 * default["share"], default["ms"], "o", ms=10, mfc="none", color="C0",
            label="ours, as it comes",
        )  # fmt: skip
        whole = timed[(timed["file"] == file) & (timed["index"] == "h5py")]
        axes.axhline(
            float(whole[whole["read"] == "series"]["ms"].iloc[0]), color="C2", ls="--", label="h5py"
        )
        if file == "gfs":
            axes.axhline(
                1e3 * DOCUMENT_SERIES_S / DOCUMENT_CHUNKS, color="C3", ls=":",
                label="document, chunkindex",
            )  # fmt: skip
        axes.set(xscale="log", yscale="log", title=words)
        plain(axes.xaxis)
        plain(axes.yaxis)
    for axes in panels[-1]:
        axes.set_xlabel("index, % of the compressed data")
    for axes in panels[:, 0]:
        axes.set_ylabel("time for a chunk, ms")
    figure.legend(*panels.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def figure_windows(shares: pd.DataFrame) -> "Figure":
    """Draw what windows take whole and with only what is used of them.

    Parameters
    ----------
    shares : pandas.DataFrame
        From `window_shares`.
    """
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 2.6), sharey=True)
    place = np.arange(len(shares))[::-1]
    left.barh(place, 100 * shares["used"], height=0.5, alpha=0.75, color="C0")
    left.set(xlabel="bytes of a window that are used, %", xlim=(0, 100))
    left.set_yticks(place, [FILES[file] for file in shares["file"]])
    right.plot(shares["packed"] / 1024, place, "D", ms=6, mfc="none", color="C1", label="whole")
    right.plot(shares["sparse"] / 1024, place, "o", ms=6, color="C0", label="what is used of it")
    right.axvline(32, color="C6", lw=0.8, ls=":")
    right.set(xlabel="a window, deflated, KiB", xscale="log")
    plain(right.xaxis)
    for axes in (left, right):
        axes.grid(axis="y", visible=False)
    right.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


def _points_title(case: str, count: int) -> str:
    file, index = case.split("/")
    whose = "the document's" if index == "document" else "ours, as they come"
    return f"{FILES[file]}: {count} points, {whose}"


def _strips(axes: "Axes", sections: pd.DataFrame, lines: Sequence[tuple[str, str]]) -> None:
    """Draw a chunk as a bar a line: what is wanted of it, and what is decoded for it."""
    names = {"out": "decompressed", "stored": "compressed"}
    labels = []
    chosen = sections[sections["case"].isin([case for case, _ in lines])]
    least = 0.004 * float(chosen["predicted_bytes"].max()) / MB
    for place, (case, stage) in enumerate(lines):
        rows = sections[sections["case"] == case]
        size = "predicted_bytes" if stage == "out" else "wire_bytes"
        whole = float(rows[rows["phase"] == "chunk"][size].iloc[0]) / MB
        axes.barh(-place, whole, height=0.5, color="C6", alpha=0.18)
        section = rows[rows["phase"] == "section"]
        color = "C0" if case.startswith("ours/") else "C1"
        _marked(axes, section[f"{stage}_at"], section[size], -place, color, 0.5, least)
        if stage == "out":
            run = rows[rows["phase"] == "run"]
            _marked(axes, run["out_at"], run["useful_bytes"], -place, "C2", 0.86, least)
        whose = ", ours" if case.startswith("ours/") else ", document's" * (stage == "stored")
        labels.append(f"{names[stage]}{whose}")
    axes.set_yticks([-place for place in range(len(labels))], labels)
    axes.set_xlim(left=0)
    axes.grid(visible=False)


def _marked(
    axes: "Axes",
    starts: "pd.Series[float]",
    lengths: "pd.Series[float]",
    place: int,
    color: str,
    height: float,
    least: float,
) -> None:
    """Draw stretches of a bar, none too narrow to be seen."""
    axes.barh(
        place, np.maximum(lengths / MB, least), left=starts / MB, height=height, color=color, lw=0
    )


def _legend(figure: "Figure") -> None:
    from matplotlib.patches import Patch

    figure.legend(
        handles=[
            Patch(color="C2", label="wanted"),
            Patch(color="C1", label="decoded, document's points"),
            Patch(color="C0", label="decoded, our points"),
        ],
        loc="outside upper center",
        ncols=3,
    )
