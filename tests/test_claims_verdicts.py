"""Every number of a claim says what it is."""

from made_claims import claim, judge, load, part, quiet, samples

from hyperslab.analysis.quantities import QUANTITIES
from hyperslab.claims.verdicts import unit_of

LEVEL = {"kind": "level", "value": "cpu_share", "cells": {"case": "a"}}
COUNTED = ("count", "level", "difference")
BOUNDS = {"kind": "count", "at_most": 0.5}


def test_no_number_of_the_study_is_without_a_unit():
    for item in (item for known in load() for item in known.parts):
        counted = str(item.fields.get("value", "")) if item.kind in COUNTED else ""
        assert unit_of(item, QUANTITIES[counted].unit if counted else ""), item


def test_a_share_is_told_in_percent_with_its_interval(tmp_path):
    item = part(measure=LEVEL, rule=BOUNDS, reason="CPU time is {count} of the wall time.")
    rows = samples("a", 1.0, user_s=0.4, sys_s=0.0)
    rows[-1]["user_s"] = 0.45
    head = judge(tmp_path, claim(item), [*rows, *quiet()]).headline
    assert head.shown == "40 % of the time [40 %, 45 %]"
    assert "CPU time is 40 % of the wall time. The interval is 40 % to 45 %." in head.reason
