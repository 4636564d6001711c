"""Badges and advice of the book: each kind on claims that are judged by made-up records."""

import sys
from pathlib import Path

import pytest
from made_claims import claim, judge, part, quiet, samples

sys.path.append(str(Path(__file__).parents[1] / "book/_ext"))
import findings
import verdicts

ABSENT = {"kind": "ratio", "value": "wall_s", "of": {"case": "a"}, "to": {"case": "absent"}}
CONTRARY = {"kind": "count", "at_most": 0.1}


@pytest.fixture
def made(tmp_path):
    """Judge a claim of two parts by records in which case a takes `ratio` times as long as b."""

    def make(ratio=4.0, *, second=None, **changes):
        head = {name: changes.pop(name) for name in ("measure", "rule") if name in changes}
        other = part(name="other", headline=False, **(second or {}))
        item = claim(part(**head), other, **changes)
        rows = [*samples("a", ratio), *samples("b", 1.0), *quiet()]
        judged = judge(tmp_path, item, rows).as_json()
        return findings.joined([item], {"trial": "A trial"}, [judged])["lee-x"]

    return make


def text(found):
    return verdicts.mark(found).astext()


def test_a_badge_is_the_claim_s_own_and_a_part_s_says_so(made):
    assert text(made()) == "holds"
    assert [text(each) for each in made().parts] == ["one part: holds", "one part: holds"]
    assert text(made(1.5)) == "weaker"
    assert text(made(second={"rule": CONTRARY})) == "holds in part"
    assert text(made(second={"measure": ABSENT}).parts[1]) == "one part: not measured"
    rule = {"kind": "equality", "margin": 0.15}
    refuted = made(rule=rule, second={"rule": {"kind": "effect", "document": 4}})
    assert text(refuted) == "refuted in part"
    assert verdicts.mark(refuted)["classes"] == ["verdict", "verdict-refuted"]
    by_construction = made(basis="calibration")
    for shown in (by_construction, by_construction.parts[0]):
        assert text(shown) == "by construction: holds"


def test_no_part_holds_beside_a_claim_that_is_not_measured(made):
    found = made(measure=ABSENT)
    other = found.parts[1]
    assert (found.verdict, other.verdict) == ("not measured", "holds")
    assert text(found) == "not measured"
    assert text(other) == "not measured (this part: holds)"
    assert "verdict-not-measured" in verdicts.mark(other)["classes"]
    said = {"holds": "Do it.", "otherwise": "Do not."}
    for each in (found, other):
        assert verdicts.advised(each, said) == verdicts.NO_ADVICE["not measured"]


@pytest.mark.parametrize(
    ("ratio", "head", "sentence"),
    [
        (4.0, {}, "Do it."),
        (0.2, {}, "Do not."),
        (4.0, {"measure": ABSENT}, "Measure it."),
        (4.0, {"rule": {"kind": "count", "at_least": 4.0}}, "Do it."),
    ],
)
def test_advice_is_that_of_the_verdict(made, ratio, head, sentence):
    said = {"holds": "Do it.", "undecided": "Measure it.", "otherwise": "Do not."}
    assert verdicts.advised(made(ratio, **head), said) == sentence
    assert verdicts.advised(None, {"holds": "Do it."}) == verdicts.NO_ADVICE["not measured"]


def test_only_what_has_the_unit_has_it(made):
    found = made(numbers={"unit": "s", "one": 2.5, "other": 4, "pure": {"rows": 8}})
    assert found.said() == "one 2.5, other 4 s; rows 8"


def test_every_verdict_is_explained():
    assert {*verdicts.KINDS} == {*verdicts.VERDICTS, verdicts.IN_PART}
