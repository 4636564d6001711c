"""Verdicts on made-up records."""

import json

import pytest
from made_claims import BLOCKS, COUNT, RATIO, claim, judge, part, quiet, samples, written

from hyperslab import claims

VERDICTS = [
    ({"kind": "effect", "document": 4}, RATIO, 1.5, "weaker"),
    ({"kind": "effect", "document": "1 / 4"}, RATIO, 0.25, "holds"),
    ({"kind": "direction", "above": True}, RATIO, 0.5, "reversed"),
    ({"kind": "direction", "above": False}, RATIO, 0.99, "weaker"),
    ({"kind": "equality", "margin": 0.15}, RATIO, 2.0, "refuted"),
    ({"kind": "count", "equals": 512, "tolerance": 0.1}, COUNT, 500.0, "holds"),
    ({"kind": "count", "at_most": 100}, COUNT, 500.0, "refuted"),
    ({"kind": "calibration", "tolerance": 0.03}, COUNT, 0.2, "refuted"),
    ({"kind": "obsolete", "equals": 1281}, COUNT, 8760.0, "obsolete"),
]


@pytest.mark.parametrize(("rule", "measure", "found", "verdict"), VERDICTS)
def test_every_rule_gives_its_verdicts_on_records(tmp_path, rule, measure, found, verdict):
    rows = [*samples("a", found, file_bytes=found), *samples("b", 1.0), *quiet()]
    reason = "{value}" if measure is COUNT else "{compared}"
    judged = judge(tmp_path, claim(part(rule=rule, measure=measure, reason=reason)), rows)
    assert (judged.verdict, judged.headline.measured) == (verdict, pytest.approx(found))
    assert judged.headline.run_id == "run-1"


@pytest.mark.parametrize("status", ["ok", "no ROS3 driver in this build"])
def test_what_was_impossible_is_obsolete_once_it_works(tmp_path, status):
    measure = {"kind": "ability", "cells": {"case": "http"}}
    trial = part(measure=measure, rule={"kind": "obsolete", "equals": 0}, reason="{outcome}")
    judged = judge(tmp_path, claim(trial), samples("http", 1.0, status=status))
    assert judged.verdict == ("obsolete" if status == "ok" else "holds")


def test_an_interval_across_a_threshold_is_inconclusive(tmp_path):
    rows = [*samples("a", 1.0), *samples("b", 1.0), *quiet()]
    for row in rows[:BLOCKS]:
        row["wall_s"] = 0.5 + 0.25 * row["block"]
    judged = judge(tmp_path, claim(), rows)
    assert judged.verdict == "inconclusive"
    assert "crosses a threshold" in judged.headline.reason


def test_without_records_a_claim_says_what_measures_it(tmp_path):
    [found] = claims.evaluate(claims.load(written(tmp_path, claim())), tmp_path)
    assert found.verdict == "not measured"
    assert "`hyperslab run trial` measures it" in found.headline.reason
    assert found.as_json()["measured"] is None


def test_what_is_missing_here_is_passed_on_with_its_command(tmp_path):
    rows = samples("a", 1.0, status="missing: no mpicc; apt-get install libopenmpi-dev")
    found = judge(tmp_path, claim(), rows + samples("b", 1.0)).headline
    assert found.verdict == "not measured"
    assert "apt-get install libopenmpi-dev" in found.reason


def test_the_headline_gives_the_verdict_and_the_other_parts_keep_theirs(tmp_path):
    other = part(name="same", headline=False, rule={"kind": "equality", "margin": 0.1})
    rows = [*samples("a", 4.0), *samples("b", 1.0), *quiet()]
    found = judge(tmp_path, claim(other, part()), rows)
    assert [p.verdict for p in found.parts] == ["refuted", "holds"]
    assert found.verdict == "holds"
    assert "2× slower" not in found.headline.reason
    assert "4× slower, 4 s against 1 s" in found.headline.reason


@pytest.mark.parametrize(
    ("profile", "found", "verdict"), [("full", 4, "holds"), ("quick", 1.5, "weaker")]
)
def test_the_first_headline_that_is_measured_gives_the_verdict_alone(
    tmp_path, profile, found, verdict
):
    timed = part(measure={**RATIO, "where": {"profile": ["full"], "experiment": "e"}})
    computed = part(name="computed", measure={**RATIO, "where": {"experiment": "f"}})
    rows = [*samples("a", 4.0), *samples("b", 1.0), *quiet()]
    rows += [*samples("a", 1.5, experiment="f"), *samples("b", 1.0, experiment="f")]
    rows += quiet(experiment="f")
    rows = [{**row, "profile": profile} for row in rows]
    judged = judge(tmp_path, claim(timed, computed), rows)
    assert (judged.verdict, judged.headline.measured) == (verdict, pytest.approx(found))
    assert [each.headline for each in judged.parts] == [True]
    assert judge(tmp_path, claim(timed, computed), rows[:1]).headline.name == "time"


@pytest.mark.parametrize(
    ("limit", "verdict", "partly"), [(0.01, "refuted", True), (0.9, "holds", False)]
)
def test_a_claim_holds_in_part_where_another_part_came_out_against_it(
    tmp_path, limit, verdict, partly
):
    other = part(name="same", headline=False, rule={"kind": "count", "at_least": 1 / limit})
    rows = [*samples("a", 4.0), *samples("b", 1.0), *quiet()]
    found = judge(tmp_path, claim(other, part(), basis="arithmetic"), rows)
    assert [p.verdict for p in found.parts] == [verdict, "holds"]
    assert found.verdict == "holds"
    row = found.as_json()
    assert (row["in_part"], row["basis"]) == (partly, "arithmetic")
    assert (
        "The claim holds in part: “same” came out otherwise." in found.headline.reason
    ) == partly


@pytest.mark.parametrize(
    ("role", "least", "label"),
    [("", 1.2, "weaker in part"), ("why", 1.2, "weaker"), ("", 1.9, "weaker")],
)
def test_what_is_decided_otherwise_is_so_in_part_where_a_part_of_the_sentence_holds(
    tmp_path, role, least, label
):
    other = part(name="above", headline=False, role=role, rule={"kind": "count", "at_least": least})
    rows = [*samples("a", 1.5), *samples("b", 1.0), *quiet()]
    found = judge(tmp_path, claim(other, part()), rows)
    assert found.label == label
    assert ("“above” held" in found.headline.reason) == ("in part" in label)


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
    found = judge(tmp_path, claim(), [*samples("a", 4.0), *samples("b", 1.0), *quiet()])
    claims.write_json([found], tmp_path / "out" / "claims.json")
    [row] = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert list(row) == [
        "id", "document", "statement", "quote", "at", "rules", "rule", "measured", "low", "high",
        "shown", "verdict", "in_part", "basis", "noisy", "reason", "run_id", "notebook", "parts",
    ]  # fmt: skip
    assert (row["id"], row["verdict"], row["run_id"]) == ("lee-x", "holds", "run-1")
    assert row["low"] <= row["measured"] <= row["high"]
    assert row["parts"][0]["document"] == 4


def test_the_summary_counts_and_says_when_sizes_are_toys(tmp_path):
    rows = [*samples("a", 4.0), *samples("b", 1.0), *quiet()]
    text = claims.summary_table([judge(tmp_path, claim(), rows)])
    assert "lee-x" in text
    assert text.endswith("1 claims: 1 holds")
    toys = [{**row, "profile": "smoke"} for row in rows]
    assert "toy sizes" in claims.summary_table([judge(tmp_path, claim(), toys)])
