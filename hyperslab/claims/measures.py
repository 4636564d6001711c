"""Measures: how a number with an interval is made from the records of a notebook.

Each kind is a small function; `KINDS` has them under the names that book/claims.yml gives them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..analysis import cost
from ..analysis.break_even import costs
from ..analysis.cells import Cells, MissingError, Where, cells, select
from ..analysis.compare import of_blocks, paired, ratio_of
from ..analysis.quantities import QUANTITIES, Quantity
from ..analysis.quantities import quantity as by_name
from ..measure.stats import geometric_mean_ratio, median_interval
from ..network import Link
from ..text import ENOUGH, SHARE, Interval, amount, comparison, listing, number, percent
from .reasons import SENTENCES

Fields = Mapping[str, object]
Words = dict[str, str]
Floats = NDArray[np.float64]

RESAMPLES = 1000
LEVEL = 0.95


@dataclass(frozen=True)
class Measured:
    """What a measure found.

    Examples
    --------
    >>> Measured(2.0, 1.9, 2.1, 7).timed
    False
    """

    value: float  # the estimate
    low: float  # its interval; equal to it for an exact count
    high: float
    n: int  # blocks of a timed measure, of things counted otherwise
    unit: str = ""  # of the three numbers
    timed: bool = False  # whether noise of the machine could have changed it
    run_id: str = ""  # "" for arithmetic on the document alone
    experiments: tuple[str, ...] = ()  # where it comes from, for the A/A pair that goes with it
    cache_states: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)  # what a reason may quote, by name
    enough: int = ENOUGH  # blocks from which on the interval says something


@dataclass(frozen=True)
class Kind:
    """A kind of measure."""

    # from the records of a notebook, and the fields
    compute: Callable[[pd.DataFrame, Fields], Measured]
    required: tuple[str, ...]  # fields
    optional: tuple[str, ...]  # fields
    words: tuple[str, ...]  # what a reason may quote, beside `COMMON_WORDS`
    records: bool = True  # False for arithmetic on the document's own numbers
    timed: bool | None = None  # whether it takes timed quantities or exact ones; None for both


COMMON_WORDS = ("value", "exact", "interval", "document")
KINDS: dict[str, Kind] = {}
_Compute = TypeVar("_Compute", bound=Callable[[pd.DataFrame, Fields], Measured])


def _kind(
    name: str, required: str, optional: str, words: str, *, timed: bool | None = None
) -> Callable[[_Compute], _Compute]:
    """Enter a measure into `KINDS`, with its fields and the words that its reasons may quote."""
    records = not name.startswith("document_")
    more = (*optional.split(), *(("where", "phases", "notebook") if records else ()))

    def entered(compute: _Compute) -> _Compute:
        fields, said = tuple(required.split()), tuple(words.split())
        KINDS[name] = Kind(compute, fields, more, said, records, timed)
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
    """Paired ratio of two configurations, or its geometric mean over groups.

    With ``against``, what differs in both sides of a second ratio, the first is divided by that.
    """
    of, to = side(records, fields, "of"), side(records, fields, "to")
    pairs, groups = _pairs(of, to)
    if "against" in fields:
        second = {n: {**mapping(fields, n), **mapping(fields["against"], n)} for n in ("of", "to")}
        other = [side(records, {**fields, **second}, name) for name in ("of", "to")]
        pairs, groups = _pairs(_times(of, other[1]), _times(to, other[0]))
    found = ratio_of(pairs)
    words = _compared(fields, found, typical(of, groups), typical(to, groups), groups)
    if "counting" in fields:
        for name in ("of", "to"):
            counts = side(records, fields, name, str(fields["counting"]))
            words[f"{name}_count"] = number(typical(counts, groups))
    return found_in(records, fields, found, of, words)


@_kind(
    "over_link",
    "of to rate round_trip_s",
    "over",
    "of of_system to compared groups ranks size",
    timed=True,
)
def over_link(records: pd.DataFrame, fields: Fields) -> Measured:
    """Paired ratio of the seconds that two reads would take over a link, by the cost model.

    Counts and CPU time are those of the records, whatever the reads went over.
    """
    link = Link(real(fields["rate"]), real(fields["round_trip_s"]))
    rows = select(records, mapping(fields, "where"))
    found = ratio(cost.over(rows, link), {**fields, "value": "wall_s"})
    system = side(records, fields, "of", "sys_s").table.median()
    return replace(found, words={**found.words, "of_system": amount(float(system.mean()), "s")})


@_kind("level", "value cells", "over", "count groups", timed=True)
def level(records: pd.DataFrame, fields: Fields) -> Measured:
    """Median over blocks of one configuration, or of the mean over groups."""
    found, kind = side(records, fields, "cells"), quantity(fields)
    estimate = of_blocks(found.table.dropna().mean(axis=1), kind)
    if not estimate.n:
        raise MissingError("no block holds all the groups of the measure")
    words = {"count": amount(estimate.value, kind.unit), "groups": number(len(found.groups))}
    return found_in(records, fields, estimate, found, words, unit=kind.unit)


@_kind("at_rate", "of to rate counting", "over", "of to compared groups", timed=True)
def at_rate(records: pd.DataFrame, fields: Fields) -> Measured:
    """Ratio of speeds, where bytes cost what they do on a device of a rate and CPU what it does.

    The time of a sample is its CPU time and its bytes over the rate, in bytes/s.
    """
    fields = {**fields, "value": "wall_s"}
    device, counted = real(fields["rate"]), str(fields["counting"])

    def seconds(name: str) -> Cells:
        cpu, sizes = (side(records, fields, name, value) for value in ("cpu_s", counted))
        return Cells(cpu.table + sizes.table / device, cpu.run_id)

    of, to = seconds("of"), seconds("to")
    pairs, groups = _pairs(to, of)
    found, sides = ratio_of(pairs), (typical(of, groups), typical(to, groups))
    compared = _decided(found, sides[1] / sides[0], "faster", "slower")
    words = {"compared": compared, **_told(*sides, "s", groups)}
    return found_in(records, fields, found, of, words)


@_kind("means", "ratios", "", "groups", timed=True)
def means(records: pd.DataFrame, fields: Fields) -> Measured:
    """Geometric mean of ratios of several experiments, whose blocks are not the same ones."""
    listed = fields["ratios"]
    assert isinstance(listed, list)
    shared = {name: fields[name] for name in ("where", "phases") if name in fields}
    each = [{**shared, **one} for one in listed]
    found = [ratio(records, one) for one in each]
    blocks = min(one.n for one in found)  # which are independent: any of one goes with any other
    sides = []
    for one in each:
        pairs, _ = _pairs(side(records, one, "of"), side(records, one, "to"))
        logs = np.mean([np.log(a / b) for a, b in pairs], axis=0)[:blocks]
        sides.append((np.exp(logs), np.ones(blocks)))
    estimate = geometric_mean_ratio(sides)
    experiments = dict.fromkeys(name for one in found for name in one.experiments)
    states = dict.fromkeys(name for one in found for name in one.cache_states)
    return Measured(
        estimate.value, estimate.low, estimate.high, estimate.n, "", True, found[-1].run_id,
        tuple(experiments), tuple(states), {"groups": number(len(found))},
    )  # fmt: skip


@_kind("difference", "value of to", "over", "of to groups", timed=True)
def difference(records: pd.DataFrame, fields: Fields) -> Measured:
    """How much more one configuration has than another, by block, in the unit of the value."""
    of, to = side(records, fields, "of"), side(records, fields, "to")
    pairs, groups = _pairs(of, to)
    by_block = pd.DataFrame([a - b for a, b in pairs]).mean()
    kind = quantity(fields)
    words = _told(typical(of, groups), typical(to, groups), kind.unit, groups)
    return found_in(records, fields, of_blocks(by_block, kind), of, words, unit=kind.unit)


_SCATTER_BLOCKS = 9
"""Blocks from which the middle half of them is known at all."""


@_kind("scatter", "value of to", "over", "of to compared groups", timed=True)
def scatter(records: pd.DataFrame, fields: Fields) -> Measured:
    """How much more one configuration varies than another: the middle half of the blocks, over
    their median."""
    of, to = side(records, fields, "of"), side(records, fields, "to")
    pairs, groups = _pairs(of, to)
    blocks = len(pairs[0][0])

    rows = np.array(_resampled(blocks))

    def varies(values: Floats) -> Floats:
        low, middle, high = np.quantile(values[rows], [0.25, 0.5, 0.75], axis=1)
        found: Floats = np.maximum((high - low) / middle, 1e-9)
        return found

    each = [[np.log(varies(values)) for values in pair] for pair in pairs]
    first, second = np.exp(np.mean(each, axis=0))
    estimate = _interval(first / second, blocks)
    compared = comparison(estimate.value, "more", "less")
    words = {"compared": compared, **_told(float(first[0]), float(second[0]), SHARE, groups)}
    return replace(found_in(records, fields, estimate, of, words), enough=_SCATTER_BLOCKS)


@_kind("spread", "value cells over", "", "top bottom of to compared groups")
def spread(records: pd.DataFrame, fields: Fields) -> Measured:
    """Largest over smallest of the groups, paired by block."""
    found = side(records, fields, "cells")
    medians = _medians(found)
    top, bottom = str(medians.idxmax()), str(medians.idxmin())
    return _one_against_another(
        records, fields, found, medians, top, bottom, {"top": top, "bottom": bottom}
    )


@_kind("best", "value cells over expect select", "", "expected winner rival of to compared groups")
def best(records: pd.DataFrame, fields: Fields) -> Measured:
    """The group the document names best over the best of the others, paired by block.

    When the document's is ours too, the ratio is above one for ``select: max`` and below one for
    ``select: min``.
    """
    found, expect = side(records, fields, "cells"), str(fields["expect"])
    medians = _medians(found)
    if expect not in medians.index:
        raise MissingError(f"the records hold no {expect}")
    largest, others = fields["select"] == "max", medians.drop(expect)
    rival = str(others.idxmax() if largest else others.idxmin())
    winner = str(medians.idxmax() if largest else medians.idxmin())
    words = {"expected": expect, "rival": rival, "winner": winner}
    return _one_against_another(records, fields, found, medians, expect, rival, words)


@_kind("break_even", "of to over", "", "saved spent count", timed=True)
def break_even(records: pd.DataFrame, fields: Fields) -> Measured:
    """Device rate at which the bytes saved are worth the CPU time spent, in bytes/s."""
    (by, own), (_, plain) = (next(iter(mapping(fields, name).items())) for name in ("of", "to"))
    wanted = {**mapping(fields, "where"), by: [own, plain]}
    (over_label,) = over(fields)
    rows = costs(records, by, over_label, str(plain), phases(fields), wanted)
    if own not in rows.index:
        raise MissingError("no block holds all that is compared")
    row = rows.loc[str(own)].to_dict()
    words = {
        "saved": amount(row["plain_bytes"] - row["bytes"], "B"),
        "spent": amount(row["extra_s"].value, "s"),
        "count": amount(row["rate"].value, "B/s"),
    }
    source = side(records, {**fields, "value": "cpu_s"}, "of")
    return found_in(records, fields, row["rate"], source, words, unit="B/s", timed=True)


# Exact measures: counts of bytes and calls, which noise does not change.


@_kind("count", "value cells", "over select factor unit", "count cell groups", timed=False)
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
    estimate = Interval(value, low, high, len(found.table))
    return found_in(records, fields, estimate, found, words, unit=unit)


@_kind("count_ratio", "value of to", "over select", "of to compared groups ranks size", timed=False)
def count_ratio(records: pd.DataFrame, fields: Fields) -> Measured:
    """Ratio of two counts, or its geometric mean over groups, or that of each side's extreme group.

    Where counts differ between blocks, the range of the ratio takes the place of the interval.
    """
    of, to = side(records, fields, "of"), side(records, fields, "to")
    if select := fields.get("select"):
        of, to = (_extreme(each, str(select)) for each in (of, to))
    groups = _shared(of, to)
    a = np.array([_range(of, group) for group in groups])
    b = np.array([_range(to, group) for group in groups])
    if not (a > 0).all() or not (b > 0).all():
        raise MissingError("a count of zero has no ratio")
    value = _geometric(a[:, 0] / b[:, 0])
    low, high = _geometric(a[:, 1] / b[:, 2]), _geometric(a[:, 2] / b[:, 1])
    kind = quantity(fields)
    compared = comparison(value, kind.above, kind.below)
    sides = _geometric(a[:, 0]), _geometric(b[:, 0])
    words = {"compared": compared, **_told(*sides, kind.unit, groups)}
    return found_in(records, fields, Interval(value, low, high, len(of.table)), of, words)


@_kind("table", "value cells over expect", "scale", "cell of to off groups")
def table(records: pd.DataFrame, fields: Fields) -> Measured:
    """Worst relative deviation from a table of the document."""
    found = side(records, fields, "cells")
    expect = {cell: real(x) for cell, x in mapping(fields, "expect").items()}
    values = found.table / real(fields.get("scale", 1.0))
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
        return found_in(records, fields, _exactly(deviation[worst], len(expect)), found, words)
    off = values[worst].dropna().to_numpy(dtype="f8") / expect[worst] - 1
    estimate = median_interval(off)
    return found_in(records, fields, estimate, found, words)


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
    return found_in(records, fields, _exactly(value, len(off)), predicted, words)


# In how many groups something is so.


@_kind("share", "value cells over", "at_least at_most", "hits groups examples")
def share(records: pd.DataFrame, fields: Fields) -> Measured:
    """Share of the groups whose value lies within bounds."""
    found = side(records, fields, "cells")
    low, high = real(fields.get("at_least", -np.inf)), real(fields.get("at_most", np.inf))
    inside = found.table.median().dropna().between(low, high)
    values = found.table[inside.index].to_numpy(dtype="f8")

    def hits(rows: Floats) -> float:
        middle = _column_medians(values[rows])
        return float(np.mean((middle >= low) & (middle <= high)))

    return _shared_hits(records, fields, found, inside, hits, len(values))


@_kind("order", "value cells over expect", "", "hits groups examples")
def order(records: pd.DataFrame, fields: Fields) -> Measured:
    """Share of neighbours, in the order in which the document lists the groups, that rise."""
    found, expect = side(records, fields, "cells"), list(texts(fields["expect"]))
    if lacking := [name for name in expect if name not in found.groups]:
        raise MissingError(f"the records hold no {listing(lacking)}")
    values = found.table[expect].to_numpy(dtype="f8")
    rises = np.diff(_column_medians(values)) > 0
    names = [f"{one} to {other}" for one, other in pairwise(expect)]

    def hits(rows: Floats) -> float:
        return float(np.mean(np.diff(_column_medians(values[rows])) > 0))

    return _shared_hits(records, fields, found, pd.Series(rises, names), hits, len(values))


@_kind("wins", "value of to over", "select", "hits groups examples")
def wins(records: pd.DataFrame, fields: Fields) -> Measured:
    """Share of the groups in which one configuration's value is at most the other's.

    The medians over blocks are compared, or with ``select`` the extremes.
    """
    of, to = side(records, fields, "of"), side(records, fields, "to")
    groups = _shared(of, to)
    blocks = of.table.index.intersection(to.table.index)
    one = str(fields.get("select", "median"))
    inside = of.table[groups].agg(one) <= to.table[groups].agg(one)
    pick = {"min": partial(np.nanmin, axis=0), "max": partial(np.nanmax, axis=0)}
    of_each = pick.get(one, _column_medians)
    a, b = (cell.table.loc[blocks, groups].to_numpy(dtype="f8") for cell in (of, to))

    def hits(rows: Floats) -> float:
        return float(np.mean(of_each(a[rows]) <= of_each(b[rows])))

    return _shared_hits(records, fields, of, inside, hits, len(blocks))


@_kind("ranking", "value cells over groups expect", "", "ours hits", timed=True)
def ranking(records: pd.DataFrame, fields: Fields) -> Measured:
    """Mean share, over cells, of the document's fastest few that are among our fastest few."""
    draws, notes, blocks = [], [], []
    found = Cells(pd.DataFrame(), "")
    for cell, names in mapping(fields, "expect").items():
        chosen = {**fields, "cells": {**mapping(fields, "cells"), str(fields["groups"]): cell}}
        found, expect = side(records, chosen, "cells"), texts(names)
        values = found.table.to_numpy(dtype="f8")
        readers = np.array(found.groups)
        fastest = [
            readers[np.argsort(_column_medians(values[rows]))[: len(expect)]]
            for rows in _resampled(len(values))
        ]
        draws.append([len({*few} & {*expect}) / len(expect) for few in fastest])
        notes.append(f"{cell.rstrip('/*')}: {', '.join(fastest[0])}")
        # A reader that was left out of some blocks is known as poorly as it was measured.
        blocks.append(int(found.table.notna().sum().min()))
    if not draws:
        raise MissingError("the ranking names no cell")
    estimate = _interval(np.mean(draws, axis=0), min(blocks))
    words = {"ours": "; ".join(notes), "hits": percent(estimate.value)}
    return found_in(records, {**fields, "cells": {}}, estimate, found, words)


@_kind("ability", "cells", "", "outcome")
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


# What measures share.


def side(records: pd.DataFrame, fields: Fields, name: str, value: str = "") -> Cells:
    """Return the values of one side of a measure, by group and block."""
    chosen = by_name(value) if value else quantity(fields)
    return cells(records, where(fields, name), chosen, phases(fields), over(fields))


def found_in(
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
    used = pd.concat(chosen)
    return Measured(
        found.value, found.low, found.high, found.n, unit,
        quantity(fields).timed if timed is None else timed,
        source.run_id,
        tuple(str(name) for name in used["experiment"].unique()),
        tuple(str(name) for name in used["cache_state"].unique()),
        {**_described(chosen[0]), **words},
    )  # fmt: skip


def _described(rows: pd.DataFrame) -> Words:
    """Return ranks and sizes of what was measured, as a reason quotes them.

    Examples
    --------
    >>> _described(pd.DataFrame({"ranks": [4.0, 4.0], "size": ["8192x8", "8192x8"]}))
    {'ranks': '4 ranks', 'size': '8192 × 8'}
    """
    ranks = [f"{n:.0f}" for n in sorted(rows["ranks"].dropna().unique())]
    sizes = [str(size).replace("x", " × ") for size in rows["size"].dropna().unique()]
    return {
        "ranks": f"{listing(ranks)} rank{'s' * (ranks != ['1'])}" if ranks else "",
        "size": listing(sizes) if sizes else "",
    }


def typical(found: Cells, groups: list[str]) -> float:
    """Return the geometric mean over groups of the medians over blocks."""
    return float(np.exp(np.log(found.table[groups].median()).mean()))


def _shared(of: Cells, to: Cells) -> list[str]:
    """Return the groups that both sides of a comparison have."""
    groups = [group for group in of.groups if group in to.groups]
    if not groups:
        raise MissingError("the two sides of the comparison share no group")
    return groups


def _pairs(of: Cells, to: Cells) -> tuple[list[tuple[Floats, Floats]], list[str]]:
    groups = _shared(of, to)
    pairs = paired(of.table, to.table)
    if not pairs:
        raise MissingError("no block holds all that is compared")
    return pairs, groups


def _times(one: Cells, other: Cells) -> Cells:
    return Cells(one.table * other.table, one.run_id)


def _extreme(found: Cells, select: str) -> Cells:
    """Return the group with the largest or smallest median alone, without its name."""
    medians = found.table.median().dropna()
    if medians.empty:
        raise MissingError("the count is missing in every block")
    name = medians.idxmin() if select == "min" else medians.idxmax()
    return Cells(found.table[[name]].set_axis([""], axis=1), found.run_id)


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
    words: Words,
) -> Measured:
    pairs, _ = _pairs(
        *(Cells(found.table[[name]].set_axis([""], axis=1), found.run_id) for name in (of, to))
    )
    estimate = ratio_of(pairs)
    compared = _compared(
        fields, estimate, float(medians[of]), float(medians[to]), list(medians.index)
    )
    return found_in(records, fields, estimate, found, words | compared)


def _compared(fields: Fields, found: Interval, of: float, to: float, groups: list[str]) -> Words:
    kind = quantity(fields)
    compared = _decided(found, of / to, kind.above, kind.below)
    return {"compared": compared, **_told(of, to, kind.unit, groups)}


def _told(of: float, to: float, unit: str, groups: Sequence[str]) -> Words:
    """Return the two sides of a comparison, and over how many groups they are taken."""
    return {"of": amount(of, unit), "to": amount(to, unit), "groups": number(len(groups))}


def _decided(found: Interval, typical: float, above: str, below: str) -> str:
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
    if (found.value - 1) * (typical - 1) >= 0:
        return comparison(found.value, above, below)
    said = comparison(found, above, below)
    return said if found.contains(1) else SENTENCES["other way"].format(compared=said)


def _shared_hits(
    records: pd.DataFrame,
    fields: Fields,
    found: Cells,
    inside: "pd.Series[bool]",
    hits: Callable[[Floats], float],
    blocks: int,
) -> Measured:
    outside = [str(group) for group in inside.index[~inside.to_numpy(dtype=bool)]]
    words = {
        "hits": number(int(inside.sum())),
        "groups": number(len(inside)),
        "examples": listing(outside),
    }
    estimate = _exactly(float(inside.mean()), blocks)
    if quantity(fields).timed:
        estimate = _interval(np.array([hits(rows) for rows in _resampled(blocks)]), blocks)
    return found_in(records, fields, estimate, found, words)


def _range(found: Cells, group: str) -> tuple[float, float, float]:
    """Return median, least and most over blocks of one group."""
    values = found.table[group].dropna()
    if values.empty:
        raise MissingError("the count is missing in every block")
    return float(values.median()), float(values.min()), float(values.max())


def _geometric(values: Floats) -> float:
    # A single count stays exact: the round trip through the logarithm would not.
    return float(values[0]) if len(values) == 1 else float(np.exp(np.log(values).mean()))


def _exactly(value: float, n: int) -> Interval:
    return Interval(value, value, value, n)


def _resampled(blocks: int, seed: int = 0) -> list[Floats]:
    """Return row numbers: first the blocks as measured, then bootstrap samples of them."""
    draws = np.random.default_rng(seed).integers(0, blocks, (RESAMPLES, blocks), dtype=np.int64)
    return [np.arange(blocks), *draws]


def _interval(draws: Floats, n: int) -> Interval:
    """Return an estimate and its interval; the first draw is the estimate."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="nearest")
    first = float(draws[0])
    return Interval(first, min(float(low), first), max(float(high), first), n)


def _column_medians(values: Floats) -> Floats:
    """Return the median of each column; NaN for a column without values.

    Examples
    --------
    >>> _column_medians(np.array([[1.0, np.nan], [3.0, np.nan]]))
    array([ 2., nan])
    """
    ordered = np.sort(values, axis=0)  # NaN comes last
    last = np.maximum(np.sum(~np.isnan(ordered), axis=0) - 1, 0)
    columns = np.arange(ordered.shape[1])
    middle: Floats = (ordered[last // 2, columns] + ordered[(last + 1) // 2, columns]) / 2
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


def mapping(fields: object, name: str) -> dict[str, object]:
    """Return a field that is a mapping; empty when it is absent."""
    value = fields.get(name, {}) if isinstance(fields, Mapping) else fields
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
