"""Figures 1 to 4 and Table 2 of Lee et al. 2008, with this machine's records in them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ..style import plain
from .format_cells import SIZES
from .format_rates import rates
from .format_table import SETTINGS, SPREAD, TABLE_2, WINNER, Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES: Mapping[int, tuple[str, str]] = {
    1: ("contiguous", "default"),
    2: ("contiguous", "override"),
    3: ("chunked", "default"),
    4: ("chunked", "override"),
}
"""Storage and caching of each of the document's figures."""
CACHING = {"default": "cached", "override": "disk"}
STEPS = {"create": "create", "write": "put", "close": "close"}
WIDTH = 3.8  # inches: as wide as a telephone
GAP = 2.5  # between the small and the large arrays


def figure_rates(experiments: Mapping[str, pd.DataFrame], number: int) -> "Figure":
    """Draw the rates of one of the document's figures 1 to 4, by shape.

    Parameters
    ----------
    experiments : mapping
        Records of "write-cached", "write-disk" and "read".
    number : int
        The document's number of the figure.
    """
    import matplotlib.pyplot as plt

    storage, caching = FIGURES[number]
    figure, panels = plt.subplots(2, 1, figsize=(WIDTH, 6.4))
    for axes, operation in zip(panels, ("write", "read"), strict=True):
        experiment, state, phases = SETTINGS[caching, operation]
        rated = rates(experiments[experiment], phases)
        rated = rated[rated["cache_state"] == state]
        for i, kind in enumerate(("netcdf3", f"netcdf4-{storage}")):
            part = rated[rated["kind"] == kind]
            error = [part["rate"] - part["low"], part["high"] - part["rate"]]
            axes.errorbar(
                _place(part) + 0.16 * (2 * i - 1), part["rate"], yerr=error, fmt="os"[i], ms=5,
                capsize=2, color=f"C{i}", label=f"{('netCDF-3', 'netCDF-4')[i]}, here",
            )  # fmt: skip
            _document(axes, i, storage, caching, operation)
        _shape_axis(axes, rated)
        axes.set(yscale="log", title=_title(operation, caching))
        axes.set_ylim(top=2 * axes.get_ylim()[1])  # room for the names of the halves
        plain(axes.yaxis)
        axes.set_ylabel("MB/s (10⁶ bytes)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def figure_table_2(found: Sequence[Setting]) -> "Figure":
    """Draw netCDF-4's rate over netCDF-3's in every setting of Table 2.

    Parameters
    ----------
    found : sequence of Setting
        From `table_2`.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(WIDTH, 1.7 + 0.37 * len(found)))
    place = list(range(len(found)))[::-1]
    for reach, label in ((SPREAD, "the document's netCDF-3 twice"), (WINNER, "no winner named")):
        axes.axvspan(1 / (1 + reach), 1 + reach, alpha=0.16, lw=0, color="C5", label=label)
    for setting, y in zip(found, place, strict=True):
        ours, (third, fourth, _) = setting.ratio, setting.document
        axes.plot([ours.value, fourth / third], [y, y], lw=0.8, color="C6", alpha=0.5)
    values = [setting.ratio for setting in found]
    error = [[r.value - r.low for r in values], [r.high - r.value for r in values]]
    axes.errorbar(
        [r.value for r in values], place, xerr=error, fmt="o", ms=5, capsize=2, color="C0",
        label="here",
    )  # fmt: skip
    axes.plot(
        [setting.document[1] / setting.document[0] for setting in found], place, "D", ms=6,
        mfc="none", color="C1", label="document (Table 2)",
    )  # fmt: skip
    axes.axvline(1, lw=0.8, color="C6")
    axes.set(xscale="log", xlabel="rate of netCDF-4 over that of netCDF-3", ylim=(-0.7, None))
    axes.set_yticks(place, [broken(spelled(setting)) for setting in found])
    plain(axes.xaxis)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=1)
    return figure


def figure_steps(spent: pd.DataFrame) -> "Figure":
    """Draw how the time of a write divides between create, put and close.

    Parameters
    ----------
    spent : pandas.DataFrame
        From `steps`.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(WIDTH, 4.2))
    names = list(dict.fromkeys(spent["name"]))
    left = dict.fromkeys(names, 0.0)
    for i, (phase, label) in enumerate(STEPS.items()):
        part = spent[spent["phase"] == phase].set_index("name")["ms"].reindex(names)
        axes.barh(
            range(len(names))[::-1], part, left=list(left.values()), height=0.62, color=f"C{i}",
            hatch=("", "//", "..")[i], edgecolor="white", lw=0, label=label,
        )  # fmt: skip
        left = {name: left[name] + part[name] for name in names}
    whole = spent[spent["phase"] == "all"].set_index("name").loc[names]
    error = [whole["ms"] - whole["low"], whole["high"] - whole["ms"]]
    axes.errorbar(
        whole["ms"], range(len(names))[::-1], xerr=error, fmt="|", ms=9, capsize=3, color="C6",
        label="all three",
    )  # fmt: skip
    axes.set_yticks(range(len(names))[::-1], [broken(name) for name in names])
    axes.set(xlabel="time, ms")
    axes.grid(axis="y", visible=False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def broken(name: str) -> str:
    """Return a name in two lines, where it has more than one part.

    Examples
    --------
    >>> broken("one chunk, disk, read, small"), broken("netCDF-3")
    ('one chunk, disk,\\nread, small', 'netCDF-3')
    """
    parts = name.split(", ")
    half = (len(parts) + 1) // 2
    return ",\n".join(filter(None, (", ".join(parts[:half]), ", ".join(parts[half:]))))


def spelled(setting: Setting) -> str:
    """Return a setting of Table 2 in words.

    Examples
    --------
    >>> from hyperslab.measure.stats import Interval
    >>> both = Interval(1, 1, 1, 7)
    >>> spelled(Setting("chunked", "override", "read", "small", (1, 1, 0), 1, 1, (1, 1), both))
    'one chunk, disk, read, small'
    """
    storage = {"contiguous": "contiguous", "chunked": "one chunk"}[setting.storage]
    return f"{storage}, {CACHING[setting.caching]}, {setting.operation}, {setting.size}"


def _document(axes: "Axes", i: int, storage: str, caching: str, operation: str) -> None:
    """Draw the document's two means over the shapes; its bars have no numbers in the text."""
    for size in SIZES:
        mean = TABLE_2[storage, caching, operation, size][i]
        start = 0.5 + SIZES.index(size) * (6 + GAP)
        axes.hlines(
            mean, start, start + 6, color=f"C{i}", ls=("-", (0, (4, 2)))[i], lw=1.4,
            label="" if size == SIZES[1] else f"{('netCDF-3', 'netCDF-4')[i]}, document's mean",
        )  # fmt: skip


def _place(part: pd.DataFrame) -> "pd.Series[float]":
    return part["dims"] + (part["size"] == SIZES[1]) * (6 + GAP)


def _shape_axis(axes: "Axes", rated: pd.DataFrame) -> None:
    axes.set_xticks([n + i * (6 + GAP) for i in range(2) for n in range(1, 7)], [*"123456"] * 2)
    axes.set(xlabel="number of dimensions", xlim=(0, 13 + GAP))
    for i, size in enumerate(SIZES):
        axes.text(
            3.5 + i * (6 + GAP), 0.98, size, ha="center", va="top",
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    axes.axvline(6.5 + GAP / 2, lw=0.8, color="C6", alpha=0.5)
    axes.grid(axis="x", visible=False)


def _title(operation: str, caching: str) -> str:
    if caching == "default":
        return f"{operation}, cached"
    return "write, sync and fsync" if operation == "write" else "read, cold"
