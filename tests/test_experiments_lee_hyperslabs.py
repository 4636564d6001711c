"""Many small accesses: tiny arrays, exact counts, and verdicts on made-up records."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_claims import timed, verdicts

from hyperslab.experiments import lee_hyperslabs as small
from hyperslab.experiments.lee_hyperslabs import Way
from hyperslab.io.calls import Stored, Whole
from hyperslab.io.experiment import Array, Case, File
from hyperslab.io.layout import Layout
from hyperslab.io.ways import Blocks, Lasts
from hyperslab.kernels import KernelError
from hyperslab.measure.worker import Job, perform


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An array of 20 by 20 in both layouts."""
    whole, folder = Whole((20, 20)), tmp_path_factory.mktemp("files")
    array = Array(whole.values, whole.shape)
    layouts = {"contiguous": Layout("netcdf4"), "one chunk": Layout("netcdf4", chunks=(20, 20))}
    made = [File(folder / f"{name}.nc", array, how) for name, how in layouts.items()]
    array.write({file.path: file.layout for file in made}, folder)
    return made


CALLS = ("one call", "one call a row")


def outcome(work, cache_state="warm"):
    return perform(Job(Case({"way": "x"}, work).ready(cache_state)))


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


def test_what_is_wrong_in_a_file_is_noticed(files, tmp_path):
    zeros = Array(lambda: np.zeros((20, 20), "i4"), (20, 20))
    wrong = replace(files[1], path=tmp_path / "zeros.nc", array=zeros)
    zeros.write({wrong.path: wrong.layout}, tmp_path)
    assert Stored(files[1].path, Whole((20, 20)), "h5py")(None)
    assert not Stored(wrong.path, Whole((20, 20)), "h5py")(None)
    assert "wrong values" in outcome(small.read(wrong, Way("h5py"), (1, 20))).status


def test_without_a_compiler_functions_are_counted_all_the_same(tmp_path, monkeypatch):
    def none():
        raise KernelError("no compiler")

    monkeypatch.setattr(small, "kernel", none)
    chosen = {"c": Way("netCDF-C")}, {"python": Way("netCDF4")}
    assert {row["pattern"] for row in small.opened(tmp_path, *chosen)} == {"functions"}
    assert not list(tmp_path.iterdir())


def test_the_claims_find_their_cases(tmp_path):
    seconds = {"netCDF-C, from C": 0.020, "netCDF-C, from C, cache of 1 MB": 0.020,
               "netCDF-C, without filling": 0.018, "HDF5, from C": 0.010,
               "netCDF4-python": 0.250, "h5py": 0.030}  # fmt: skip
    rows = [
        row
        for name, (way, slow), calls in product(("read", "write"), seconds.items(), CALLS)
        for layout in ("contiguous", "one chunk")
        for row in timed(
            0.005 if calls == CALLS[0] else slow, pair=True, experiment=name, phase=name,
            useful_bytes=4e7, user_s=0.01, sys_s=0.0, way=way, layout=layout, calls=calls,
        )
    ]  # fmt: skip
    found = verdicts(tmp_path, "lee_hyperslabs", rows, ["way", "layout", "calls"])
    hdf5, fix, eight = (found[f"lee-8{name}"].parts for name in ("-hdf5", "-fix", ""))
    writes = next(part for part in hdf5 if part.name == "C writes")
    assert writes.measured == pytest.approx(1.8), "both without filling"
    assert [part.verdict for part in hdf5] == ["holds"] * 4
    assert [part.verdict for part in fix][:2] == ["reversed", "refuted"]
    assert {part.verdict for part in eight} <= {"holds", "stronger"}
