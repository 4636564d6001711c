"""What the three costs, fitted in memory, say of reads from the device: Figure 6 predicted."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .model import Costs, medians, software

BASES = {"sequential": "c-fread", "strided": "netcdf-c", "random": "netcdf-c"}
"""Whose reads from the device tell what the device takes, by pattern: the barest that was read."""

_IN_CHUNKS = "zarr"  # where reads jump it asks for whole chunks, which the barest reader does not


def predicted(taken: pd.DataFrame, costs: Sequence[Costs]) -> pd.DataFrame:
    """Return the measured rates of cold reads, and two that the costs predict.

    What the device takes is what remains of the barest reader's time once its own costs are taken
    off. The other readers' costs either come on top of it, or the longer of the two hides the
    shorter one, as read-ahead makes possible. The truth lies between.

    Parameters
    ----------
    taken : pandas.DataFrame
        From `model.samples`, of cold reads.
    costs : sequence of Costs
        Fitted to warm reads.

    Returns
    -------
    pandas.DataFrame
        reader, pattern, size, nbytes, measured, on_top and hidden (bytes a second). The barest
        reader itself is not in it, nor what has no costs.
    """
    known = [each.reader for each in costs]
    found = []
    for pattern, base in BASES.items():
        mine = (taken["pattern"] == pattern) & taken["reader"].isin(known)
        if pattern != "sequential":
            mine &= taken["reader"] != _IN_CHUNKS
        table = medians(taken[mine])
        if base not in set(table["reader"]):
            continue
        table = table.assign(software=software(table, costs))
        bare = table[table["reader"] == base].set_index("nbytes")
        rest = table[(table["reader"] != base) & table["nbytes"].isin(bare.index)]
        whole = rest["nbytes"].map(bare["seconds"])
        device = (whole - rest["nbytes"].map(bare["software"])).clip(lower=0)
        found.append(
            rest[["reader", "pattern", "size", "nbytes"]].assign(
                measured=1 / rest["seconds"],
                on_top=1 / (rest["software"] + device),
                hidden=1 / np.maximum(rest["software"], whole),
            )
        )
    columns = ["reader", "pattern", "size", "nbytes", "measured", "on_top", "hidden"]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=columns)


def errors(found: pd.DataFrame) -> tuple[float, float]:
    """Return the medians of the relative errors, of costs that come on top and that are hidden.

    Examples
    --------
    >>> errors(pd.DataFrame({"measured": [10.0], "on_top": [9.0], "hidden": [12.0]}))
    (0.1, 0.2)
    """
    on_top, hidden = (
        float((found[name] / found["measured"] - 1).abs().median()) for name in ("on_top", "hidden")
    )
    return round(on_top, 12), round(hidden, 12)


def between(found: pd.DataFrame) -> int:
    """Return how many of the measured rates lie between the two, or within a tenth of one.

    Examples
    --------
    >>> between(pd.DataFrame({"measured": [10.0, 5.0], "on_top": [9.0] * 2, "hidden": [12.0] * 2}))
    1
    """
    low = found[["on_top", "hidden"]].min(axis=1) * 0.9
    high = found[["on_top", "hidden"]].max(axis=1) * 1.1
    return int(((found["measured"] >= low) & (found["measured"] <= high)).sum())
