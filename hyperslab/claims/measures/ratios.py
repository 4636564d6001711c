"""Timed measures: ratios paired by block, with bootstrap intervals."""

import numpy as np
import pandas as pd

from ...analysis.break_even import rate
from ...analysis.cells import Cells, MissingError, cells
from ...analysis.quantities import QUANTITIES
from ...measure.stats import Interval, geometric_mean_ratio, median_interval, paired_ratio
from ...text import amount, comparison, number
from .common import (
    Fields,
    Measured,
    bootstrapped,
    over,
    paired,
    phases,
    quantity,
    result,
    shared_groups,
    side,
    where,
)


def ratio(records: pd.DataFrame, fields: Fields) -> Measured:
    """Paired ratio of two configurations, or its geometric mean over groups."""
    of, to = side(records, fields, "of"), side(records, fields, "to")
    groups = shared_groups(of, to)
    pairs = paired(of.table, to.table, groups)
    found = geometric_mean_ratio(pairs) if len(pairs) > 1 else paired_ratio(*pairs[0])
    words = _compared(fields, found, typical(of, groups), typical(to, groups), len(groups))
    if "counting" in fields:
        for name in ("of", "to"):
            counts = side(records, fields, name, str(fields["counting"]))
            words[f"{name}_count"] = number(typical(counts, groups))
    return result(records, fields, found, of, words)


def level(records: pd.DataFrame, fields: Fields) -> Measured:
    """Median over blocks of one configuration, or of the mean over groups."""
    found = side(records, fields, "cells")
    per_block = found.table.dropna().mean(axis=1)
    if per_block.empty:
        raise MissingError("no block holds all the groups of the measure")
    unit = quantity(fields).unit
    estimate = median_interval(per_block.to_numpy())
    words = {"count": amount(estimate.value, unit), "groups": number(len(found.groups))}
    return result(records, fields, estimate, found, words, unit=unit)


def spread(records: pd.DataFrame, fields: Fields) -> Measured:
    """Largest over smallest of the groups, paired by block."""
    found = side(records, fields, "cells")
    medians = _medians(found)
    top, bottom = str(medians.idxmax()), str(medians.idxmin())
    words = {"top": top, "bottom": bottom}
    return _one_against_another(records, fields, found, medians, top, bottom, words)


def best(records: pd.DataFrame, fields: Fields) -> Measured:
    """The group the document names best over the best of the others, paired by block.

    When the document's is ours too, the ratio is above one for ``select: max`` and below one for
    ``select: min``.
    """
    found = side(records, fields, "cells")
    medians = _medians(found)
    expect = str(fields["expect"])
    if expect not in medians.index:
        raise MissingError(f"the records hold no {expect}")
    others = medians.drop(expect)
    largest = fields["select"] == "max"
    rival = str(others.idxmax() if largest else others.idxmin())
    winner = str(medians.idxmax() if largest else medians.idxmin())
    words = {"expected": expect, "rival": rival, "winner": winner}
    return _one_against_another(records, fields, found, medians, expect, rival, words)


def break_even(records: pd.DataFrame, fields: Fields) -> Measured:
    """Device rate at which the bytes saved are worth the CPU time spent, in bytes/s."""
    cpu, size = QUANTITIES["cpu_s"], QUANTITIES["file_bytes"]
    spent, stored = {}, {}
    for name in ("of", "to"):
        rows = where(fields, name)
        spent[name] = cells(records, rows, cpu, phases(fields), over(fields))
        stored[name] = cells(records, rows, size, (), over(fields)).table.median()
    groups = shared_groups(spent["of"], spent["to"])
    pairs = paired(spent["of"].table, spent["to"].table, groups)
    extra_s = np.mean([of - to for of, to in pairs], axis=0)
    saved = float(np.mean([stored["to"][group] - stored["of"][group] for group in groups]))
    middle = median_interval(extra_s)
    pays = rate(saved, middle)
    found = bootstrapped([pays.value, pays.low, pays.high], middle.n)
    words = {
        "saved": amount(saved, "B"),
        "spent": amount(middle.value, "s"),
        "count": amount(pays.value, "B/s"),
    }
    return result(records, fields, found, spent["of"], words, unit="B/s", timed=True)


def typical(found: Cells, groups: list[str]) -> float:
    """Return the geometric mean over groups of the medians over blocks."""
    return float(np.exp(np.log(found.table[groups].median()).mean()))


def _medians(found: Cells) -> "pd.Series[float]":
    medians = found.table.median().dropna()
    if len(medians) < 2:
        raise MissingError("the records hold fewer than two of what is compared")
    return medians


def _one_against_another(
    records: pd.DataFrame,
    fields: Fields,
    found: Cells,
    medians: "pd.Series[float]",
    of: str,
    to: str,
    words: dict[str, str],
) -> Measured:
    [(a, b)] = paired(found.table[[of]], found.table[[to]].set_axis([of], axis=1), [of])
    estimate = paired_ratio(a, b)
    compared = _compared(fields, estimate, float(medians[of]), float(medians[to]), len(medians))
    return result(records, fields, estimate, found, words | compared)


def _compared(fields: Fields, found: Interval, of: float, to: float, groups: int) -> dict[str, str]:
    kind = quantity(fields)
    return {
        "of": amount(of, kind.unit),
        "to": amount(to, kind.unit),
        "compared": _decided(found, of / to, kind.above, kind.below),
        "groups": number(groups),
    }


def _decided(paired: Interval, typical: float, above: str, below: str) -> str:
    """Return the ratio in words, and which decides where medians have the other direction.

    Ratios within blocks decide: what slows a whole block down is in both sides of them. A reason
    gives the median of each side too, and these two may come from different blocks.

    Examples
    --------
    >>> _decided(Interval(1.2, 1.1, 1.3, 7), 1.1, "slower", "faster")
    '20 % slower'
    >>> _decided(Interval(0.97, 0.76, 1.45, 7), 1.09, "faster", "slower")
    'not told apart [0.76, 1.45]'
    >>> _decided(Interval(0.97, 0.96, 0.98, 7), 1.09, "faster", "slower").partition("; ")[0]
    '3 % slower within blocks, which decides'
    """
    if (paired.value - 1) * (typical - 1) >= 0:
        return comparison(paired.value, above, below)
    said = comparison(paired, above, below)
    if paired.contains(1):
        return said
    return f"{said} within blocks, which decides; the medians over all blocks lie the other way"
