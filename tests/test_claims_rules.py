"""Every verdict comes out of every rule that can give it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.claims.rules import RULES, bounds, calibration, direction, effect, equality, obsolete

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


@given(document=ratios)
def test_the_documents_own_number_holds(document):
    assert effect(document).verdict(document, document) == "holds"


@given(document=ratios, ours=st.lists(ratios, min_size=2, max_size=2), shrink=st.floats(0, 1))
def test_a_narrower_interval_never_changes_a_verdict_once_given(document, ours, shrink):
    low, high = sorted(ours)
    wide = effect(document).verdict(low, high)
    middle = low + shrink * (high - low)
    narrow = effect(document).verdict(middle, middle)
    assert wide in (narrow, "inconclusive")
