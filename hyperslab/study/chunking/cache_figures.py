"""Figures of the page on the chunk cache, from records only."""

from typing import TYPE_CHECKING

import pandas as pd

from ...storage.chunk_cache import RULES, CacheRule, promised_bytes
from ..style import plain
from .cache import MB
from .sweep_costs import row_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

MIB = 2**20


def steps(rule: CacheRule, least: int, most: int) -> list[tuple[int, int]]:
    """Return the cache a rule grants, as points (chunk, cache) in bytes to draw a line through.

    Examples
    --------
    >>> steps(CacheRule(40, 10, 640), 1, 200)
    [(1, 40), (40, 40), (41, 410), (64, 640), (200, 640)]
    """
    bends = (rule.default_bytes, rule.default_bytes + 1, rule.most_bytes // rule.chunks)
    chunks = sorted({least, most, *(chunk for chunk in bends if least < chunk < most)})
    return [(chunk, rule.granted(chunk)) for chunk in chunks]


def figure_granted(rows: pd.DataFrame) -> "Figure":
    """Draw the cache that a variable gets against the size of its chunks.

    Parameters
    ----------
    rows : pandas.DataFrame
        Records of the experiment "granted".
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    chunk = rows["useful_bytes"]
    low, high = int(chunk.min()), int(chunk.max())
    for (release, rule), style in zip(RULES.items(), ("-.", "--", ":"), strict=True):
        x, y = zip(*steps(rule, low, high), strict=True)
        axes.plot(_mb(x), _mb(y), style, lw=1.1, label=f"source of {release}")
    sizes = sorted({low, high, 64 * MIB // 10})
    axes.plot(
        _mb(sizes), _mb([promised_bytes(n) for n in sizes]), "-", lw=2.4, alpha=0.5,
        label="document: ten chunks, at most 64 MB",
    )  # fmt: skip
    axes.plot(_mb([low, high]), _mb([low, high]), "-", lw=0.7, color="C6", label="one chunk")
    axes.plot(_mb(chunk), _mb(rows["cache_bytes"]), "o", ms=4.5, color="C0", label="granted here")
    axes.set(
        xscale="log", yscale="log", xlabel="size of a chunk, MB (10⁶ bytes)",
        ylabel="chunk cache of the variable, MB",
    )  # fmt: skip
    plain(axes.xaxis)
    plain(axes.yaxis)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    return figure


def figure_sweep(swept: pd.DataFrame) -> "Figure":
    """Draw what a row sweep costs against the size of the cache.

    Parameters
    ----------
    swept : pandas.DataFrame
        From `sweep_costs.counted`, of the experiment "row-sweep".
    """
    table = swept.sort_values("cache_bytes")
    parts = {"measured": (table["cache_bytes"] / MIB, table)}
    return _two_panels(
        parts, "size of the chunk cache, MiB", row_bytes(table) / MIB, "chunks of a row"
    )


def figure_sizes(swept: pd.DataFrame, default_bytes: float) -> "Figure":
    """Draw what a row sweep costs against the size of chunks, with the default cache and a fit one.

    Parameters
    ----------
    swept : pandas.DataFrame
        From `sweep_costs.counted`, of the experiment "chunk-sizes".
    default_bytes : float
        The default cache.
    """
    parts = {}
    for name, label in (("default", "default cache"), ("fitting", "a cache that fits")):
        table = swept[swept["case"].str.startswith(f"{name}/")].sort_values("chunk_mib")
        parts[label] = (table["chunk_mib"], table)
    return _two_panels(
        parts, "size of a chunk, MiB", default_bytes / 2 / MIB, "two chunks fill the default"
    )


def _two_panels(
    parts: "Mapping[str, tuple[pd.Series[float], pd.DataFrame]]", across: str, mark: float, at: str
) -> "Figure":
    """Draw chunks fetched and time of the same sweeps side by side, under one legend.

    Parameters
    ----------
    parts : mapping
        Where the points stand and what they are, by label.
    across : str
        Label of both x axes.
    mark : float
        Where a vertical line stands.
    at : str
        Its label.
    """
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.6))
    for number, (label, (x, table)) in enumerate(parts.items()):
        style = {"color": f"C{number}", "ms": 5, "label": label}
        left.plot(x, table["fetched"], "os"[number], **style)
        error = [table["ms"] - table["low"], table["high"] - table["ms"]]
        right.errorbar(x, table["ms"], yerr=error, fmt="os"[number], capsize=2, **style)
    for number, (x, table) in enumerate(parts.values()):
        label = "chunks predicted" if not number else "_nolegend_"
        left.plot(x, table["predicted"], "_", ms=13, color="C6", label=label)
    line = {"lw": 0.9, "ls": ":", "color": "C3"}
    left.axvline(mark, label=at, **line)
    right.axvline(mark, **line)
    left.set_ylabel("chunks fetched and inflated")
    right.set_ylabel("time of the sweep, ms")
    right.set_yscale("log")
    counts = pd.concat([table["predicted"] for _, table in parts.values()])
    if counts.max() > 20 * counts.min():
        left.set_yscale("log")
        plain(left.yaxis)
    else:
        left.set_ylim(0, 1.1 * counts.max())
    plain(right.yaxis)
    for axes in (left, right):
        axes.set(xscale="log", xlabel=across)
        plain(axes.xaxis)
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def _mb(values: "list[int] | tuple[int, ...] | pd.Series[float]") -> "pd.Series[float]":
    return pd.Series(values, dtype=float) / MB
