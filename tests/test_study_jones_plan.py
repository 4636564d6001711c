"""Tests of the cases of Jones's experiments."""

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.study.jones import plan
from hyperslab.study.jones.files import Files
from hyperslab.study.jones.readers import READERS


@given(st.integers(9, 40))
def test_sizes_have_names_and_names_sizes(power):
    assert plan.size_bytes(plan.size_name(2**power)) == 2**power


@pytest.mark.parametrize("name", ["", "KiB", "4", "4kB", "x4KiB"])
def test_a_wrong_size_is_refused(name):
    with pytest.raises(ValueError, match="no size"):
        plan.size_bytes(name)


def test_the_documents_sizes_are_all_there():
    sizes = plan.buffers("full", 2**40)
    assert (sizes[0], sizes[-1], len(sizes)) == ("512B", "1GiB", 22)
    assert set(plan.BUFFERS["smoke"]) <= set(plan.BUFFERS["quick"]) <= set(sizes)


def test_cases_are_paired_once_a_state_and_can_be_sent():
    wanted = plan.cells(["python-read", "python-readinto"], sizes=["512B", "4KiB"])
    files = {"cold": Files(Path("c"), 2**20), "warm": Files(Path("w"), 2**20)}
    made = plan.cases(wanted, files, 0.1)
    assert len(made) == 2 * 2 * 3 * 2
    assert [case.cache_state for case in made if case.aa] == ["cold", "warm"]
    assert pickle.loads(pickle.dumps(made[0])) == made[0]
    assert plan.Cell.named(made[-1].name) == wanted[-1]


def test_readers_that_are_missing_are_left_out(monkeypatch):
    monkeypatch.setattr(plan, "find_spec", lambda name: None if name == "h5py" else name)
    assert plan.available(["h5py", "python-read"]) == ["python-read"]
    assert plan.missing("h5py") == "h5py"
    with pytest.raises(ValueError, match="no reader"):
        plan.available(["h5pie"])


def test_modules_are_those_of_the_readers():
    assert {"zarr", "netCDF4", "h5py"} < set(plan.modules(READERS))
