"""What the A/A pair and other programs make of a verdict on times."""

import pytest
from made_claims import COUNT, claim, judge, part, quiet, samples


def run(drift=1.0, a=4.0, **columns):
    """Records in which case a takes so long, case b a second, and a pair is so far apart."""
    return [*samples("a", a, **columns), *samples("b", 1.0, **columns), *quiet(drift, **columns)]


WARM, COLD = {"cache_state": "warm"}, {"cache_state": "cold"}
DIRECTION = {"rule": {"kind": "direction", "above": True}}
COUNTED = {"measure": COUNT, "rule": {"kind": "count", "equals": 10}, "reason": "{count}"}
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
        (STRAYING, {"rule": {"kind": "count", "at_least": 2}}, "inconclusive", True, "void"),
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
