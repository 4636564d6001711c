"""Every verdict comes out of every rule that can give it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.claims.bands import VERDICTS
from hyperslab.claims.rules import (
    RULES,
    Bounds,
    Calibration,
    Direction,
    Effect,
    Equality,
    Obsolete,
    Rule,
)

CASES = [
    (Effect(4.0), 4.0, 4.0, "holds"),
    (Effect(4.0), 2.0, 16.0, "holds"),  # both edges: half and twice the logarithm
    (Effect(4.0), 1.1, 1.9, "weaker"),
    (Effect(4.0), 1.0, 1.0, "weaker"),
    (Effect(4.0), 17.0, 20.0, "stronger"),
    (Effect(4.0), 0.5, 0.9, "reversed"),
    (Effect(4.0), 1 / 1.05, 1.02, "weaker"),  # the other side, by what is no difference
    (Effect(4.0), 0.9, 0.97, "inconclusive"),
    (Effect(0.25), 1.01, 1.03, "weaker"),
    (Effect(4.0), 0.9, 1.1, "inconclusive"),
    (Effect(4.0), 1.5, 3.0, "inconclusive"),
    (Effect(0.25), 0.3, 0.4, "holds"),
    (Effect(0.25), 0.8, 0.9, "weaker"),
    (Effect(0.25), 0.01, 0.02, "stronger"),
    (Effect(0.25), 1.5, 2.0, "reversed"),
    (Effect(0.25), 0.4, 0.6, "inconclusive"),
    (Direction(True), 1.1, 1.4, "holds"),
    (Direction(True), 1.0, 1.02, "weaker"),
    (Direction(True), 0.3, 0.6, "reversed"),
    (Direction(True), 0.9, 1.2, "inconclusive"),
    (Direction(False), 0.3, 0.6, "holds"),
    (Direction(False), 0.99, 1.0, "weaker"),
    (Direction(False), 1.1, 1.4, "reversed"),
    (Equality(0.15), 0.9, 1.1, "holds"),
    (Equality(0.15), 1 / 1.15, 1.15, "holds"),
    (Equality(0.15), 1.2, 1.3, "refuted"),
    (Equality(0.15), 0.5, 0.6, "refuted"),
    (Equality(0.15), 1.1, 1.2, "inconclusive"),
    (Equality(0.15), 0.5, 1.5, "inconclusive"),  # refuted on both sides is not refuted
    (Bounds(at_least=10), 12, 12, "holds"),
    (Bounds(at_least=10), 10, 10, "holds"),
    (Bounds(at_least=10), 9, 9, "refuted"),
    (Bounds(at_most=10), 9, 11, "inconclusive"),
    (Bounds(at_least=1, at_most=2), 0, 3, "inconclusive"),
    (Calibration(0.03), -0.02, -0.02, "holds"),
    (Calibration(0.03), 0.04, 0.04, "refuted"),
    (Obsolete(1281, 1281), 1281, 1281, "holds"),
    (Obsolete(1281, 1281), 8760, 8760, "obsolete"),
    (Obsolete(at_most=10), 9, 12, "inconclusive"),
]


@pytest.mark.parametrize(("rule", "low", "high", "verdict"), CASES)
def test_an_interval_gives_the_verdict_of_its_band(
    rule: Rule, low: float, high: float, verdict: str
) -> None:
    assert rule.verdict((low + high) / 2, low, high) == verdict


def test_the_cases_show_every_verdict_a_rule_can_give() -> None:
    assert {verdict for *_, verdict in CASES} == set(VERDICTS) - {"not measured"}


@pytest.mark.parametrize("rule", [Effect(2.0), Direction(True), Equality(0.1), Bounds(0.0, 1.0)])
def test_a_missing_number_decides_nothing(rule: Rule) -> None:
    assert rule.verdict(math.nan, math.nan, math.nan) == "inconclusive"


ratios = st.floats(1e-3, 1e3).filter(lambda x: abs(math.log(x)) > 1e-6)


@given(document=ratios, ours=st.lists(ratios, min_size=3, max_size=3))
def test_dividing_the_other_way_round_changes_no_verdict(
    document: float, ours: list[float]
) -> None:
    low, value, high = sorted(ours)
    upside = Effect(document).verdict(value, low, high)
    assert Effect(1 / document).verdict(1 / value, 1 / high, 1 / low) == upside
    margin = 0.15
    assert Equality(margin).verdict(1 / value, 1 / high, 1 / low) == Equality(margin).verdict(
        value, low, high
    )
    turned = Direction(True).verdict(value, low, high)
    assert Direction(False).verdict(1 / value, 1 / high, 1 / low) == turned


@given(document=ratios)
def test_the_documents_own_number_holds(document: float) -> None:
    assert Effect(document).verdict(document, document, document) == "holds"


@given(document=ratios, ours=st.lists(ratios, min_size=2, max_size=2), shrink=st.floats(0, 1))
def test_a_narrower_interval_never_changes_a_verdict_once_given(
    document: float, ours: list[float], shrink: float
) -> None:
    low, high = sorted(ours)
    wide = Effect(document).verdict(low, low, high)
    middle = low + shrink * (high - low)
    narrow = Effect(document).verdict(middle, middle, middle)
    assert wide in (narrow, "inconclusive")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Effect(1.0), "use the rule equality|'the same' use the rule equality"),
        (lambda: Effect(-2.0), "an effect needs a ratio"),
        (lambda: Equality(15), "share between 0 and 1"),
        (lambda: Bounds(), "bounds nothing"),
        (lambda: Bounds(2, 1), "above at_most"),
        (lambda: Calibration(0), "share between 0 and 1"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=message):
        make()


def test_equals_with_a_tolerance_is_two_bounds() -> None:
    rule = RULES["count"][0](equals=512, tolerance=0.2)
    assert rule.verdict(473, 473, 473) == "holds"
    assert rule.verdict(400, 400, 400) == "refuted"
    assert rule.document == 512


@pytest.mark.parametrize("rule", [rule for rule, *_ in CASES])
def test_a_rule_says_when_the_claim_holds(rule: Rule) -> None:
    assert "holds" in rule.describe()
