"""Claims: their file, their rules, and verdicts on made-up records."""

import json
import math
from datetime import date
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_claims import COUNT, RATIO, claim, judge, load, part, quiet, samples, written

from hyperslab import claims
from hyperslab.analysis.quantities import QUANTITIES
from hyperslab.claims import bands
from hyperslab.claims.measured import decided
from hyperslab.claims.rules import RULES, bounds, calibration, direction, effect, equality, obsolete
from hyperslab.claims.verdicts import named, unit_of
from hyperslab.text import Interval


def run(drift=1.0, a=4.0, **columns):
    """Records in which case a takes so long, case b a second, and a pair is so far apart."""
    return [*samples("a", a, **columns), *samples("b", 1.0, **columns), *quiet(drift, **columns)]


@pytest.mark.parametrize(
    ("rule", "measure", "found", "verdict"),
    [
        ({"kind": "effect", "document": "1 / 4"}, RATIO, 0.25, "holds"),
        ({"kind": "obsolete", "equals": 1281}, COUNT, 8760.0, "obsolete"),
    ],
)
def test_rules_give_their_verdicts_on_records(tmp_path, rule, measure, found, verdict):
    rows = run(a=found, file_bytes=found)
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
    rows = run(profile=profile) + run(a=1.5, profile=profile, experiment="f")
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
    found = judge(tmp_path, claim(other, part()), run(a=ratio))
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


def test_a_part_comes_back_from_json_as_it_was():
    part = claims.PartVerdict(
        "p", True, "r", 4.0, 1.0, math.inf, "B/s", math.nan, "holds", "why", "run-1", "n", ("m",)
    )
    assert repr(claims.PartVerdict.of_json(json.loads(json.dumps(part.as_json())))) == repr(part)


def test_claims_json_has_the_agreed_fields(tmp_path):
    found = judge(tmp_path, claim(basis="arithmetic"), run())
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
    text = claims.summary_table([judge(tmp_path, claim(), run())])
    assert "lee-x" in text and text.endswith("1 claims: 1 holds")
    toys = judge(tmp_path, claim(), run(profile="smoke"))
    assert "toy sizes" in claims.summary_table([toys])


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


BOOK = Path(__file__).parents[1] / "book" / "claims.yml"
WRONG = [
    (claim(document="lea"), "lee-x: document is 'lea': allowed is one of lee"),
    (claim(dated="today"), "lee-x: dated is 'today': allowed is a date"),
    (claim(colour="red"), "lee-x: fields is 'colour': allowed is id, title, document"),
    (claim(part(headline=False)), "lee-x: headline is 'none': allowed is one part"),
    (claim(part(), part(headline=False)), "a different name for each part"),
    (claim(part(measure={"kind": "guess"})), "part 'time': measure: kind is 'guess': .*count_rat"),
    (claim(part(measure={**RATIO, "value": "speed"})), "measure: value is 'speed': .*rate"),
    (claim(part(measure={**COUNT, "value": "wall_s"})), "value is 'wall_s': .*file_bytes"),
    (claim(part(measure={**RATIO, "of": {"wall_s": 1}})), "measure: of is 'wall_s': .*a label"),
    (claim(part(measure={**RATIO, "phases": ["red"]})), "measure: phases is 'red': .*read"),
    (claim(part(measure={"kind": "ratio", "value": "rate"})), "measure: the field of is missing"),
    (claim(part(measure={**COUNT, "factor": "a / b"})), "measure: factor: 'a / b' is no number"),
    (claim(part(rule={"kind": "effect"})), "rule effect: .*document"),
    (claim(part(rule={"kind": "effect", "document": 1})), "rule effect: document is 1.0"),
    (claim(part(rule={"kind": "equality", "margin": 15})), "rule equality: margin is 15"),
    (claim(part(rule={"kind": "calibration", "tolerance": 0})), "tolerance is 0.*above 0, up to 1"),
    (claim(part(rule={"kind": "count", "at_least": 2, "at_most": 1})), "2.0 is above at_most 1.0"),
    (claim(part(rule={"kind": "count"})), "rule count: give at_least, at_most, or equals"),
    (claim(part(reason="{speed}")), "reason is 'speed': .*compared"),
    (claim(part(reason="It is faster.")), "reason is 'faster': .*compared"),
    (claim(basis="guess"), "lee-x: basis is 'guess': allowed is one of calibration, arithmetic"),
    (claim(changes=[{"date": "x", "reason": "y"}]), "changes: date is 'x'"),
    (claim(first={"date": date(2026, 12, 1), "verdict": "true"}), "first: verdict is 'true'"),
]


@pytest.mark.parametrize(("item", "message"), WRONG)
def test_a_wrong_file_is_refused_by_name(tmp_path, item, message):
    with pytest.raises(claims.ClaimsError, match=message):
        claims.read(written(tmp_path, item))


def test_a_figure_is_one_of_its_notebook():
    shown = [one for one in claims.read(BOOK).claims if one.figure]
    assert len(shown) > 60
    for one in shown:
        notebook = BOOK.parents[1] / "notebooks" / f"{one.notebook}.ipynb"
        assert f'\\"{one.figure}\\"' in notebook.read_text(encoding="utf-8"), one.id


def test_an_id_given_twice_what_is_no_yaml_and_renames_of_no_commits_are_refused(tmp_path):
    with pytest.raises(claims.ClaimsError, match="lee-x: id is 'lee-x'"):
        claims.read(written(tmp_path, claim(), claim()))
    renames = [{"date": date(2026, 11, 24), "commits": "main", "reason": "r"}]
    with pytest.raises(claims.ClaimsError, match="commits is 'main'"):
        claims.read(written(tmp_path, claim(), renames=renames))
    (tmp_path / "claims.yml").write_text("claims: [")
    with pytest.raises(claims.ClaimsError, match=r"claims.yml is not YAML"):
        claims.read(tmp_path / "claims.yml")


def test_claims_are_sentences_that_stand_by_document_under_titles_of_their_own():
    book = claims.read(BOOK)
    documents = [name for name, _ in groupby(claim.document for claim in book.claims)]
    assert documents == list(book.documents)
    assert len({claim.title for claim in book.claims}) == len(book.claims)
    assert [each.id for each in book.claims if not each.id.startswith(f"{each.document}-")] == []
    assert [each.id for each in book.claims if ". " in each.statement] == []


WARM, COLD = {"cache_state": "warm"}, {"cache_state": "cold"}
DIRECTION = {"rule": {"kind": "direction", "above": True}}
COUNTED = {"measure": COUNT, "rule": {"kind": "count", "equals": 10}, "reason": "{count}"}
SECONDS = {
    "measure": {"kind": "level", "value": "wall_s", "phases": ["read"], "cells": RATIO["of"]},
    "rule": {"kind": "count", "at_least": 0},
    "reason": "{count}",
}
STRAYING = [
    row | {"wall_s": 1.5 * row["wall_s"]} if row.get("aa") == "A" and row["block"] < 4 else row
    for row in run()
]
OTHERS = quiet(1.5, **COLD) + quiet(1.5, **WARM, experiment="other")
NO_PAIR, FEW = [row for row in run() if "aa" not in row], [r for r in run() if r["block"] < 2]


@pytest.mark.parametrize(
    ("rows", "changes", "verdict", "marked", "word"),
    [
        (run(0.98, **WARM), {}, "holds", True, "Marked: the A/A pair of e warm is −2 % apart"),
        (run(1.02, **COLD), {}, "holds", False, ""),
        (run(1.06, **WARM), {}, "inconclusive", False, "void: the A/A pair of e warm is +6 %"),
        (run(others_cpu=0.2), {}, "holds", True, "other programs took 20 %"),
        (run(others_cpu=0.4), {}, "inconclusive", False, "void"),
        # A difference that the pair could make decides nothing.
        (run(1.01, a=1.08), DIRECTION, "holds", False, ""),
        (run(1.045, a=1.08), DIRECTION, "inconclusive", True, "wider by 4.5 %"),
        (run(1 / 1.045, a=1.08), DIRECTION, "inconclusive", True, "wider by 4.5 %"),
        # Behind a pair that is far apart only what can be made wider is judged.
        (STRAYING, DIRECTION, "holds", True, "wider by 22 %"),
        (STRAYING, {"rule": {"kind": "count", "at_least": 2}}, "holds", True, "wider by 22 %"),
        (STRAYING, SECONDS, "inconclusive", True, "void"),
        # The pair of another experiment or cache state says nothing.
        (run(**WARM) + OTHERS, {}, "holds", False, ""),
        # Exact counts stand in a void run.
        (run(2.0, file_bytes=10.0), COUNTED, "holds", False, ""),
        (NO_PAIR, {}, "inconclusive", False, "e has no A/A pair"),
        (FEW, {}, "inconclusive", False, "Too few blocks"),
    ],
)
def test_the_aa_pair_and_other_programs_mark_widen_or_void_times(
    tmp_path, rows, changes, verdict, marked, word
):
    found = judge(tmp_path, claim(part(**changes)), rows).headline
    assert (found.verdict, bool(found.marks)) == (verdict, marked)
    assert word in found.reason


CASES = [
    (effect(4.0), 2.0, 16.0, "holds"),  # both edges: half and twice the logarithm
    (effect(4.0), 1.0, 1.0, "weaker"),
    (effect(4.0), 17.0, 20.0, "stronger"),
    (effect(4.0), 0.5, 0.9, "reversed"),
    (effect(4.0), 1 / 1.05, 1.02, "weaker"),  # the other side, by what is no difference
    (effect(4.0), 0.9, 0.97, "inconclusive"),
    (direction(True), 1.1, 1.4, "holds"),
    (direction(True), 1.0, 1.02, "weaker"),
    (direction(True), 0.3, 0.6, "reversed"),
    (direction(False), 0.3, 0.6, "holds"),
    (equality(0.15), 1 / 1.15, 1.15, "holds"),
    (equality(0.15), 1.2, 1.3, "refuted"),
    (equality(0.15), 0.5, 1.5, "inconclusive"),  # refuted on both sides is not refuted
    (bounds(at_least=10), 10, 10, "holds"),
    (bounds(at_least=10), math.nan, math.nan, "inconclusive"),  # not a number
    (RULES["count"][0](equals=512, tolerance=0.2), 473, 473, "holds"),
    (RULES["count"][0](equals=512, tolerance=0.2), 400, 400, "refuted"),
    (bounds(at_least=10), 9, 9, "refuted"),
    (bounds(at_least=1, at_most=2), 0, 3, "inconclusive"),
    (calibration(0.03), -0.02, -0.02, "holds"),
    (calibration(0.03), 0.04, 0.04, "refuted"),
    (obsolete(equals=1281), 1281, 1281, "holds"),
    (obsolete(equals=1281), 8760, 8760, "obsolete"),
]


@pytest.mark.parametrize(("rule", "low", "high", "verdict"), CASES)
def test_an_interval_gives_the_verdict_of_its_band(rule, low, high, verdict):
    assert rule.verdict(low, high) == verdict


ratios = st.floats(1e-3, 1e3).filter(lambda x: abs(math.log(x)) > 1e-6)


@given(document=ratios, ours=st.lists(ratios, min_size=2, max_size=2))
def test_dividing_the_other_way_round_changes_no_verdict(document, ours):
    low, high = sorted(ours)
    rules = ((effect(document), effect(1 / document)), (equality(0.15), equality(0.15)))
    for rule, turned in (*rules, (direction(True), direction(False))):
        assert turned.verdict(1 / high, 1 / low) == rule.verdict(low, high)


@given(document=ratios, ours=st.lists(ratios, min_size=2, max_size=2), shrink=st.floats(0, 1))
def test_a_narrower_interval_never_changes_a_verdict_once_given(document, ours, shrink):
    low, high = sorted(ours)
    wide = effect(document).verdict(low, high)
    middle = low + shrink * (high - low)
    narrow = effect(document).verdict(middle, middle)
    assert wide in (narrow, "inconclusive")
    assert effect(document).verdict(document, document) == "holds"
