"""The table of what each reader costs, and how well it predicts, in words."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...measure.stats import Interval
from ...text import ENOUGH, listing, number, percent
from .model import Costs, off
from .netcdf import NAMES

_LARGE = 16 * 2**20


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


def caption(costs: Sequence[Costs]) -> str:
    """Return the caption of the table.

    Parameters
    ----------
    costs : sequence of Costs
    """
    enough = sorted({each.call.n for each in costs if each.call.n >= ENOUGH})
    told = (
        f", with 95 % intervals over {listing([str(n) for n in enough])} blocks" if enough else ""
    )
    return (
        "What a read costs from memory, in nanoseconds: for each call, each kB (10³ bytes) and "
        f"each minor page fault{told}. Off "
        "by: median error of the predicted rate over the sizes of buffers; size left out: the "
        "same where the predicted size took no part in the fit. A dash: too few page faults to "
        f"have a cost. Without an interval: fewer than {ENOUGH} blocks."
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
        f"{percent(float(worst['error']), signed=True)}.{_large(inside)}"
    )
    others = found[found["pattern"] != "sequential"]
    if len(others):
        lines.append(
            "Costs fitted to sequential reads predict the random and strided ones within "
            f"{percent(off(others))} (median), from the bytes that those fetch."
        )
    return " ".join(lines)


def _large(inside: pd.DataFrame) -> str:
    """Say how far off the largest buffers are, which have a cause that three costs do not hold."""
    large = inside[inside["nbytes"] > _LARGE]
    rest = inside[inside["nbytes"] <= _LARGE]
    if large.empty or rest.empty or off(large) < 2 * off(rest):
        return ""
    signed = float(large["error"].median())
    return (
        f" Up to 16 MiB they are off by {percent(off(rest))}, above by {percent(off(large))} "
        f"({percent(signed, signed=True)} with its sign), which calls, bytes and faults do not "
        "explain."
    )


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
    if found.n < ENOUGH:
        return number(found.value)
    if not found.low > 0:
        return f"{number(found.high)} at most"
    return f"{number(found.value)} [{number(found.low)}, {number(found.high)}]"


def _percent(value: float) -> str:
    return "–" if np.isnan(value) else percent(value)
