"""Experiments on the paper of Lee: wrong values, foretold sizes, known records, verdicts."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_claims import COMMON, timed, verdicts

from data_gen import arrays
from hyperslab.analysis import break_even
from hyperslab.analysis.compare import compare
from hyperslab.experiments import lee_chunk_size as square
from hyperslab.experiments import lee_compression as radar
from hyperslab.experiments import lee_hyperslabs as small
from hyperslab.experiments.lee_formats import get_plain, put_plain
from hyperslab.io.calls import Dd, Whole, copied_in
from hyperslab.io.chunk_shapes import ceil_chunk, floor_chunk
from hyperslab.io.experiment import Array, Create, File
from hyperslab.io.layout import Layout
from hyperslab.io.ways import Blocks, lasts
from hyperslab.measure.records import frame_of


@pytest.mark.parametrize("side", [200, 512, 1000])
def test_a_smaller_array_has_chunks_on_both_sides_of_each_part(side):
    lengths = square.scaled((8, 128, 632, 790, 3072, 3162), side)
    assert list(lengths) == sorted(set(lengths)) and lengths[0] == 8 and lengths[-1] == side
    for n in (ceil_chunk(square.SIDE, length) for length in (632, 790)):
        assert {ceil_chunk(side, n), floor_chunk(side, n)} <= set(lengths)


def test_files_are_as_large_as_predicted_and_nothing_stays(tmp_path):
    array = Array(partial(arrays.values, (200, 200)), (200, 200), "i4")
    rows = list(square.divided(array, 25, tmp_path))
    assert [(row["rounded"], row["parts"]) for row in rows[:2]] == [("ceil", "2"), ("floor", "2")]
    assert len(rows) == 2 * len(range(2, 9))
    rows += square.sizes(array, (8, 60, 200), tmp_path)
    assert [row["side"] for row in rows[-3:]] == ["8", "60", "200"]
    assert all(abs(row["file_bytes"] - row["predicted_bytes"]) < 8192 for row in rows)
    assert {row["useful_bytes"] for row in rows} == {4 * 200 * 200}
    assert not list(tmp_path.iterdir())


def test_wrong_values_of_a_tile_are_noticed(tmp_path):
    path, truth = tmp_path / "values.npy", np.arange(2.0, 26, dtype="f4").reshape(2, 3, 4)
    np.save(path, truth)
    exact = radar.Tile(path, path, Layout()).same
    rounded = radar.Tile(path, path, Layout(quantize=("bitround", 7))).same
    assert exact(list(truth)) and not exact(list(truth[:1]))
    for factor, within in ((1 + 2**-9, True), (1 + 2**-7, False)):
        changed = list(truth * np.float32(factor))
        assert rounded(changed) == within and not exact(changed)


@pytest.mark.parametrize(("where", "rate"), [({"data": "tile 1"}, 20e7), ({}, 20e6 / 0.2)])
def test_the_break_even_rate_is_bytes_saved_over_time_spent(where, rate):
    """Of two tiles; compressed they take 0.1 and 0.3 s more for 20 MB less."""
    rows = []
    for data, extra in (("tile 1", 0.1), ("tile 2", 0.3)):
        for way, cpu, size in (("none", 0.02, 24e6), ("deflate 1", 0.02 + extra, 4e6)):
            row = {**COMMON, "experiment": "write", "data": data, "compression": way}
            row |= {"case": f"{data}, {way}", "phase": "write", "user_s": cpu, "sys_s": 0.0}
            rows += timed(cpu, **row, file_bytes=size)
    frame = frame_of(rows, ["data", "compression"])
    costs = partial(break_even.costs, phases=["write"], where=where)
    cost = costs(frame, "compression", "data", "none").loc["deflate 1"]
    assert cost["rate"].value == pytest.approx(rate) and cost["plain_bytes"] == 24e6
    slower, quicker = break_even.relative_time(cost, [1.1 * rate, 0.9 * rate])[0]
    assert slower > 1 > quicker
    lost = frame.assign(status=lambda rows: np.where(rows["wall_s"] > 0.1, "no plugin", "ok"))
    assert list(costs(lost, "compression", "data", "none").index) == ["none"]


def test_wrong_values_of_whole_arrays_are_noticed(tmp_path):
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
    means = compare(frame, "wall_s", "layout", over="dimensions", against={"layout": "slow"})
    assert means.ratio["quick"].value == pytest.approx(4)
    assert means.value["slow"].value == pytest.approx(0.8 * 1.0003)  # `timed` adds that
    alone = frame[(frame["layout"] == "slow") | (frame["dimensions"] == "")]
    assert len(compare(alone, "wall_s", "layout", over="dimensions")) == 1


@given(st.tuples(st.integers(1, 12), st.integers(1, 12)), st.data())
def test_blocks_are_what_a_user_writes(shape, data):
    high = data.draw(st.integers(1, shape[0]))
    wide = shape[1] if high > 1 else data.draw(st.integers(1, shape[1]))
    most = data.draw(st.none() | st.integers(1, 200))
    blocks, array = Blocks(shape, (high, wide), most), np.arange(np.prod(shape)).reshape(shape)
    starts, indices = blocks.starts(), blocks.indices()
    assert len(starts) == len(indices) == min(most or 200, (shape[0] // high) * (shape[1] // wide))
    for (row, column), index in zip(starts, indices, strict=True):
        taken = array[row : row + high, column : column + wide]
        assert np.array_equal(np.reshape(array[index], taken.shape), taken)
    assert lasts([blocks]).tolist() == taken[-1].tolist()


def test_without_a_compiler_functions_are_counted_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(small, "in_c", lambda: False)
    chosen = {"c": small.Way("netCDF-C")}, {"python": small.Way("netCDF4")}
    assert {row["pattern"] for row in small.opened(tmp_path, *chosen)} == {"functions"}
    assert not list(tmp_path.iterdir())


def test_the_claims_find_their_cases(tmp_path):
    seconds = {"netCDF-C, from C": 0.020, "netCDF-C, from C, cache of 1 MB": 0.020,
               "netCDF-C, without filling": 0.018, "HDF5, from C": 0.010,
               "netCDF4-python": 0.250, "h5py": 0.030}  # fmt: skip
    rows, names, layouts = [], ("read", "write"), ("contiguous", "one chunk")
    for name, way, layout in product(names, seconds, layouts):
        row = {"experiment": name, "phase": name, "way": way, "layout": layout}
        row |= {"useful_bytes": 4e7, "user_s": 0.01, "sys_s": 0.0}
        for calls, wall_s in (("one call", 0.005), ("one call a row", seconds[way])):
            rows += timed(wall_s, pair=True, **row, calls=calls)
    claims = verdicts(tmp_path, "lee_hyperslabs", rows, ["way", "layout", "calls"])
    hdf5, fix, eight = (claims[f"lee-8{name}"].parts for name in ("-hdf5", "-fix", ""))
    writes = next(part for part in hdf5 if part.name == "C writes")
    assert writes.measured == pytest.approx(1.8), "both without filling"
    assert [part.verdict for part in hdf5] == ["holds"] * 4
    assert [part.verdict for part in fix][:2] == ["reversed", "refuted"]
    assert {part.verdict for part in eight} <= {"holds", "stronger"}
