"""Measures that count groups: in how many of them something is so."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from ...analysis.cells import MissingError, cells, select
from ...measure.stats import Interval
from ...text import listing, number, percent
from .common import (
    Fields,
    Measured,
    Rows,
    bootstrapped,
    exactly,
    mapping,
    medians,
    over,
    phases,
    quantity,
    real,
    resampled,
    result,
    shared_groups,
    side,
    texts,
    where,
)


def share(records: pd.DataFrame, fields: Fields) -> Measured:
    """Share of the groups whose value lies within bounds."""
    found = side(records, fields, "cells")
    low, high = real(fields.get("at_least", -np.inf)), real(fields.get("at_most", np.inf))
    inside = found.table.median().dropna().between(low, high)
    values = found.table[inside.index].to_numpy(dtype="f8")

    def hits(rows: Rows) -> float:
        middle = medians(values[rows])
        return float(np.mean((middle >= low) & (middle <= high)))

    estimate = _estimate(hits, len(values), float(inside.mean()), quantity(fields).timed)
    return result(records, fields, estimate, found, _words(inside))


def wins(records: pd.DataFrame, fields: Fields) -> Measured:
    """Share of the groups in which one configuration's value is at most the other's."""
    of, to = side(records, fields, "of"), side(records, fields, "to")
    groups = shared_groups(of, to)
    inside = of.table[groups].median() <= to.table[groups].median()
    blocks = of.table.index.intersection(to.table.index)
    a = of.table.loc[blocks, groups].to_numpy(dtype="f8")
    b = to.table.loc[blocks, groups].to_numpy(dtype="f8")

    def hits(rows: Rows) -> float:
        return float(np.mean(medians(a[rows]) <= medians(b[rows])))

    estimate = _estimate(hits, len(blocks), float(inside.mean()), quantity(fields).timed)
    return result(records, fields, estimate, of, _words(inside))


def ranking(records: pd.DataFrame, fields: Fields) -> Measured:
    """Mean share, over cells, of the document's fastest few that are among our fastest few."""
    draws, notes, blocks = [], [], []
    found = None
    for cell, names in mapping(fields, "expect").items():
        rows = {**where(fields, "cells"), str(fields["groups"]): cell}
        found = cells(records, rows, quantity(fields), phases(fields), over(fields))
        expect = texts(names)
        values = found.table.to_numpy(dtype="f8")
        readers = np.array([str(name) for name in found.groups])
        overlaps = []
        for block in resampled(len(values)):
            fastest = readers[np.argsort(medians(values[block]))[: len(expect)]]
            overlaps.append(len(set(fastest) & set(expect)) / len(expect))
            if len(overlaps) == 1:
                notes.append(f"{cell.rstrip('/*')}: {', '.join(fastest)}")
        draws.append(overlaps)
        # A reader that was left out of some blocks is known as poorly as it was measured.
        blocks.append(int(found.table.notna().sum().min()))
    if found is None:
        raise MissingError("the ranking names no cell")
    estimate = bootstrapped(np.mean(draws, axis=0), min(blocks))
    words = {"ours": "; ".join(notes), "hits": percent(estimate.value)}
    return result(records, {**fields, "cells": {}}, estimate, found, words)


def ability(records: pd.DataFrame, fields: Fields) -> Measured:
    """Share of the cases that work, of those that were tried.

    A status that begins with "missing" says that something it needs is not installed here.
    """
    rows = select(records, where(fields, "cells"))
    untried = rows["status"].str.startswith("missing")
    if untried.all():
        raise MissingError(str(rows["status"].iloc[0]) if len(rows) else "it was not tried")
    rows = rows[~untried]
    rows = rows[rows["run_id"] == rows["run_id"].iloc[-1]]
    works = rows["status"].eq("ok").groupby(rows["case"]).any()
    failed = rows[rows["case"].isin(works.index[~works])]
    value = float(works.mean())
    outcome = "it works" if value == 1 else "it fails" if value == 0 else f"{percent(value)} work"
    words = {"outcome": outcome, "detail": "" if failed.empty else str(failed["status"].iloc[0])}
    return Measured(
        value,
        value,
        value,
        len(works),
        run_id=str(rows["run_id"].iloc[-1]),
        experiments=tuple(str(name) for name in rows["experiment"].unique()),
        words=words,
    )


def _estimate(hits: Callable[[Rows], float], blocks: int, value: float, timed: bool) -> Interval:
    if not timed:
        return exactly(value, blocks)
    return bootstrapped([hits(rows) for rows in resampled(blocks)], blocks)


def _words(inside: "pd.Series[bool]") -> dict[str, str]:
    outside = [str(group) for group in inside.index[~inside.to_numpy(dtype=bool)]]
    return {
        "hits": number(int(inside.sum())),
        "groups": number(len(inside)),
        "examples": listing(outside),
    }
