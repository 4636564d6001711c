"""What all measures share: their fields, their result, and values paired by block."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...analysis.cells import Cells, MissingError, Where, cells, select
from ...analysis.quantities import QUANTITIES, Quantity
from ...measure.stats import Interval
from ...text import listing

Fields = Mapping[str, object]
Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

RESAMPLES = 1000
LEVEL = 0.95


@dataclass(frozen=True)
class Measured:
    """What a measure found.

    Parameters
    ----------
    value, low, high : float
        The estimate and its interval; equal for an exact count.
    n : int
        The number of blocks of a timed measure, of things counted otherwise.
    unit : str
        Of the three numbers.
    timed : bool
        Whether noise of the machine could have changed it.
    run_id : str
        The run it was measured in; "" for arithmetic on the document alone.
    experiments, cache_states : tuple of str
        Where it comes from, for the A/A pair that goes with it.
    words : mapping
        What a reason may quote, by name.

    Examples
    --------
    >>> Measured(2.0, 1.9, 2.1, 7).timed
    False
    """

    value: float
    low: float
    high: float
    n: int
    unit: str = ""
    timed: bool = False
    run_id: str = ""
    experiments: tuple[str, ...] = ()
    cache_states: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)


def result(
    records: pd.DataFrame,
    fields: Fields,
    found: Interval,
    source: Cells,
    words: Mapping[str, str],
    *,
    unit: str = "",
    timed: bool | None = None,
) -> Measured:
    """Return what was found, with the run and the experiments that it comes from."""
    sides = {name: where(fields, name) for name in ("of", "to", "cells") if name in fields}
    needed = {column for wanted in sides.values() for column in wanted}
    needed |= {"experiment", "cache_state", "ranks", "size"}
    run = records.loc[records["run_id"] == source.run_id, [c for c in records if c in needed]]
    chosen = [select(run, wanted) for wanted in sides.values()]
    used, first = pd.concat(chosen), chosen[0]
    return Measured(
        found.value,
        found.low,
        found.high,
        found.n,
        unit,
        quantity(fields).timed if timed is None else timed,
        source.run_id,
        tuple(str(name) for name in used["experiment"].unique()),
        tuple(str(name) for name in used["cache_state"].unique()),
        {**described(first), **words},
    )


def described(rows: pd.DataFrame) -> dict[str, str]:
    """Return ranks and sizes of what was measured, as a reason quotes them.

    Examples
    --------
    >>> described(pd.DataFrame({"ranks": [4.0, 4.0], "size": ["8192x8", "8192x8"]}))
    {'ranks': '4 ranks', 'size': '8192 × 8'}
    """
    ranks = [f"{n:.0f}" for n in sorted(rows["ranks"].dropna().unique())]
    sizes = [str(size).replace("x", " × ") for size in rows["size"].dropna().unique()]
    return {
        "ranks": f"{listing(ranks)} rank{'s' * (ranks != ['1'])}" if ranks else "",
        "size": listing(sizes) if sizes else "",
    }


def exactly(value: float, n: int = 1) -> Interval:
    """Return a number without an interval."""
    return Interval(value, value, value, n)


def side(records: pd.DataFrame, fields: Fields, name: str, value: str = "") -> Cells:
    """Return the values of one side of a measure, by group and block."""
    chosen = QUANTITIES[value] if value else quantity(fields)
    return cells(records, where(fields, name), chosen, phases(fields), over(fields))


def shared_groups(of: Cells, to: Cells) -> list[str]:
    """Return the groups that both sides of a comparison have."""
    groups = [group for group in of.groups if group in to.groups]
    if not groups:
        raise MissingError("the two sides of the comparison share no group")
    return groups


def paired(
    of: pd.DataFrame, to: pd.DataFrame, groups: Sequence[str]
) -> list[tuple[Floats, Floats]]:
    """Return both sides of each group over the blocks in which all of them were measured."""
    both = pd.concat([of[list(groups)], to[list(groups)]], axis=1, join="inner").dropna()
    if both.empty:
        raise MissingError("no block holds all that is compared")
    values, n = both.to_numpy(dtype="f8"), len(groups)
    return [(values[:, i], values[:, n + i]) for i in range(n)]


def resampled(blocks: int, seed: int = 0) -> list[Rows]:
    """Return row numbers: first the blocks as measured, then bootstrap samples of them."""
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, blocks, (RESAMPLES, blocks), dtype=np.int64)
    return [np.arange(blocks), *draws]


def bootstrapped(draws: Sequence[float] | Floats, n: int) -> Interval:
    """Return an estimate and its interval; the first draw is the estimate."""
    values = np.asarray(draws, dtype="f8")
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="nearest")
    first = float(values[0])
    return Interval(first, min(float(low), first), max(float(high), first), n)


def medians(values: Floats) -> Floats:
    """Return the median of each column; NaN for a column without values.

    Examples
    --------
    >>> medians(np.array([[1.0, np.nan], [3.0, np.nan]]))
    array([ 2., nan])
    """
    ordered = np.sort(values, axis=0)  # NaN comes last
    n = np.sum(~np.isnan(ordered), axis=0)
    columns = np.arange(ordered.shape[1])
    low, high = np.maximum(n - 1, 0) // 2, n // 2
    high = np.minimum(high, np.maximum(n - 1, 0))
    middle: Floats = (ordered[low, columns] + ordered[high, columns]) / 2
    return middle


def quantity(fields: Fields) -> Quantity:
    """Return the quantity a measure is of."""
    return QUANTITIES[str(fields["value"])]


def where(fields: Fields, name: str) -> Where:
    """Return the filter of one side: the common one, and the side's own on top."""
    return {**mapping(fields, "where"), **mapping(fields, name)}


def phases(fields: Fields) -> tuple[str, ...]:
    """Return the phases whose values are summed."""
    return texts(fields.get("phases", ()))


def over(fields: Fields) -> tuple[str, ...]:
    """Return the columns that make groups."""
    return texts(fields.get("over", ()))


def texts(value: object) -> tuple[str, ...]:
    """Return one text or a list of them as a tuple."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()


def mapping(fields: Fields, name: str) -> dict[str, object]:
    """Return a field that is a mapping; empty when it is absent."""
    value = fields.get(name, {})
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is {value!r}: give a mapping")
    return {str(key): item for key, item in value.items()}


def real(value: object) -> float:
    """Return a number, or a quotient of two written as text.

    Examples
    --------
    >>> real(2), real("279 / 351")
    (2.0, 0.7948717948717948)
    """
    if isinstance(value, str):
        top, slash, bottom = value.partition("/")
        try:
            return float(top) / float(bottom) if slash else float(top)
        except (ValueError, ZeroDivisionError) as error:
            raise ValueError(f"{value!r} is no number: give one, or a quotient a / b") from error
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number: give one, or a quotient a / b")
    return float(value)
