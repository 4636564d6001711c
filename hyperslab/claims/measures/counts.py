"""Exact measures: counts of bytes and calls, which noise does not change."""

import numpy as np
import pandas as pd

from ...analysis.cells import Cells, MissingError
from ...measure.stats import Interval
from ...text import amount, comparison, listing, number, percent
from .common import (
    Fields,
    Measured,
    exactly,
    mapping,
    quantity,
    real,
    resampled,
    result,
    shared_groups,
    side,
)
from .common import bootstrapped as interval_of


def count(records: pd.DataFrame, fields: Fields) -> Measured:
    """A count of one configuration, or the largest or smallest of its groups, times a factor.

    Where a count differs between blocks, its range takes the place of the interval.
    """
    found = side(records, fields, "cells")
    medians = found.table.median().dropna()
    if medians.empty:
        raise MissingError("the count is missing in every block")
    cell = str(medians.idxmin() if fields.get("select") == "min" else medians.idxmax())
    factor = real(fields.get("factor", 1.0))
    value, low, high = (factor * x for x in _range(found, cell))
    unit = str(fields.get("unit", quantity(fields).unit))
    words = {"count": amount(value, unit), "cell": cell, "groups": number(len(medians))}
    return result(
        records, fields, Interval(value, low, high, len(found.table)), found, words, unit=unit
    )


def count_ratio(records: pd.DataFrame, fields: Fields) -> Measured:
    """Ratio of two counts, or its geometric mean over groups.

    Where counts differ between blocks, the range of the ratio takes the place of the interval.
    """
    of, to = side(records, fields, "of"), side(records, fields, "to")
    groups = shared_groups(of, to)
    a = np.array([_range(of, group) for group in groups])
    b = np.array([_range(to, group) for group in groups])
    if not (a > 0).all() or not (b > 0).all():
        raise MissingError("a count of zero has no ratio")
    value = _geometric(a[:, 0] / b[:, 0])
    low, high = _geometric(a[:, 1] / b[:, 2]), _geometric(a[:, 2] / b[:, 1])
    kind = quantity(fields)
    words = {
        "of": amount(_geometric(a[:, 0]), kind.unit),
        "to": amount(_geometric(b[:, 0]), kind.unit),
        "compared": comparison(value, kind.above, kind.below),
        "groups": number(len(groups)),
    }
    return result(records, fields, Interval(value, low, high, len(of.table)), of, words)


def table(records: pd.DataFrame, fields: Fields) -> Measured:
    """Worst relative deviation from a table of the document."""
    found = side(records, fields, "cells")
    scale = real(fields.get("scale", 1.0))
    expect = {cell: real(x) for cell, x in mapping(fields, "expect").items()}
    ours = found.table.median() / scale
    if lacking := [cell for cell in expect if cell not in ours.index]:
        raise MissingError(f"the records hold no {listing(lacking)}")
    deviation = {cell: float(ours[cell]) / x - 1 for cell, x in expect.items()}
    worst = max(deviation, key=lambda cell: abs(deviation[cell]))
    words = {
        "cell": worst,
        "of": number(float(ours[worst]), 4),
        "to": number(expect[worst], 4),
        "off": percent(deviation[worst], signed=True),
        "groups": number(len(expect)),
    }
    if not quantity(fields).timed:
        return result(records, fields, exactly(deviation[worst], len(expect)), found, words)
    values = found.table[worst].dropna().to_numpy(dtype="f8") / scale / expect[worst] - 1
    draws = [float(np.median(values[rows])) for rows in resampled(len(values))]
    return result(records, fields, interval_of(draws, len(values)), found, words)


def error(records: pd.DataFrame, fields: Fields) -> Measured:
    """Largest relative error of a prediction over the groups."""
    truth = side(records, fields, "cells", str(fields["truth"])).table.median()
    predicted = side(records, fields, "cells")
    off = (predicted.table.median() / truth - 1).abs().dropna()
    if off.empty:
        raise MissingError("nothing has both a prediction and its truth")
    worst = str(off.idxmax())
    value = float(off[worst])
    words = {"cell": worst, "off": percent(value), "groups": number(len(off))}
    return result(records, fields, exactly(value, len(off)), predicted, words)


def _range(found: Cells, group: str) -> tuple[float, float, float]:
    """Return median, least and most over blocks of one group."""
    values = found.table[group].dropna()
    if values.empty:
        raise MissingError("the count is missing in every block")
    return float(values.median()), float(values.min()), float(values.max())


def _geometric(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float:
    # A single count stays exact: the round trip through the logarithm would not.
    return float(values[0]) if len(values) == 1 else float(np.exp(np.log(values).mean()))
