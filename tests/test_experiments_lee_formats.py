"""Whole arrays in one call: wrong values are noticed, and means are of what both have."""

import pytest
from made_claims import COMMON, timed

from hyperslab.analysis.compare import compare
from hyperslab.experiments.lee_formats import get_plain, put_plain
from hyperslab.io.calls import Dd, Whole, copied_in
from hyperslab.io.experiment import Array, Create, File
from hyperslab.io.layout import Layout
from hyperslab.measure.records import frame_of


def test_wrong_values_are_noticed(tmp_path):
    array, plain, copy = Whole((4, 4)), tmp_path / "a", tmp_path / "b"
    values = array.values()
    values.tofile(plain)
    assert array.stored(plain, "") and array.same(values)
    values[1, 1] += 1
    for wrong in (values, values[:2], array.values().astype("i8")):
        assert not array.same(wrong)
    values.tofile(copy)
    assert not array.stored(copy, "") and not Dd(plain, copy).right(64)
    assert Dd(plain).right(64) and not Dd(plain).right(63)
    long = Whole((64, 2**11)).values()  # of two pieces
    assert Whole(long.shape).same(long)
    long[-1, -1] += 1
    assert not Whole(long.shape).same(long)
    with pytest.raises(ValueError, match="no bytes and seconds"):
        copied_in("dd: no such file")


def test_writes_have_memory_in_place_and_reads_by_their_files(tmp_path):
    array = Whole((4, 4))
    for case in put_plain(array, tmp_path, tmp_path):
        assert case.work.parts("")["memory_bytes"] == 2 * array.nbytes
    for case in get_plain(array, tmp_path):
        assert case.work.parts("warm")["memory_bytes"] == 0
    file = File(tmp_path / "a.nc", Array(array.values, (4, 4)), Layout("netcdf4"))
    assert Create(file).parts("")["memory_bytes"] == 2 * array.nbytes


def test_a_mean_over_shapes_is_of_what_both_have():
    rows = []
    for layout, seconds, dims in (("slow", 0.4, "123"), ("quick", 0.1, "12")):
        for n in dims:
            row = {**COMMON, "phase": "read", "layout": layout, "dimensions": n}
            rows += timed(seconds * int(n), **row)
    frame = frame_of(rows, ["layout", "dimensions"])
    found = compare(frame, "wall_s", "layout", over="dimensions", against={"layout": "slow"})
    assert found.ratio["quick"].value == pytest.approx(4)
    assert found.value["slow"].value == pytest.approx(0.8 * 1.0003)  # `timed` adds that
    alone = frame[(frame["layout"] == "slow") | (frame["dimensions"] == "")]
    assert len(compare(alone, "wall_s", "layout", over="dimensions")) == 1
