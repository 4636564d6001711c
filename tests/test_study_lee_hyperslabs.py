"""The samples of the page on many small hyperslabs: tiny arrays and exact counts."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_hyperslabs import page

from data_gen import arrays
from hyperslab.io import calls
from hyperslab.kernels import KernelError
from hyperslab.measure.records import frame_of
from hyperslab.measure.worker import Job, perform
from hyperslab.study.lee import (
    hyperslabs,
    hyperslabs_counts,
    hyperslabs_rates,
    hyperslabs_words,
    strided,
    strided_words,
)
from hyperslab.study.lee.hyperslabs_blocks import Blocks, HoldsNumbered, Lasts, Numbered
from hyperslab.study.profile import entry


@pytest.fixture
def without_c(monkeypatch):
    def none():
        raise KernelError("no compiler: apt install gcc")

    monkeypatch.setattr(hyperslabs, "kernel", none)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    hyperslabs.make_files(20, partial(arrays.values, (20, 20)), folder)
    return folder


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
    assert Lasts([blocks])().tolist() == taken[-1].tolist()


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_one_wrong_value_is_noticed(rows, columns, data):
    array = np.arange(rows * columns, dtype="i4").reshape(rows, columns)
    check = Numbered(array.shape)
    assert check(array) and check(np.ma.masked_array(array))
    assert not check(array[:-1]) and not check(None)
    array[data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))] += 1
    assert not check(array)


def test_large_arrays_are_compared_to_their_end(monkeypatch):
    monkeypatch.setattr(calls, "_PIECE", 7)
    array = np.arange(60).reshape(4, 15)
    assert Numbered((4, 15))(array)
    array[3, 14] = 0
    assert not Numbered((4, 15))(array)


def test_samples_of_every_way_hold_the_array(files, tmp_path):
    values = partial(arrays.values, (20, 20))
    reads = hyperslabs.read_cases(20, files)
    writes = hyperslabs.write_cases(20, values, tmp_path)
    for case in reads + writes:
        outcome = perform(Job(case))
        assert outcome.status == "ok", (case.label, outcome.status)
        found = {row["phase"]: row for row in outcome.rows}
        moved = found["read" if case.cache_state else "write"]
        assert moved["useful_bytes"] == 1600 and moved["wall_s"] > 0
        assert moved["cache_bytes"] > 0
    for marked in (reads, writes):
        assert [case.name for case in marked if case.aa] == ["c/contiguous/rows"]
    assert not list(tmp_path.iterdir())


def test_sweeps_and_strided_samples_read_what_they_say(files):
    cases = hyperslabs.sweep_cases(20, files)
    cases += strided.cases(20, partial(arrays.values, (20, 20)), files)
    for case in cases:
        outcome = perform(Job(case))
        assert outcome.status == "ok", (case.label, outcome.status)
    sizes = hyperslabs.swept(20)
    rows = [row for row in perform(Job(cases[0])).rows if row["phase"] == "read"]
    assert [row["stages"] for row in rows] == [len(size.starts()) for size in sizes]
    assert rows[-1]["useful_bytes"] == 1600 and sizes[-1].count == (20, 20)


def test_what_is_wrong_in_a_file_is_noticed(files, tmp_path):
    hyperslabs.make_files(20, partial(np.zeros, (20, 20), "i4"), tmp_path)
    assert HoldsNumbered(files / "chunked.nc", "h5py", (20, 20))(None)
    assert not HoldsNumbered(tmp_path / "chunked.nc", "h5py", (20, 20))(None)
    assert "wrong values" in perform(Job(hyperslabs.read_cases(20, tmp_path)[0])).status


@pytest.mark.usefixtures("without_c")
def test_without_a_compiler_python_is_measured(files, tmp_path):
    assert hyperslabs.missing() == "no compiler: apt install gcc"
    values = partial(arrays.values, (20, 20))
    for cases, pairs in (
        (hyperslabs.read_cases(20, files), 1),
        (hyperslabs.write_cases(20, values, tmp_path), 1),
        (hyperslabs.sweep_cases(20, files), 0),
        (strided.cases(20, values, files), 0),
    ):
        assert {case.columns["library"] for case in cases} == {"netCDF4", "h5py"}
        assert sum(case.aa for case in cases) == pairs
    kinds = {row["pattern"] for row in hyperslabs_counts.per_call(tmp_path)}
    assert kinds == {hyperslabs_counts.FUNCTIONS}


def test_descriptors_of_each_call_are_counted(tmp_path):
    rows = list(hyperslabs_counts.per_call(tmp_path))
    found = {(row["case"], row["phase"], row["pattern"]): row["stages"] for row in rows}
    for phase in ("read", "write"):
        for kind in hyperslabs_counts.DESCRIPTORS:
            assert found["hdf5-c", phase, kind] == 0
            assert found["c", phase, kind] == found["python-plain", phase, kind]
        assert found["c", phase, "datasets"] == 0, "the variable is opened once"
        assert found["c", phase, "dataspaces"] >= 1
        for way in hyperslabs_counts.IN_PYTHON:
            assert found[way, phase, "functions"] > 1
    assert not list(tmp_path.iterdir())


def test_pieces_are_counted_in_the_library(files, tmp_path):
    rows = list(strided.pieces(files, tmp_path))
    found = {(row["case"], row["phase"], row["pattern"]): row["stages"] for row in rows}
    assert len(rows) == len(found) == 12
    assert strided_words._version(frame_of(rows)).startswith("4.")
    for phase in ("read", "write"):
        assert found["python-pieces", phase, "both"] == 4
        assert found["python-pieces", phase, "columns"] == 2
    assert not list(tmp_path.iterdir())


def test_the_chunked_array_may_be_left_to_c(files, tmp_path):
    values = partial(arrays.values, (20, 20))
    for cases in (
        hyperslabs.read_cases(20, files, python_chunked=False),
        hyperslabs.write_cases(20, values, tmp_path, python_chunked=False),
    ):
        chunked = {case.name.split("/")[0] for case in cases if "/chunked/" in case.name}
        assert chunked == {"c", "hdf5-c"}
        assert {"python", "h5py"} <= {case.name.split("/")[0] for case in cases}
    read = page()["read"]
    kept = read[~read["case"].str.contains("^(?:python|h5py)/chunked")]
    captions = (
        hyperslabs_words.caption_rates(part, hyperslabs_rates.rates(part, ("read",)))
        for part in (read, kept)
    )
    assert ["from C only" in caption for caption in captions] == [False, True]


@pytest.mark.parametrize("profile", ["quick", "full", "paper"])
def test_the_chunk_of_the_strided_array_exceeds_the_default_cache(profile):
    side = entry("lee_hyperslabs").settings[profile]["strided_side"]
    assert 4 * side**2 > 2**23, "HDF5 2's default; else the page has nothing to show of it"
