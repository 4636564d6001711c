"""Where points lie, and what is said at opening of an index that does not belong to its file."""

import os
import struct

import h5py
import numpy as np
import pytest
import subchunk_files as files

from hyperslab import subchunk
from hyperslab.cli import main
from hyperslab.subchunk.index.format import MAGIC, VERSION
from hyperslab.subchunk.index.spread import Spread


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_index_keeps_its_budget(tmp_path, shuffle):
    rng = np.random.default_rng(3)
    field = (280 + np.cumsum(rng.normal(0, 0.1, (2, 500_000)), axis=1)).astype("f4")
    path = files.write_one(tmp_path / "x.h5", field, chunks=(1, 500_000), shuffle=shuffle)
    index = subchunk.build(path, budget=0.02)
    assert index.stat().st_size <= 0.02 * path.stat().st_size + 2_000  # the head
    with subchunk.open(path) as file:
        assert np.array_equal(file["x"][:, ::100_003], field[:, ::100_003])


def test_data_that_compress_very_well_are_indexed(tmp_path):
    """What marks alone take can be above the budget: then there are as few points as may be."""
    values = np.zeros(5 * 2**18, "f4")
    values[:: 2**16] = 1
    path = files.write_one(tmp_path / "x.h5", values, shuffle=True)
    subchunk.build(path, budget=0.001)
    with subchunk.open(path) as file:
        assert np.array_equal(file["x"][65530:65540], values[65530:65540])


def test_points_lie_no_farther_apart_than_promised(tmp_path):
    noise = np.random.default_rng(8).integers(0, 256, 3_000_000, dtype="u1")  # is stored
    values = np.concatenate([noise, np.zeros(2_000_000, "u1"), noise])
    path = files.write_one(tmp_path / "x.h5", values, compression=1)
    index = subchunk.Index(subchunk.build(path))
    _, points = index.points(index.entries["x"])
    assert np.diff(points.out[points.mark], append=values.size).max() <= 2**17


def test_where_a_budget_leaves_no_points_they_lie_as_close_as_promised():
    places = np.arange(0, 1_000_000, 1000)
    starts = Spread(np.array([0.0, 1e6]), np.array([0.0, 2.0]), widest=2**17).starts(places)
    assert np.diff(places[starts], append=10**6).max() <= 2**17


@pytest.fixture
def path(tmp_path):
    """A file with its index beside it."""
    files.write_far(tmp_path / "data.h5")
    subchunk.build(tmp_path / "data.h5", spacing=4096)
    return tmp_path / "data.h5"


def later(path):
    """Move a file's time on, as any writing does."""
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**9))


CHANGES = {
    "data": lambda file: file["data"].write_direct(np.arange(9e4)[::-1].reshape(3, -1).copy()),
    "more": lambda file: file.create_dataset("more", data=np.arange(5000), compression=1),
    "small": lambda file: file["small"].write_direct(np.ones(5)),
    "scale": lambda file: file["data"].attrs.modify("scale", 2.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_refused_until_it_is_indexed_again(path, change):
    """Of small values and attributes size and chunks do not tell; time alone is no change."""
    size = path.stat().st_size
    later(path)
    subchunk.open(path).close()
    with h5py.File(path, "r+") as file:
        CHANGES[change](file)
    if change in ("small", "scale"):
        assert path.stat().st_size == size
    later(path)
    why = r"data\.h5\.subchunk does not belong to data\.h5 .*: it (had|was written at another time)"
    with pytest.raises(subchunk.StaleIndexError, match=why + ".*`hyperslab index`, or remove it"):
        subchunk.open(path)
    assert main(["index", "--add", str(path)]) == 0
    with subchunk.open(path) as file, h5py.File(path) as truth:
        assert set(file) == set(truth) and not file["data"].plain
        assert file["data"].attrs["scale"] == truth["data"].attrs["scale"]
        for name in truth:
            assert np.array_equal(file[name][-1:], truth[name][-1:])


def test_an_index_that_was_cut_or_added_to_or_is_of_a_newer_format_is_refused(path):
    index = path.with_name("data.h5.subchunk")
    whole = index.read_bytes()
    for broken in (b"", whole[:19], whole[:500], whole[:-1], whole + b"more"):
        index.write_bytes(broken)
        with pytest.raises(subchunk.CorruptIndexError, match=r"data\.h5\.subchunk: "):
            subchunk.open(path)
    index.write_bytes(MAGIC + struct.pack("<I", VERSION + 1) + whole[12:])
    why = rf"data\.h5\.subchunk.*version {VERSION + 1}, and this release reads.*upgrade hyp"
    with pytest.raises(subchunk.UnknownVersionError, match=why):
        subchunk.open(path)


def test_building_leaves_nothing_half_written(path, monkeypatch):
    """Nor what a process left that was killed, after a while."""
    index = path.with_name("data.h5.subchunk")
    before = index.read_bytes()
    old, new = (path.with_name(f".data.h5.subchunk.{pid}.part") for pid in (1, 2))
    for left in (old, new):
        left.write_bytes(b"half")
    os.utime(old, (1, 1))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        subchunk.build(path)
    assert index.read_bytes() == before
    assert {*path.parent.iterdir()} == {path, index, new}
