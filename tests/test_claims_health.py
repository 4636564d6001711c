"""What the A/A pair and other programs make of a verdict on times."""

import pytest
from made_claims import COUNT, claim, judge, part, quiet, samples


def headline(folder, rows, **changes):
    return judge(folder, claim(part(**changes)), rows).headline


def run(drift=1.0, a=4.0, **columns):
    """Records in which case a takes so long, case b a second, and a pair is so far apart."""
    return [*samples("a", a, **columns), *samples("b", 1.0, **columns), *quiet(drift, **columns)]


@pytest.mark.parametrize(
    ("drift", "columns", "verdict", "word"),
    [
        (0.98, {"cache_state": "warm"}, "holds", "Marked: the A/A pair of e warm is −2 % apart"),
        (1.02, {"cache_state": "cold"}, "holds", ""),
        (1.06, {"cache_state": "warm"}, "inconclusive", "void: the A/A pair of e warm is +6 %"),
        (1.0, {"others_cpu": 0.2}, "holds", "Marked"),
        (1.0, {"others_cpu": 0.4}, "inconclusive", "void"),
    ],
)
def test_the_aa_pair_and_other_programs_mark_or_void_times(tmp_path, drift, columns, verdict, word):
    found = headline(tmp_path, run(drift, **columns))
    assert found.verdict == verdict and word in found.reason
    assert bool(found.marks) == ("Marked" in word)


@pytest.mark.parametrize(
    ("drift", "verdict"), [(1.01, "holds"), (1.045, "inconclusive"), (1 / 1.045, "inconclusive")]
)
def test_a_difference_that_the_aa_pair_could_make_decides_nothing(tmp_path, drift, verdict):
    found = headline(tmp_path, run(drift, a=1.08), rule={"kind": "direction", "above": True})
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
    rows = run()
    for row in rows:
        if row.get("aa") == "A" and row["block"] < 4:
            row["wall_s"] = 1.5 * row["wall_s"]
    assert headline(tmp_path, rows, rule=rule).verdict == verdict


def test_the_aa_pair_of_another_experiment_or_cache_state_says_nothing(tmp_path):
    others = quiet(1.5, cache_state="cold")
    others += quiet(1.5, cache_state="warm", experiment="other")
    found = headline(tmp_path, run(cache_state="warm") + others)
    assert (found.verdict, found.marks) == ("holds", ())


def test_exact_counts_stand_in_a_void_run(tmp_path):
    counted = {"measure": COUNT, "rule": {"kind": "count", "equals": 10}, "reason": "{count}"}
    found = headline(tmp_path, run(2.0, file_bytes=10.0), **counted)
    assert (found.verdict, found.marks) == ("holds", ())


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([row for row in run() if "aa" not in row], "e has no A/A pair"),
        ([row for row in run() if row["block"] < 2], "Too few blocks"),
    ],
)
def test_without_a_pair_or_with_two_blocks_times_decide_nothing(tmp_path, rows, why):
    found = headline(tmp_path, rows)
    assert found.verdict == "inconclusive" and why in found.reason
