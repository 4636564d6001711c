"""The page that says how to read verdicts: what it promises of the claims."""

import math
import re
from pathlib import Path

import pytest

from hyperslab.analysis.quantities import QUANTITIES
from hyperslab.claims import read
from hyperslab.claims.rules import effect

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "book/reading.md").read_text(encoding="utf-8")
CLAIMS = read(ROOT / "book/claims.yml").claims


def absolute(part):
    """Whether times of one configuration decide it, or their difference, and not a ratio."""
    value = QUANTITIES.get(str(part.fields.get("value", "")))
    of_one = part.kind in ("level", "difference", "share")
    return of_one and value is not None and value.timed


def test_it_names_each_claim_that_absolute_times_decide():
    named = PAGE.partition("(sec-decides)=")[2].partition("## Verdicts")[0]
    decided = [claim.id for claim in CLAIMS if absolute(claim.headline)]
    assert len(decided) > 2
    assert [name for name in decided if f"{{verdict}}`{name}`" not in named] == []


def test_its_bands_are_those_of_the_rule():
    rows = re.findall(r"^\* - ([\d.]+)\n  - ([\d.]+)\n  - ([\d.]+)$", PAGE, flags=re.MULTILINE)
    assert len(rows) > 4
    for document, *said in rows:
        rule = effect(float(document))
        ends = [math.exp(edge * rule.log_unit) for edge, _ in rule.edges[1:]]
        assert [float(end) for end in said] == pytest.approx(ends, rel=0.005), document
