"""Measures on made-up records, where the answer is known."""

import math

import numpy as np
import pytest
from made_claims import BLOCKS, samples

from hyperslab.analysis.cells import MissingError, cells
from hyperslab.analysis.quantities import QUANTITIES
from hyperslab.claims.measures import KINDS
from hyperslab.measure.records import frame_of


def rows(case, wall_s=1.0, **columns):
    return samples(case, wall_s, useful_bytes=1e6, **columns)


def measured(kind, table, **fields):
    return KINDS[kind].compute(frame_of(table), fields)


def case(name):
    return {"case": name}


A, B = rows("a", 2.0), rows("b", 1.0)
SIDES = {"over": "case", "of": case("nc4/*"), "to": case("nc3/*")}
SIZES = {
    "of": {"case": "b", "size": "small"}, "to": {"case": "a", "size": "small"},
    "against": {side: {"size": "large"} for side in ("of", "to")},
}  # fmt: skip
RATIOS = {
    "a rate is larger where the time is shorter": (A + B, {"value": "rate"}, 0.5, BLOCKS),
    "phases are summed and sizes are not": (
        rows("a", 0.5, phase="write") + rows("a", 0.5, phase="sync")
        + rows("b", 1.0, phase="write") + rows("b", 3.0, phase="sync"),
        {"value": "rate", "phases": ["write", "sync"]}, 4, BLOCKS,
    ),
    "groups are paired by what the star stands for, and one without a partner counts for none": (
        rows("nc4/1d", 2.0) + rows("nc4/2d", 8.0) + rows("nc3/1d") + rows("nc3/2d")
        + rows("nc3/3d", 50.0), SIDES, 4, BLOCKS,
    ),
    "blocks that one side lacks are left out": (A[:4] + B, {}, 2, 4),
    "only the first label of an A/A pair counts": (
        rows("a", 2.0, aa="A") + rows("a", 90.0, aa="B") + B, {}, 2, BLOCKS,
    ),
    "failed samples do not count": (
        [{**A[0], "status": "timed out", "wall_s": 900.0}, *A[1:], *B], {}, 2, BLOCKS - 1,
    ),
    "the last run is judged": (
        [{**row, "run_id": "old"} for row in rows("a", 9.0) + B] + A + B, {}, 2, BLOCKS,
    ),
    "a ratio against a second one is the quotient of both": (
        rows("a", size="small") + rows("b", 4.0, size="small")
        + rows("a", size="large") + rows("b", 1.5, size="large"), SIZES, 4 / 1.5, BLOCKS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", RATIOS)
def test_ratios(why):
    table, fields, value, n = RATIOS[why]
    given = {"value": "wall_s", "of": case("a"), "to": case("b"), **fields}
    found = measured("ratio", table, **given)
    assert (found.value, found.n, found.run_id) == (pytest.approx(value), n, "run-1")


WHOLE = {"over": "case", "cells": {}, "value": "wall_s"}


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("level", {"cells": {"case": "z"}}, "no sample with case z"),
        ("level", {"cells": {"case": "a", "cache_state": "cold"}}, "cache_state cold"),
        ("level", {"cells": {"case": "failed"}}, "no mpicc here"),
        ("level", {"cells": {"profile": ["full", "paper"]}}, "the profile full or paper, and"),
        ("level", {"phases": ["sync"]}, "no phase sync"),
        ("level", {"value": "rchar"}, "rchar was not counted"),  # on this system
        ("table", {**WHOLE, "expect": {"a": 1, "b": 1}}, "no b"),
        ("best", {**WHOLE, "expect": "a", "select": "min"}, "fewer than 2"),
        ("ability", {"cells": {"case": "failed"}}, "no mpicc here"),
    ],
)
def test_what_is_missing_is_named(kind, fields, message):
    table = rows("a") + rows("failed", status="missing: no mpicc here")
    with pytest.raises(MissingError, match=message):
        measured(kind, table, **{"value": "wall_s", "cells": case("a"), **fields})


NC = {"of": case("a/*"), "to": case("b/*"), "over": "case"}
REQUESTS = rows("a/1", requests=32775.0) + rows("b/1", requests=8.0)
SIZES_8 = rows("8", 3.0) + rows("16", 2.0) + rows("32", 2.5) + rows("64", 1.0)
DEFLATED = rows("a", user_s=1.5, sys_s=0.0, file_bytes=10e6, codec="deflate", size="t")
DEFLATED += rows("b", user_s=0.5, sys_s=0.0, file_bytes=110e6, codec="none", size="t")
PACKED, PLAIN = {"codec": "deflate"}, {"codec": "none"}
WINNING = rows("a/2", predicted_bytes=5.0) + rows("b/2", predicted_bytes=9.0)
WINNING += rows("a/3", predicted_bytes=5.0) + rows("b/3", predicted_bytes=4.0)
PARTS = rows("a/2", syscr=1.0) + rows("a/3", syscr=3.0)
PARTS += rows("b/2", syscr=2.0) + rows("b/3", syscr=9.0)
ORDERS = ("x/a", "x/b", "x/c", "x/d"), ("y/d", "y/c", "y/b", "y/a")
RANKED = [row for order in ORDERS for n, cell in enumerate(order) for row in rows(cell, 1.0 + n)]
DEVICE = rows("packed", user_s=1.0, sys_s=0.0, wchar=1e6)
DEVICE += rows("plain", user_s=0.1, sys_s=0.0, wchar=1e8)
DEVICES = {"of": case("packed"), "to": case("plain"), "counting": "wchar"}
WAITS = {"few": (4.0, 1e7, 0.5), "many": (40.0, 1e6, 0.1)}
LINK = [
    row | {"handshakes": 1.0, "stages": n, "idle_stages": n, "wire_bytes": size}
    for name, (n, size, cpu) in WAITS.items() for row in rows(name, user_s=cpu, sys_s=0.0)
]  # fmt: skip
LINK += rows("few", 9.0, phase="close", user_s=7.0, sys_s=0.0)
LINKS = {"of": case("few"), "to": case("many"), "phases": ["open", "read"], "rate": 1e7}
# What is shown, of which kind, of which records, with which fields: the value, and some words.
MEASURES = {
    "level: the median over blocks": (
        "level", rows("a", 4.0, user_s=1.0, sys_s=1.0),
        {"value": "cpu_share", "cells": case("a")}, 0.5, {},
    ),
    "spread: the slowest with the fastest": (
        "spread", rows("8x8", 10.0) + rows("16x16", 4.0) + rows("32x32", 1.0),
        {"value": "rate", "over": "case", "cells": {}}, 10, {"top": "32x32", "bottom": "8x8"},
    ),
    "best: the least": (
        "best", rows("a", 8.0) + rows("b") + rows("c", 2.0),
        {"value": "rate", "over": "case", "select": "min", "expect": "a", "cells": {}},
        0.25, {"winner": "a"},
    ),
    "best: who wins where the expected does not": (
        "best", rows("1MiB", 2.0) + rows("8MiB") + rows("64MiB", 4.0),
        {"value": "rate", "over": "case", "select": "max", "expect": "1MiB", "cells": {}},
        0.5, {"winner": "8MiB", "rival": "8MiB"},
    ),
    "count: of groups the largest, and a factor": (
        "count", rows("a", file_bytes=10.0) + rows("b", file_bytes=40.0),
        {"value": "file_bytes", "over": "case", "factor": "1 / 20", "cells": {}}, 2, {"cell": "b"},
    ),
    "count: of groups the least": (
        "count", rows("a", file_bytes=10.0) + rows("b", file_bytes=40.0),
        {"value": "file_bytes", "over": "case", "select": "min", "cells": {}}, 10, {"cell": "a"},
    ),
    "count_ratio: the mean of groups": (
        "count_ratio", REQUESTS + rows("a/2", requests=9.0) + rows("b/2", requests=9.0),
        {"value": "requests", **NC}, math.sqrt(32775 / 8), {},
    ),
    "count_ratio: extremes of each side": (
        "count_ratio", PARTS, {"value": "syscr", "select": "max", **NC}, 1 / 3, {},
    ),
    "wins: extremes of each side": (
        "wins", PARTS, {"value": "syscr", "select": "min", **NC}, 1, {},
    ),
    "wins: groups that do not lose": (
        "wins", WINNING, {"value": "predicted_bytes", **NC}, 0.5, {"examples": "3"},
    ),
    "wins: what is comparable does not lose": (
        "wins", WINNING, {"value": "predicted_bytes", "margin": 0.5, **NC}, 1, {"examples": "none"},
    ),
    "table: the worst cell": (
        "table", rows("x/1", file_bytes=101e6) + rows("x/2", file_bytes=45e6),
        {"value": "file_bytes", "scale": 1e6, "over": "case", "cells": case("x/*"),
         "expect": {"1": 100, "2": 50}},
        -0.1, {"cell": "2", "off": "−10 %"},
    ),
    "error: the largest miss of a prediction": (
        "error", rows("1", file_bytes=100.0, predicted_bytes=100.0)
        + rows("2", file_bytes=100.0, predicted_bytes=98.0),
        {"value": "predicted_bytes", "truth": "file_bytes", "over": "case", "cells": {}},
        0.02, {"cell": "2"},
    ),
    "share: groups within bounds": (
        "share", rows("a", chunks="1x721x1440") + rows("b", chunks="12x721")
        + rows("c", chunks="4x9"),
        {"value": "chunk_length", "at_least": 2, "over": "case", "cells": {}},
        2 / 3, {"hits": "2", "examples": "a"},
    ),
    "ranking: the fastest few of each cell": (
        "ranking", RANKED,
        {"value": "wall_s", "over": "case", "groups": "case", "cells": {},
         "expect": {"x/*": ["a", "b"], "y/*": ["a", "d"]}},
        0.75, {"ours": "x: a, b; y: d, c"},
    ),
    "order: of a document, among so many neighbours": (
        "order", SIZES_8,
        {"value": "rate", "cells": case("*"), "over": "case", "expect": ["8", "16", "32", "64"]},
        2 / 3, {"examples": "16 to 32"},
    ),
    "break_even: bytes saved over time spent": (
        "break_even", DEFLATED, {"over": "size", "of": PACKED, "to": PLAIN}, 100e6, {},
    ),
    "break_even: what costs nothing": (
        "break_even", DEFLATED, {"over": "size", "of": PLAIN, "to": PACKED}, math.inf, {},
    ),
    "difference: in the unit of what is measured": (
        "difference", rows("a", 0.5) + rows("b"),
        {"value": "rate", "of": case("a"), "to": case("b")}, 1e6, {},
    ),
    "ability: it works": ("ability", rows("http"), {"cells": case("http")}, 1,
                          {"outcome": "it works"}),
    "ability: it fails": ("ability", rows("http", status="no ROS3 driver"), {"cells": case("http")},
                          0, {"outcome": "it fails"}),
    "at_rate: bytes and work": (
        "at_rate", DEVICE, {**DEVICES, "rate": 1e7}, 10.1 / 1.1, {"compared": "9.18× faster"},
    ),
    "over_link: round trips, bytes and work": (
        "over_link", LINK, {**LINKS, "round_trip_s": 0.1}, 2.0 / 4.3,
        {"of": "2 s", "of_system": "0 s", "compared": "2.15× faster"},
    ),
    "means: of the ratios of several experiments": (
        "means", A + B + [{**row, "experiment": "f"} for row in rows("a", 8.0) + B],
        {"ratios": [{"value": "wall_s", "of": case("a"), "to": case("b"),
                     "where": {"experiment": name}} for name in "ef"]}, 4, {},
    ),
    "document_spread: needs no records": (
        "document_spread", [], {"pairs": [[351, 339], [41, 37]]}, 41 / 37 - 1, {},
    ),
    "document_inside: needs no records": (
        "document_inside", [],
        {"awarded_from": 0.05, "differences": {"a": 0.09, "b": 0.5, "c": 0.03},
         "pairs": [[351, 339], [41, 37]]},
        1, {"groups": "2", "examples": "a"},
    ),
    "document_quotient: needs no records": (
        "document_quotient", [], {"amount": 33554432, "per": 860.95e-6, "unit": "B/s"},
        33554432 / 860.95e-6, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", MEASURES)
def test_measures(why):
    kind, table, fields, value, words = MEASURES[why]
    found = measured(kind, table, **fields)
    assert found.value == pytest.approx(value)
    assert {name: found.words[name] for name in words} == words
    if KINDS[kind].timed is False:
        assert found.low == found.value == found.high


def test_count_becomes_a_range_where_blocks_differ():
    table = rows("a", rchar=4096.0)
    table[0]["rchar"] = 5000.0
    differs = measured("count", table, value="rchar", cells=case("a"))
    assert (differs.value, differs.low, differs.high) == (4096, 4096, 5000)


def test_a_spread_is_at_least_one_whichever_side_is_the_larger():
    table = rows("a", 1.1) + rows("b")
    for row in table[:2]:
        row["wall_s"] = 0.4
    found = measured("spread", table, value="wall_s", over="case", cells={})
    high = pytest.approx(2.5006835)  # 2.5, and a little for other runs
    assert (found.value, found.low, found.high) == (pytest.approx(1.1), 1, high)


def test_values_are_made_from_the_columns_they_name():
    table = frame_of(rows("a", 2.0, user_s=1.0, sys_s=0.5, rchar=4e6, file_bytes=5e5, minflt=30.0))
    expect = {
        "rate": 5e5, "cpu_s": 1.5, "cpu_share": 0.75, "amplification": 4, "compression": 2,
        "stored_share": 0.5, "extra_bytes": -5e5, "faults_per_gb": 3e4,
    }  # fmt: skip
    for name, value in expect.items():
        found = cells(table, case("a"), QUANTITIES[name]).table
        assert found.to_numpy().ravel() == pytest.approx(value), name


def test_timed_shares_have_an_interval():
    table = rows("a/1", 1.0) + rows("b/1") + rows("a/2") + rows("b/2", 9.0)
    for row in table[:BLOCKS]:
        row["wall_s"] += 0.2 * (-1) ** row["block"]
    found = measured("wins", table, value="wall_s", **NC)
    assert found.low <= found.value <= found.high == 1


@pytest.mark.parametrize("blocks", [6, 15])
def test_the_interval_of_a_scatter_covers_the_true_one(blocks):
    rng, found, tries, shapes = np.random.default_rng(blocks), [], 40, 6
    for _ in range(tries):
        table = [
            {**row, "block": block, "wall_s": seconds}
            for name, size in {"a": 0.2, "b": 0.1}.items()
            for shape in range(shapes)
            for row in rows(f"{name}/{shape}")[:1]
            for block, seconds in enumerate(np.exp(size * rng.standard_normal(blocks)))
        ]
        found.append(measured("scatter", table, value="wall_s", **NC))
    assert {(each.n, each.words["groups"]) for each in found} == {(blocks, str(shapes))}
    inside = sum(each.low <= 2 <= each.high for each in found)
    assert inside >= 0.88 * tries  # 95 % less what 40 tries leave to chance
    # An interval of anything would hold it, too.
    assert np.exp(np.mean([np.log(each.value) for each in found])) == pytest.approx(2, rel=0.1)
    widths = [each.high / each.low for each in found]
    assert np.median(widths) < {6: 6, 15: 2.5}[blocks]
