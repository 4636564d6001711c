"""The table of what each reader costs, and how well it predicts, in words."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...measure.stats import Interval
from ..claims.words import number, percent
from .model import Costs, off
from .netcdf import NAMES


def table(costs: Sequence[Costs], found: pd.DataFrame, left: pd.DataFrame) -> pd.DataFrame:
    """Return the costs of every reader and the errors of what they predict, as text.

    Parameters
    ----------
    costs : sequence of Costs
    found : pandas.DataFrame
        From `model.rates`.
    left : pandas.DataFrame
        From `model.left_out`.
    """
    known = {each.reader: each for each in costs}
    rows = []
    for reader, name in NAMES.items():
        if reader not in known:
            continue
        each = known[reader]
        fitted = found[(found["reader"] == reader) & (found["pattern"] == "sequential")]
        rows.append(
            {
                "reader": name,
                "call, ns": _interval(each.call),
                "kB, ns": _interval(each.kb),
                "page fault, ns": _interval(each.fault),
                "off by": _percent(off(fitted)),
                "size left out": _percent(off(left[left["reader"] == reader])),
            }
        )
    return pd.DataFrame(rows)


def caption(taken: pd.DataFrame) -> str:
    """Return the caption of the table.

    Parameters
    ----------
    taken : pandas.DataFrame
        From `model.samples`.
    """
    return (
        "What a read costs from memory, in nanoseconds: for each call, each kB (10³ bytes) and "
        f"each minor page fault, with 95 % intervals over {taken['block'].nunique()} blocks. Off "
        "by: median error of the predicted rate over the sizes of buffers; size left out: the "
        "same where the predicted size took no part in the fit. A dash: too few page faults to "
        "have a cost."
    )


def fit(found: pd.DataFrame, left: pd.DataFrame) -> str:
    """Return how well three costs predict the rates.

    Parameters
    ----------
    found, left : pandas.DataFrame
        From `model.rates` and `model.left_out`.
    """
    inside = found[found["pattern"] == "sequential"]
    if inside.empty:
        return "Too few sizes of buffers were read to fit three costs."
    worst = inside.assign(off=inside["error"].abs()).sort_values("off").iloc[-1]
    lines = [
        f"Over {len(inside)} readers and sizes the rates by three costs are off by "
        f"{percent(off(inside))} (median)"
    ]
    if len(left):
        lines[0] += (
            f"; where the size that is predicted took no part in the fit, by {percent(off(left))}"
        )
    lines[0] += (
        f". Furthest off is {NAMES[str(worst['reader'])]} at {worst['size']}, "
        f"{percent(float(worst['error']), signed=True)}."
    )
    others = found[found["pattern"] != "sequential"]
    if len(others):
        lines.append(
            "Costs fitted to sequential reads predict the random and strided ones within "
            f"{percent(off(others))} (median), from the bytes that those fetch."
        )
    return " ".join(lines)


def layers(costs: Sequence[Costs]) -> str:
    """Return what the layers between C and Python add to a call.

    Parameters
    ----------
    costs : sequence of Costs
    """
    known = {each.reader: each.call for each in costs}
    steps = [
        (of, to)
        for of, to in (
            ("netcdf-c", "c-pread" if "c-pread" in known else "c-fread"),
            ("netcdf4-python-plain", "netcdf-c"),
            ("netcdf4-python", "netcdf4-python-plain"),
            ("h5py", "netcdf-c"),
            ("h5netcdf", "h5py"),
            ("xarray", "netcdf4-python"),
        )
        if of in known and to in known
    ]
    if not steps:
        return ""
    said = [
        f"{NAMES[of]} {number(known[of].value / 1e3)} µs, {_more(known[of], known[to], NAMES[to])}"
        for of, to in steps
    ]
    return f"A call costs {'; '.join(said)}."


def _more(of: Interval, to: Interval, name: str) -> str:
    if not to.value > 0:
        return f"and {name} nothing that the fit can tell"
    if of.low > to.high or of.high < to.low:
        return f"{number(of.value / to.value)} times {name}"
    return f"not told apart from {name}"


def _interval(found: Interval) -> str:
    if np.isnan(found.value):
        return "–"
    if found.n < 2:
        return number(found.value)
    return f"{number(found.value)} [{number(found.low)}, {number(found.high)}]"


def _percent(value: float) -> str:
    return "–" if np.isnan(value) else percent(value)
