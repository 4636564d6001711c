"""The sentences of the page on chunk size, with their numbers from the records."""

import pandas as pd

from ...measure.stats import Interval
from .chunk_size import DOCUMENT_RANGE_MB_S, SIDE, chunk_name, model_errors


def summary(rated: pd.DataFrame, sized: pd.DataFrame, length: int) -> str:
    """Return what was found, in a few sentences.

    Parameters
    ----------
    rated : pandas.DataFrame
        From `rates`.
    sized : pandas.DataFrame
        Records of the experiment "geometry".
    length : int
        Elements along each axis of the array.
    """
    slow = rated.iloc[int(rated["rate"].argmin())]
    fast = rated.iloc[int(rated["rate"].argmax())]
    small = rated["file_mb"].min()
    large = rated["file_mb"].max()
    worst = model_errors(sized).max()
    data = length * length * 4 / 1e6
    low, high = DOCUMENT_RANGE_MB_S
    return (
        f"**What we found.** The same {data:.1f} MB were written at "
        f"{slow['rate']:,.0f} MB/s in chunks of {chunk_name(int(slow['side']))} and at "
        f"{fast['rate']:,.0f} MB/s in chunks of {chunk_name(int(fast['side']))}: "
        f"{fast['rate'] / slow['rate']:.0f} times the rate, where the document had "
        f"{high / low:.1f} times. (It does not list its "
        "twenty-five sizes; ours hold those it names.) The files take "
        f"{small:.1f} to {large:.1f} MB. The geometry of the "
        f"chunks predicts every one of the {len(sized)} sizes "
        + ("to the byte." if worst == 0 else f"within {100 * worst:.3f} %.")
        + _scaled(length)
    )


def caption_10(rated: pd.DataFrame, timed: pd.DataFrame) -> str:
    """Return the caption of the write rates."""
    return (
        "Write rate against chunk length: medians with 95 % intervals of "
        f"{_blocks(rated)} interleaved blocks, put and sync together; the document's published "
        "values, on a disk of 2008, below. Regions A, B and C as in Figure 10 of "
        f"{{cite:t}}`lee2008`. Run {timed['run_id'].iloc[0]}."
    )


def caption_11(sized: pd.DataFrame) -> str:
    """Return the caption of the file sizes."""
    worst = model_errors(sized)
    return (
        "File size against chunk length, after Figure 11 of {cite:t}`lee2008`. The largest "
        f"difference between a predicted and a real size of these {len(sized)} is "
        f"{(sized['predicted_bytes'] - sized['file_bytes']).abs().max():,.0f} bytes "
        f"({100 * worst.max():.3f} %)."
    )


def caption_6(length: int) -> str:
    """Return the caption of Table 6."""
    if length == SIDE:
        return (
            "Table 6 of the document beside this machine: rates are medians with 95 % intervals, "
            "then the document's own statistic."
        )
    return f"Table 6 of the document, scaled down to an array of {length} × {length}."


def caption_ceil(divided: pd.DataFrame) -> str:
    """Return the caption of the figure on ceil and floor."""
    off = (divided["predicted_bytes"] - divided["file_bytes"]).abs()
    exact, share = int((off == 0).sum()), (off / divided["file_bytes"]).max()
    beyond = (
        "all to the byte"
        if exact == len(off)
        else f"{exact} to the byte and the others to {off.max():,.0f} bytes ({100 * share:.2g} %)"
    )
    return (
        "What a file takes beyond its data, for chunks of ceil(d/N) and floor(d/N) and N from "
        f"{divided['stages'].min():.0f} to {divided['stages'].max():.0f}; lines are predicted, of "
        f"these {len(off)} files {beyond}. Where N divides d both are the same chunk."
    )


def advice(rated: pd.DataFrame, sized: pd.DataFrame, divided: pd.DataFrame, length: int) -> str:
    """Return what to do today."""
    extra = divided["file_bytes"] / divided["useful_bytes"] - 1
    kind = divided["case"].str.split("/").str[0]
    coarse = divided["stages"] <= 16
    worst_ceil = 100 * extra[(kind == "ceil") & coarse].max()
    worst_floor = 100 * extra[(kind == "floor") & coarse].max()
    best = rated["rate"].max()
    enough = rated[rated["rate"] >= best / 2]["side"].min()
    one = sized[sized["case"] == chunk_name(length)].iloc[0]
    return (
        "## What to do today\n\n"
        f"- **Divide, then round up.** For N up to 16, ceil(d/N) cost at most {worst_ceil:.1f} % "
        f"more than the data, floor(d/N) up to {worst_floor:.0f} %.\n"
        f"- **Keep chunks above {chunk_name(int(enough))}** for writing: that was the smallest "
        f"size within half of the best rate here ({(int(enough) ** 2) * 4 / 1024:,.0f} KiB a "
        "chunk).\n"
        f"- One chunk for the whole array took "
        f"{one['file_bytes'] - one['useful_bytes']:,.0f} bytes more than the data (the document: "
        "1,281); it is compact, but every read then takes it whole once it is compressed.\n"
        "- Predict before you write: `hyperslab.storage.geometry.predicted_bytes(shape, chunks, "
        "itemsize)`."
    )


def interval(value: Interval, digits: int = 2) -> str:
    """Return an interval as text.

    Examples
    --------
    >>> interval(Interval(0.72, 0.7, 0.75, 7))
    '0.72 [0.70, 0.75]'
    """
    return f"{value.value:.{digits}f} [{value.low:.{digits}f}, {value.high:.{digits}f}]"


def _blocks(rated: pd.DataFrame) -> str:
    low, high = int(rated["n"].min()), int(rated["n"].max())
    return f"{high}" if low == high else f"{low} to {high}"


def _scaled(length: int) -> str:
    if length == SIDE:
        return ""
    return f" (The array is scaled down to {length} × {length}: this is not the document's size.)"
