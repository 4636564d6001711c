"""Tests of the variable of Jones's experiments: streamed, resumed, and the same everywhere."""

import h5py
import netCDF4
import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.study.jones import files as made
from hyperslab.study.jones.files import KINDS, VARIABLE, Files, holds, make_files, truth, written

BLOCK = made.BLOCK_BYTES // made.ITEMSIZE


@given(st.integers(0, 2**40), st.integers(0, 200), st.integers(0, 200))
def test_the_truth_depends_on_the_place_alone(first, skip, count):
    whole = truth(first, skip + count)
    assert np.array_equal(whole[skip:], truth(first + skip, count))
    assert ((whole >= 1) & (whole < 2)).all()
    assert len(np.unique(whole)) == len(whole)


@given(st.integers(0, 2**20), st.integers(1, 300), st.data())
def test_one_wrong_value_is_seen(first, count, data):
    values = truth(first, count)
    assert holds(values, first)
    values[data.draw(st.integers(0, count - 1))] += 1e-15
    assert not holds(values, first)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(made, "BLOCK_BYTES", 2**13)


@pytest.mark.parametrize("values", [1, 1024, 5000])
def test_all_files_hold_the_same(tmp_path, small_blocks, values):
    files = Files(tmp_path / "a folder", values)
    make_files(files)
    assert sorted(path.name for path in files.folder.iterdir()) == sorted(KINDS.values())
    with netCDF4.Dataset(files.path("netcdf4")) as file:
        assert file[VARIABLE].chunking() == "contiguous"
        assert holds(np.ma.getdata(file[VARIABLE][:]), 0)
    assert holds(np.fromfile(files.path("binary"), "<f8"), 0)
    array = zarr.open_array(files.path("zarr3"), mode="r")
    assert holds(array[:], 0) and array.shape == (values,) and not array.compressors


@pytest.mark.parametrize("kind", ["binary", "netcdf4"])
def test_a_killed_stream_goes_on(tmp_path, small_blocks, monkeypatch, kind):
    files = Files(tmp_path, 5000)
    calls = []

    def dying(first, count):
        calls.append(first)
        if first == 3 * 1024:
            raise KeyboardInterrupt
        return truth(first, count)

    monkeypatch.setattr(made, "truth", dying)
    with pytest.raises(KeyboardInterrupt):
        make_files(files, [kind])
    assert not files.path(kind).exists()
    part = files.folder / f".{files.path(kind).name}.part"
    offset = h5py.File(part)[VARIABLE].id.get_offset() if kind == "netcdf4" else 0
    monkeypatch.setattr(made, "truth", truth)
    assert written(part, 5000, offset) == 3 * 1024
    make_files(files, [kind])
    assert files.path(kind).exists() and not part.exists()
    content = np.fromfile(files.path(kind), "<f8", 5000, offset=offset)
    assert holds(content, 0)


def test_a_file_of_another_size_is_refused(tmp_path):
    make_files(Files(tmp_path, 1000), ["binary"])
    make_files(Files(tmp_path, 1000), ["binary"])
    with pytest.raises(ValueError, match="another size"):
        make_files(Files(tmp_path, 999), ["binary"])
    make_files(Files(tmp_path, 1000), ["netcdf4"])
    with pytest.raises(ValueError, match="another size"):
        make_files(Files(tmp_path, 2**21), ["netcdf4"])


def test_a_disk_that_lacks_room_is_told_before_anything_is_written(tmp_path):
    with pytest.raises(OSError, match="make room"):
        make_files(Files(tmp_path / "new", 2**55), ["binary"])
    assert not list((tmp_path / "new").iterdir())
