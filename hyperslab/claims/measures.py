"""Measures: how a number with an interval is made from the records of a notebook."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from ..analysis import cost
from ..analysis.break_even import costs
from ..analysis.cells import Cells, MissingError, select
from ..analysis.compare import of_blocks, ratio_of
from ..measure.stats import geometric_mean_ratio, median_interval, over_runs
from ..network import Link
from ..text import SHARE, Interval, amount, comparison, listing, number, percent
from .claim_fields import Fields, mapping, over, phases, quantity, real, texts, where
from .measured import (
    Measured,
    as_measured,
    column_medians,
    comparison_words,
    decided,
    exactly,
    extreme,
    geometric_mean,
    interval_of,
    medians_of,
    one_against_another,
    paired_sides,
    product_of,
    range_of,
    resampled,
    shared_groups,
    shared_hits,
    side,
    side_words,
    single_group,
    typical,
)
from .reasons import SENTENCES

# From the records of a notebook, and the fields.
Compute = Callable[[pd.DataFrame, Fields], Measured]


@dataclass(frozen=True)
class Kind:
    """A kind of measure."""

    compute: Compute
    required: tuple[str, ...]  # fields
    optional: tuple[str, ...]  # fields
    words: tuple[str, ...]  # what a reason may quote, beside `COMMON_WORDS`
    records: bool = True  # False for arithmetic on the document's own numbers
    timed: bool | None = None  # whether it takes timed quantities or exact ones; None for both


COMMON_WORDS = ("value", "exact", "interval", "document")
KINDS: dict[str, Kind] = {}


def _kind(
    name: str, required: str, optional: str, words: str, *, timed: bool | None = None
) -> Callable[[Compute], Compute]:
    """Enter a measure into `KINDS`, with its fields and the words that its reasons may quote."""
    records = not name.startswith("document_")
    more = (*optional.split(), *(("where", "phases", "notebook") if records else ()))

    def entered(compute: Compute) -> Compute:
        fields, quotable = tuple(required.split()), tuple(words.split())
        KINDS[name] = Kind(compute, fields, more, quotable, records, timed)
        return compute

    return entered


# Timed measures: ratios paired by block, with intervals.


@_kind(
    "ratio",
    "value of to",
    "over counting against",
    "of to compared groups ranks size of_count to_count",
    timed=True,
)
def ratio(records: pd.DataFrame, fields: Fields) -> Measured:
    """Paired ratio of two configurations, or its geometric mean over groups."""
    of, to = side(records, fields, "of"), side(records, fields, "to")
    pairs, groups = paired_sides(of, to)
    other = list[Cells]()
    if "against" in fields:  # what differs in both sides of a ratio that this one is divided by
        second = {n: {**mapping(fields, n), **mapping(fields["against"], n)} for n in ("of", "to")}
        other = [side(records, {**fields, **second}, name) for name in ("of", "to")]
        pairs, groups = paired_sides(product_of(of, other[1]), product_of(to, other[0]))
    estimate = ratio_of(pairs, quantity(fields))
    words = comparison_words(fields, estimate, typical(of, groups), typical(to, groups), groups)
    if "counting" in fields:
        for name in ("of", "to"):
            counts = side(records, fields, name, str(fields["counting"]))
            words[f"{name}_count"] = number(typical(counts, groups))
    return as_measured(fields, estimate, [of, to, *other], words)


@_kind(
    "over_link",
    "of to rate round_trip_s",
    "over",
    "of of_system to compared groups ranks size",
    timed=True,
)
def over_link(records: pd.DataFrame, fields: Fields) -> Measured:
    """Paired ratio of the seconds that two reads would take over a link, by the cost model."""
    link = Link(real(fields["rate"]), real(fields["round_trip_s"]))
    rows = select(records, mapping(fields, "where"))
    linked = ratio(cost.over(rows, link), {**fields, "value": "wall_s"})
    system = side(records, fields, "of", "sys_s").table.median()
    return replace(linked, words={**linked.words, "of_system": amount(float(system.mean()), "s")})


@_kind("level", "value cells", "over", "count groups", timed=True)
def level(records: pd.DataFrame, fields: Fields) -> Measured:
    """Median over blocks of one configuration, or of the mean over groups."""
    cells, kind = side(records, fields, "cells"), quantity(fields)
    estimate = of_blocks(cells.table.dropna().mean(axis=1), kind)
    if not estimate.n:
        raise MissingError("no block holds all the groups of the measure")
    words = {"count": amount(estimate.value, kind.unit), "groups": number(len(cells.groups))}
    return as_measured(fields, estimate, [cells], words, unit=kind.unit)


@_kind("at_rate", "of to rate counting", "over", "of to compared groups", timed=True)
def at_rate(records: pd.DataFrame, fields: Fields) -> Measured:
    """Ratio of speeds, where bytes cost what they do on a device of a rate and CPU what it does."""
    fields = {**fields, "value": "wall_s"}
    device, counted = real(fields["rate"]), str(fields["counting"])

    def seconds(name: str) -> Cells:
        cpu, sizes = (side(records, fields, name, value) for value in ("cpu_s", counted))
        return replace(cpu, table=cpu.table + sizes.table / device)

    of, to = seconds("of"), seconds("to")
    pairs, groups = paired_sides(to, of)
    estimate = geometric_mean_ratio(pairs)  # bytes over a rate, in the main, are alike in all runs
    sides = typical(of, groups), typical(to, groups)
    compared = decided(estimate, sides[1] / sides[0], "faster", "slower")
    words = {"compared": compared, **side_words(*sides, "s", groups)}
    return as_measured(fields, estimate, [of, to], words)


@_kind("means", "ratios", "", "groups", timed=True)
def means(records: pd.DataFrame, fields: Fields) -> Measured:
    """Geometric mean of ratios of several experiments, whose blocks are not the same ones."""
    listed = fields["ratios"]
    assert isinstance(listed, list)
    shared = {name: fields[name] for name in ("where", "phases") if name in fields}
    ratios, sources = [], list[Cells]()
    for ratio_fields in listed:
        sides = [side(records, {**shared, **ratio_fields}, name) for name in ("of", "to")]
        pairs, _ = paired_sides(*sides)
        ratios.append(np.exp(np.mean([np.log(a / b) for a, b in pairs], axis=0)))
        sources += sides
    blocks = min(map(len, ratios))  # which are independent: any of one goes with any other
    found = geometric_mean_ratio([(each[:blocks], np.ones(blocks)) for each in ratios])
    estimate = over_runs(found)
    return as_measured(fields, estimate, sources, {"groups": number(len(listed))}, timed=True)


@_kind("difference", "value of to", "over", "of to groups", timed=True)
def difference(records: pd.DataFrame, fields: Fields) -> Measured:
    """How much more one configuration has than another, by block, in the unit of the value."""
    of, to = side(records, fields, "of"), side(records, fields, "to")
    pairs, groups = paired_sides(of, to)
    by_block = median_interval(np.mean([a - b for a, b in pairs], axis=0))
    kind = quantity(fields)
    words = side_words(typical(of, groups), typical(to, groups), kind.unit, groups)
    return as_measured(fields, by_block, [of, to], words, unit=kind.unit)


@_kind("scatter", "value of to", "over", "of to compared groups", timed=True)
def scatter(records: pd.DataFrame, fields: Fields) -> Measured:
    """How many times as far from their medians a side's blocks lie as the other's, by block."""
    # The test of variances of Brown & Forsythe 1974 compares these deviations.
    of, to = side(records, fields, "of"), side(records, fields, "to")
    pairs, groups = paired_sides(of, to)
    apart = [[np.abs(np.log(values / np.median(values))) for values in pair] for pair in pairs]
    first, second = np.maximum(np.mean(apart, axis=0), 1e-9)  # of each block, over groups
    estimate = geometric_mean_ratio([(first, second)])
    compared = comparison(estimate.value, "more", "less")
    sides = side_words(float(first.mean()), float(second.mean()), SHARE, groups)
    return as_measured(fields, estimate, [of, to], {"compared": compared, **sides})


@_kind("spread", "value cells over", "", "top bottom of to compared groups")
def spread(records: pd.DataFrame, fields: Fields) -> Measured:
    """Largest over smallest of the groups, paired by block; which of the two is larger is open."""
    cells = side(records, fields, "cells")
    medians = medians_of(cells)
    top, bottom = (extreme(medians, select) for select in ("max", "min"))
    words = {"top": top, "bottom": bottom}
    found = one_against_another(fields, cells, medians, top, bottom, words)
    if found.low >= 1:
        return found
    value, high = max(found.value, 1 / found.value), max(found.high, 1 / found.low)
    return replace(found, value=value, low=1.0, high=high)


@_kind("best", "value cells over expect select", "", "expected winner rival of to compared groups")
def best(records: pd.DataFrame, fields: Fields) -> Measured:
    """The group the document names best over the best of the others, paired by block."""
    cells, expect = side(records, fields, "cells"), str(fields["expect"])
    medians = medians_of(cells)
    if expect not in medians.index:
        raise MissingError(f"the records hold no {expect}")
    winner, rival = (extreme(each, fields["select"]) for each in (medians, medians.drop(expect)))
    words = {"expected": expect, "rival": rival, "winner": winner}
    return one_against_another(fields, cells, medians, expect, rival, words)


@_kind("break_even", "of to over", "", "saved spent count", timed=True)
def break_even(records: pd.DataFrame, fields: Fields) -> Measured:
    """Device rate at which the bytes saved are worth the CPU time spent, in bytes/s."""
    (by, own), (_, plain) = (next(iter(mapping(fields, name).items())) for name in ("of", "to"))
    filters = {**mapping(fields, "where"), by: [own, plain]}
    (over_label,) = over(fields)
    rows = costs(records, by, over_label, str(plain), phases(fields), filters)
    if own not in rows.index:
        raise MissingError("no block holds all that is compared")
    row = rows.loc[str(own)].to_dict()
    words = {
        "saved": amount(row["plain_bytes"] - row["bytes"], "B"),
        "spent": amount(row["extra_s"].value, "s"),
        "count": amount(row["rate"].value, "B/s"),
    }
    sources = [side(records, {**fields, "value": "cpu_s"}, name) for name in ("of", "to")]
    return as_measured(fields, row["rate"], sources, words, unit="B/s", timed=True)


# Exact measures: counts of bytes and calls, which noise does not change.


@_kind("count", "value cells", "over select factor unit", "count cell groups", timed=False)
def count(records: pd.DataFrame, fields: Fields) -> Measured:
    """A count of one configuration, or the largest or smallest of its groups, times a factor."""
    # Where a count differs between blocks, its range takes the place of the interval.
    cells = side(records, fields, "cells")
    medians = medians_of(cells, 1)
    cell = extreme(medians, fields.get("select"))
    factor = real(fields.get("factor", 1.0))
    value, low, high = (factor * x for x in range_of(cells, cell))
    unit = str(fields.get("unit", quantity(fields).unit))
    words = {"count": amount(value, unit), "cell": cell, "groups": number(len(medians))}
    estimate = Interval(value, low, high, len(cells.table))
    return as_measured(fields, estimate, [cells], words, unit=unit)


@_kind("count_ratio", "value of to", "over select", "of to compared groups ranks size", timed=False)
def count_ratio(records: pd.DataFrame, fields: Fields) -> Measured:
    """Ratio of two counts, or its geometric mean over groups, or of each side's extreme group."""
    # Where counts differ between blocks, the range of the ratio takes the place of the interval.
    of, to = side(records, fields, "of"), side(records, fields, "to")
    if select := fields.get("select"):
        of, to = (single_group(each, extreme(medians_of(each, 1), select)) for each in (of, to))
    groups = shared_groups(of, to)
    a = np.array([range_of(of, group) for group in groups])
    b = np.array([range_of(to, group) for group in groups])
    if not (a > 0).all() or not (b > 0).all():
        raise MissingError("a count of zero has no ratio")
    value = geometric_mean(a[:, 0] / b[:, 0])
    low, high = geometric_mean(a[:, 1] / b[:, 2]), geometric_mean(a[:, 2] / b[:, 1])
    kind = quantity(fields)
    compared = comparison(value, kind.above, kind.below)
    sides = geometric_mean(a[:, 0]), geometric_mean(b[:, 0])
    words = {"compared": compared, **side_words(*sides, kind.unit, groups)}
    return as_measured(fields, Interval(value, low, high, len(of.table)), [of, to], words)


@_kind("table", "value cells over expect", "scale", "cell of to off groups")
def table(records: pd.DataFrame, fields: Fields) -> Measured:
    """Worst relative deviation from a table of the document."""
    cells = side(records, fields, "cells")
    expect = {cell: real(x) for cell, x in mapping(fields, "expect").items()}
    values = cells.table / real(fields.get("scale", 1.0))
    ours = values.median()
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
        return as_measured(fields, exactly(deviation[worst], len(expect)), [cells], words)
    off = values[worst].dropna().to_numpy(dtype="f8") / expect[worst] - 1
    estimate = median_interval(off)
    return as_measured(fields, estimate, [cells], words)


@_kind("error", "value cells over truth", "", "cell off groups", timed=False)
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
    return as_measured(fields, exactly(value, len(off)), [predicted], words)


# In how many groups something is so.


@_kind("share", "value cells over", "at_least at_most", "hits groups examples")
def share(records: pd.DataFrame, fields: Fields) -> Measured:
    """Share of the groups whose value lies within bounds."""
    cells = side(records, fields, "cells")
    low, high = real(fields.get("at_least", -np.inf)), real(fields.get("at_most", np.inf))
    inside = cells.table.median().dropna().between(low, high)
    middle = column_medians(resampled(fields, cells.table[inside.index]))
    return shared_hits(fields, cells, inside, (middle >= low) & (middle <= high), len(cells.table))


@_kind("order", "value cells over expect", "", "hits groups examples")
def order(records: pd.DataFrame, fields: Fields) -> Measured:
    """Share of neighbours, in the order in which the document lists the groups, that rise."""
    cells, expect = side(records, fields, "cells"), list(texts(fields["expect"]))
    if lacking := [name for name in expect if name not in cells.groups]:
        raise MissingError(f"the records hold no {listing(lacking)}")
    rises = np.diff(column_medians(resampled(fields, cells.table[expect]))) > 0
    names = [f"{first} to {second}" for first, second in pairwise(expect)]
    return shared_hits(fields, cells, pd.Series(rises[0], names), rises, len(cells.table))


@_kind("wins", "value of to over", "select margin", "hits groups examples")
def wins(records: pd.DataFrame, fields: Fields) -> Measured:
    """Share of the groups in which one configuration's value is at most the other's."""
    # What is larger by up to the margin, as a share, is comparable, and does not lose.
    of, to = side(records, fields, "of"), side(records, fields, "to")
    groups = shared_groups(of, to)
    blocks = of.table.index.intersection(to.table.index)
    statistic = str(fields.get("select", "median"))
    limits = to.table[groups] * (1 + real(fields.get("margin", 0)))
    inside = of.table.loc[blocks, groups].agg(statistic) <= limits.loc[blocks].agg(statistic)
    extremes = {"min": partial(np.nanmin, axis=-2), "max": partial(np.nanmax, axis=-2)}
    reduce = extremes.get(statistic, column_medians)
    a, b = (reduce(resampled(fields, table.loc[blocks, groups])) for table in (of.table, limits))
    return shared_hits(fields, of, inside, a <= b, len(blocks))


@_kind("ranking", "value cells over groups expect", "", "ours hits", timed=True)
def ranking(records: pd.DataFrame, fields: Fields) -> Measured:
    """Mean share, over cells, of the document's fastest few that are among our fastest few."""
    draws, notes, blocks, sources = [], [], [], []
    for cell, names in mapping(fields, "expect").items():
        chosen = {**fields, "cells": {**mapping(fields, "cells"), str(fields["groups"]): cell}}
        cells, expect = side(records, chosen, "cells"), texts(names)
        order = np.argsort(column_medians(resampled(fields, cells.table)))
        fastest = np.array(cells.groups)[order[:, : len(expect)]]
        draws.append(np.isin(fastest, expect).sum(axis=1) / len(expect))
        notes.append(f"{cell.rstrip('/*')}: {', '.join(fastest[0])}")
        # A reader that was left out of some blocks is known as poorly as it was measured.
        blocks.append(int(cells.table.notna().sum().min()))
        sources.append(cells)
    if not draws:
        raise MissingError("the ranking names no cell")
    estimate = interval_of(np.mean(draws, axis=0), min(blocks))
    words = {"ours": "; ".join(notes), "hits": percent(estimate.value)}
    return as_measured(fields, estimate, sources, words)


@_kind("ability", "cells", "", "outcome")
def ability(records: pd.DataFrame, fields: Fields) -> Measured:
    """Share of the cases that work, of those that were tried."""
    # A status that begins with "missing" says that something it needs is not installed here.
    rows = select(records, where(fields, "cells"))
    untried = rows["status"].str.startswith("missing")
    if untried.all():
        raise MissingError(str(rows["status"].iloc[0]) if len(rows) else "it was not tried")
    rows = rows[~untried]
    rows = rows[rows["run_id"] == rows["run_id"].iloc[-1]]
    works = rows["status"].eq("ok").groupby(rows["case"]).any()
    value = float(works.mean())
    outcome = SENTENCES["works" if value == 1 else "some work" if value else "fails"]
    words = {"outcome": outcome.format(share=percent(value))}
    experiments = tuple(str(name) for name in rows["experiment"].unique())
    run = str(rows["run_id"].iloc[-1])
    return Measured(
        value, value, value, len(works), run_id=run, experiments=experiments, words=words
    )


# Arithmetic on a document's own numbers; the records play no part.


@_kind("document_spread", "pairs", "", "of to off groups")
def document_spread(records: pd.DataFrame, fields: Fields) -> Measured:
    """Largest difference between pairs that the document measured twice, as a share."""
    rows = fields["pairs"]
    if not isinstance(rows, list) or not all(isinstance(r, list) and len(r) == 2 for r in rows):
        raise ValueError(f"pairs is {rows!r}: give a list of pairs of numbers")
    off = {(real(a), real(b)): max(real(a), real(b)) / min(real(a), real(b)) - 1 for a, b in rows}
    of, to = max(off, key=lambda pair: off[pair])
    value = off[of, to]
    words = {"of": number(of), "to": number(to), "off": percent(value), "groups": str(len(rows))}
    return Measured(value, value, value, len(rows), words=words)


@_kind("document_inside", "pairs differences awarded_from", "", "hits groups off examples")
def document_inside(records: pd.DataFrame, fields: Fields) -> Measured:
    """How many of the differences the document awards lie inside its own repeatability."""
    limit = document_spread(records, fields).value
    differences = {name: real(x) for name, x in mapping(fields, "differences").items()}
    awarded = {name: x for name, x in differences.items() if x > real(fields["awarded_from"])}
    within = [name for name, x in awarded.items() if x <= limit]
    value = float(len(within))
    words = {
        "hits": number(value),
        "groups": number(len(awarded)),
        "off": percent(limit),
        "examples": listing(within, most=6),
    }
    return Measured(value, value, value, len(awarded), words=words)


@_kind("document_quotient", "amount per", "unit", "count")
def document_quotient(records: pd.DataFrame, fields: Fields) -> Measured:
    """One number of the document over another."""
    value, unit = real(fields["amount"]) / real(fields["per"]), str(fields.get("unit", ""))
    return Measured(value, value, value, 1, unit=unit, words={"count": amount(value, unit)})
