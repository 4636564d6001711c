"""Rules turn an interval into a verdict, at the edges that their descriptions name."""

import pytest

from hyperslab.claims.rules import RULES


@pytest.mark.parametrize(
    ("kind", "fields", "low", "high", "verdict"),
    [
        ("effect", {"document": 4}, 2.0, 16.0, "holds"),
        ("effect", {"document": 4}, 1.99, 2.01, "inconclusive"),
        ("effect", {"document": 4}, 1.0, 1.99, "weaker"),
        ("effect", {"document": 4}, 0.96, 1.01, "weaker"),
        ("effect", {"document": 4}, 0.9, 0.94, "reversed"),
        ("effect", {"document": 4}, 16.1, 20.0, "stronger"),
        ("effect", {"document": 0.25}, 0.06, 0.062, "stronger"),
        ("direction", {"above": True}, 1.06, 1.5, "holds"),
        ("direction", {"above": False}, 0.5, 0.9, "holds"),
        ("direction", {"above": False}, 1.06, 1.5, "reversed"),
        ("direction", {"above": False}, 0.96, 1.04, "weaker"),
        ("equality", {"margin": 0.05}, 0.96, 1.04, "holds"),
        ("equality", {"margin": 0.05}, 0.96, 1.06, "inconclusive"),
        ("equality", {"margin": 0.05}, 1.06, 1.07, "refuted"),
        ("count", {"equals": 10, "tolerance": 0.1}, 9.0, 11.0, "holds"),
        ("count", {"at_least": 1}, 0.9, 0.99, "refuted"),
        ("calibration", {"tolerance": 0.03}, -0.03, 0.03, "holds"),
        ("calibration", {"tolerance": 0.03}, 0.031, 0.031, "refuted"),
        ("obsolete", {"equals": 0}, 1.0, 1.0, "obsolete"),
        ("obsolete", {"equals": 0}, 0.0, 0.0, "holds"),
        ("effect", {"document": 4}, float("nan"), 4.0, "inconclusive"),
    ],
)
def test_an_interval_has_the_verdict_of_its_band(kind, fields, low, high, verdict):
    rule, _ = RULES[kind]
    assert rule(**fields).verdict((low + high) / 2, low, high) == verdict
