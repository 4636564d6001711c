"""Which layout is best, and by how much, follows the records."""

import json

import pytest
from made_bench import bench_frame

from hyperslab.tune.report.files import as_json
from hyperslab.tune.report.summary import Quantity, best, overall, ratio, times


def of(frame, label):
    return next(one for one in best(frame) if one.quantity.label == label)


def test_the_best_is_the_quickest_and_the_gain_is_over_the_files_own():
    found = of(bench_frame(spread=0.0), "map, cold")
    assert (found.target, found.baseline, found.alike) == ("1x72x144", "copy", ())
    assert found.gain.value == pytest.approx(4)


def test_without_the_files_own_the_slowest_is_compared_with():
    found = of(bench_frame(times={"a": 1.0, "b": 3.0, "c": 2.0}, spread=0.0), "write")
    assert (found.target, found.baseline) == ("a", "b")
    assert found.gain.value == pytest.approx(3)


def test_what_cannot_be_told_apart_is_marked():
    found = of(bench_frame(times={"copy": 2.0, "a": 1.0, "b": 1.001}), "map, warm")
    assert (found.target, found.alike) == ("a", ("b",))


def test_none_is_the_best_when_all_are_alike():
    times = {"copy": 1.001, "a": 1.0, "b": 1.002}
    assert not of(bench_frame(times=times, spread=0.02), "write").ahead
    assert of(bench_frame(times=times | {"b": 3.0}, spread=0.02), "write").ahead
    assert of(bench_frame(times={"copy": 1.0}), "write").ahead
    found = json.loads(as_json(bench_frame(times=times, spread=0.02)))
    assert found["best"]["write"] is None


def test_over_all_patterns():
    name, gain, chosen = overall(bench_frame(spread=0.0))
    assert name == "1x72x144"
    assert gain.value == pytest.approx(4)
    assert [one.label for one in chosen] == ["time_series, cold", "map, cold", "whole, cold"]


def test_there_may_be_nothing_to_compare():
    assert overall(bench_frame(times={"copy": 1.0})) is None
    assert overall(bench_frame(times={"a": 1.0, "b": 2.0})) is None
    assert overall(bench_frame(patterns=())) is None


def test_layouts_that_share_no_block_are_not_compared():
    frame = bench_frame()
    frame = frame[(frame["case"] != "copy") | (frame["block"] > 3)]
    frame = frame[(frame["case"] != "1x72x144") | (frame["block"] < 3)]
    assert ratio(times(frame), Quantity("write"), "copy", "1x72x144") is None
    assert ratio(times(frame), Quantity("write"), "copy", "no such layout") is None
    assert overall(frame) is None
