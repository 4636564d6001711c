"""Verdicts on made-up records."""

import json

import pytest
from made_claims import COUNT, RATIO, claim, judge, load, part, quiet, samples, written

from hyperslab import claims
from hyperslab.analysis.quantities import QUANTITIES
from hyperslab.claims import bands
from hyperslab.claims.measured import decided
from hyperslab.claims.verdicts import named, unit_of
from hyperslab.text import Interval

VERDICTS = [
    ({"kind": "effect", "document": "1 / 4"}, RATIO, 0.25, "holds"),
    ({"kind": "obsolete", "equals": 1281}, COUNT, 8760.0, "obsolete"),
]
ROWS = [*samples("a", 4.0), *samples("b", 1.0), *quiet()]


@pytest.mark.parametrize(("rule", "measure", "found", "verdict"), VERDICTS)
def test_rules_give_their_verdicts_on_records(tmp_path, rule, measure, found, verdict):
    rows = [*samples("a", found, file_bytes=found), *samples("b", 1.0), *quiet()]
    reason = "{value}" if measure is COUNT else "{compared}"
    judged = judge(tmp_path, claim(part(rule=rule, measure=measure, reason=reason)), rows)
    assert (judged.verdict, judged.headline.measured) == (verdict, pytest.approx(found))
    assert judged.headline.run_id == "run-1"


def test_what_is_not_measured_says_what_measures_it(tmp_path):
    rows = samples("a", 1.0, status="missing: no mpicc; apt-get install libopenmpi-dev")
    for made, said in ((rows, "apt-get install"), ([], "`hyperslab run trial` measures it")):
        (tmp_path / "trial.parquet").unlink(missing_ok=True)
        found = judge(tmp_path, claim(), made and rows + samples("b", 1.0))
        assert found.verdict == "not measured" and said in found.headline.reason
        assert found.as_json()["measured"] is None


@pytest.mark.parametrize(
    ("profile", "found", "verdict"), [("full", 4, "holds"), ("quick", 1.5, "weaker")]
)
def test_the_first_headline_that_is_measured_gives_the_verdict_alone(
    tmp_path, profile, found, verdict
):
    timed = part(measure={**RATIO, "where": {"profile": ["full"], "experiment": "e"}})
    computed = part(name="computed", measure={**RATIO, "where": {"experiment": "f"}})
    rows = [*samples("a", 1.5), *samples("b", 1.0), *quiet()]
    rows = [*ROWS, *({**row, "experiment": "f"} for row in rows)]
    rows = [{**row, "profile": profile} for row in rows]
    judged = judge(tmp_path, claim(timed, computed), rows)
    assert (judged.verdict, judged.headline.measured) == (verdict, pytest.approx(found))
    assert [each.headline for each in judged.parts] == [True]
    assert judge(tmp_path, claim(timed, computed), rows[:1]).headline.name == "time"


@pytest.mark.parametrize(
    ("ratio", "role", "least", "label", "said"),
    [
        (4.0, "", 100, "holds in part", "“above” came out otherwise"),
        (4.0, "", 1.1, "holds", ""),
        (1.5, "", 1.2, "weaker in part", "“above” held"),
        (1.5, "why", 1.2, "weaker", ""),
        (1.5, "", 1.9, "weaker", ""),
    ],
)
def test_a_claim_is_decided_in_part_where_another_part_came_out_otherwise(
    tmp_path, ratio, role, least, label, said
):
    other = part(name="above", headline=False, role=role, rule={"kind": "count", "at_least": least})
    rows = [*samples("a", ratio), *samples("b", 1.0), *quiet()]
    found = judge(tmp_path, claim(other, part()), rows)
    assert found.label == label
    assert said in found.headline.reason and bool(said) == ("“above”" in found.headline.reason)
    assert found.as_json()["in_part"] == bool(said)


def test_the_hash_of_rules_knows_measures_and_rules_and_no_words(tmp_path):
    hashes = [
        claims.read(written(tmp_path, claim(part(**changes)))).rules
        for changes in ({}, {"reason": "{compared}."}, {"rule": {"kind": "bound", "document": 4}})
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_an_ambiguous_filter_names_claim_and_part(tmp_path):
    rows = samples("a", 1.0, cache_state="warm") + samples("a", 1.0, cache_state="cold")
    with pytest.raises(claims.ClaimsError, match=r"lee-x, part 'time': measure: .*cache_state"):
        judge(tmp_path, claim(), rows + samples("b", 1.0))


def test_claims_json_has_the_agreed_fields(tmp_path):
    found = judge(tmp_path, claim(basis="arithmetic"), ROWS)
    claims.write_json([found], tmp_path / "out" / "claims.json")
    [row] = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert list(row) == [
        "id", "document", "statement", "quote", "at", "rules", "rule", "measured", "low", "high",
        "shown", "verdict", "in_part", "basis", "noisy", "reason", "run_id", "notebook", "parts",
    ]  # fmt: skip
    assert (row["id"], row["verdict"], row["run_id"]) == ("lee-x", "holds", "run-1")
    assert row["low"] <= row["measured"] <= row["high"]
    assert "4× slower, 4 s against 1 s" in row["reason"]
    assert (row["parts"][0]["document"], row["basis"]) == (4, "arithmetic")


def test_the_summary_counts_and_says_when_sizes_are_toys(tmp_path):
    text = claims.summary_table([judge(tmp_path, claim(), ROWS)])
    assert "lee-x" in text and text.endswith("1 claims: 1 holds")
    toys = [{**row, "profile": "smoke"} for row in ROWS]
    assert "toy sizes" in claims.summary_table([judge(tmp_path, claim(), toys)])


def test_no_number_of_the_study_is_without_a_unit():
    for item in (item for known in load() for item in known.parts):
        counted = item.kind in ("count", "level", "difference") and item.fields.get("value")
        assert unit_of(item, QUANTITIES[counted].unit if counted else ""), item


def test_a_share_is_told_in_percent_with_its_interval(tmp_path):
    level = {"kind": "level", "value": "cpu_share", "cells": {"case": "a"}}
    rule, reason = {"kind": "count", "at_most": 0.5}, "CPU time is {count} of the wall time."
    rows = samples("a", 1.0, user_s=0.4, sys_s=0.0)
    rows[-1]["user_s"] = 0.45
    item = claim(part(measure=level, rule=rule, reason=reason))
    head = judge(tmp_path, item, [*rows, *quiet()]).headline
    assert head.shown == "40 % of the time [40 %, 45 %]"
    assert "CPU time is 40 % of the wall time. The interval is 40 % to 45 %." in head.reason


def test_labels_and_words_of_reasons():
    assert bands.label("holds", in_part=True, basis="calibration") == "holds in part (calibration)"
    assert bands.label("not measured", in_part=True, basis="calibration") == "not measured"
    signs = map(bands.sign, ("holds in part (calibration)", "refuted in part", "not measured"))
    assert "".join(signs) == "◐✗–"
    assert named("792x792 f4 *x10, i1 72x380") == "792x792 float32 *x10, int8 72x380"
    said = decided(Interval(0.97, 0.96, 0.98, 7), 1.09, "faster", "slower")
    assert said.startswith("3 % slower within blocks, which decides; ")
    unsure = decided(Interval(0.97, 0.76, 1.45, 7), 1.09, "faster", "slower")
    assert unsure == "not told apart [0.76, 1.45]"
    assert claims.totals(["refuted", "holds", "holds"]) == "3 claims: 2 holds, 1 refuted"
