"""What the A/A pair and other programs make of a verdict on times."""

import pytest
from made_claims import COUNT, claim, judge, part, quiet, samples

from hyperslab.claims.health import Health, health
from hyperslab.measure.records import frame_of


@pytest.mark.parametrize(
    ("state", "drift", "verdict", "word"),
    [
        ("warm", 1.01, "holds", ""),
        ("warm", 0.98, "holds", "Marked: the A/A pair of e warm is −2 % apart"),
        ("cold", 1.02, "holds", ""),
        ("cold", 1.04, "holds", "Marked"),
        ("warm", 1.06, "inconclusive", "void: the A/A pair of e warm is +6 % apart"),
        ("cold", 0.9, "inconclusive", "void"),
    ],
)
def test_the_aa_pair_of_the_run_marks_or_voids_times(tmp_path, state, drift, verdict, word):
    rows = [
        *samples("a", 4.0, cache_state=state),
        *samples("b", 1.0, cache_state=state),
        *quiet(drift, cache_state=state),
    ]
    found = judge(tmp_path, claim(), rows).headline
    assert found.verdict == verdict
    assert word in found.reason
    assert bool(found.marks) == ("Marked" in word)


@pytest.mark.parametrize(
    ("drift", "verdict"), [(1.01, "holds"), (1.045, "inconclusive"), (1 / 1.045, "inconclusive")]
)
def test_a_difference_that_the_aa_pair_could_make_decides_nothing(tmp_path, drift, verdict):
    rows = [*samples("a", 1.08), *samples("b", 1.0), *quiet(drift)]
    higher = part(rule={"kind": "direction", "above": True})
    found = judge(tmp_path, claim(higher), rows).headline
    assert found.verdict == verdict
    assert ("wider by 4.5 %" in found.reason) == (drift != 1.01)


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ({"kind": "direction", "above": True}, "holds"),
        ({"kind": "count", "at_least": 2}, "inconclusive"),
    ],
)
def test_behind_a_pair_that_is_far_apart_only_what_can_be_made_wider_is_judged(
    tmp_path, rule, verdict
):
    rows = [*samples("a", 4.0), *samples("b", 1.0), *quiet()]
    for row in rows:
        if row.get("aa") == "A" and row["block"] < 4:
            row["wall_s"] = 1.5 * row["wall_s"]
    found = judge(tmp_path, claim(part(rule=rule)), rows).headline
    assert found.verdict == verdict


def test_the_aa_pair_of_another_experiment_or_cache_state_says_nothing(tmp_path):
    rows = [
        *samples("a", 4.0, cache_state="warm"),
        *samples("b", 1.0, cache_state="warm"),
        *quiet(cache_state="warm"),
        *quiet(1.5, cache_state="cold"),
        *quiet(1.5, cache_state="warm", experiment="other"),
    ]
    found = judge(tmp_path, claim(), rows).headline
    assert (found.verdict, found.marks) == ("holds", ())


@pytest.mark.parametrize(
    ("others", "verdict", "marked"),
    [(0.05, "holds", False), (0.2, "holds", True), (0.4, "inconclusive", False)],
)
def test_other_programs_mark_or_void_times(tmp_path, others, verdict, marked):
    rows = [*samples("a", 4.0), *samples("b", 1.0), *quiet()]
    for row in rows:
        row["others_cpu"] = others
    found = judge(tmp_path, claim(), rows).headline
    assert (found.verdict, bool(found.marks)) == (verdict, marked)


def test_exact_counts_stand_in_a_void_run(tmp_path):
    rows = [*samples("a", 1.0, file_bytes=10.0), *quiet(2.0)]
    counted = part(measure=COUNT, rule={"kind": "count", "equals": 10}, reason="{count}")
    found = judge(tmp_path, claim(counted), rows).headline
    assert (found.verdict, found.marks) == ("holds", ())


def test_a_run_without_an_aa_pair_decides_nothing(tmp_path):
    found = judge(tmp_path, claim(), samples("a", 4.0) + samples("b", 1.0)).headline
    assert found.verdict == "inconclusive"
    assert "e has no A/A pair" in found.reason


def test_two_blocks_are_too_few_for_a_verdict_on_times(tmp_path):
    rows = [r for r in [*samples("a", 4.0), *samples("b", 1.0), *quiet()] if r["block"] in (0, 1)]
    found = judge(tmp_path, claim(), rows).headline
    assert found.verdict == "inconclusive"
    assert "Too few blocks" in found.reason


def test_the_aa_ratio_takes_the_phases_that_move_data():
    rows = quiet() + quiet(5.0, phase="create")
    assert health(frame_of(rows), "run-1", ["e"], [""]) == Health((), "")
