"""Where points lie, and what is said at opening of an index that does not belong to its file."""

import os
import struct

import h5py
import numpy as np
import pytest

from hyperslab import subchunk
from hyperslab.cli import main
from hyperslab.subchunk.index.build import whole_file
from hyperslab.subchunk.index.format import MAGIC, VERSION
from hyperslab.subchunk.index.spread import Spread


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_index_keeps_its_budget(tmp_path, shuffle):
    rng = np.random.default_rng(3)
    field = 280 + np.cumsum(rng.normal(0, 0.1, (2, 500_000)), axis=1)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "t", data=field.astype("f4"), chunks=(1, 500_000), compression=4, shuffle=shuffle
        )
    index = subchunk.build(path, budget=0.02)
    assert index.stat().st_size <= 0.02 * path.stat().st_size + 2_000  # the head
    with subchunk.open(path) as file:
        assert np.array_equal(file["t"][:, ::100_003], field.astype("f4")[:, ::100_003])


def test_points_lie_no_farther_apart_than_promised(tmp_path):
    noise = np.random.default_rng(8).integers(0, 256, 3_000_000, dtype="u1")  # is stored
    values = np.concatenate([noise, np.zeros(2_000_000, "u1"), noise])
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=values.shape, compression=1)
    index = subchunk.Index(subchunk.build(path))
    _, points = index.points(index.entries["x"])
    assert np.diff(points.out[points.mark], append=values.size).max() <= 2**17


def test_where_a_budget_leaves_no_points_they_lie_as_close_as_promised():
    places = np.arange(0, 1_000_000, 1000)
    starts = Spread(np.array([0.0, 1e6]), np.array([0.0, 2.0]), widest=2**17).starts(places)
    assert np.diff(places[starts], append=10**6).max() <= 2**17


VALUES = np.arange(2 * 120 * 150, dtype="<f4").reshape(2, 120, 150) % 101


def write(path, values=VALUES, times=(0.0, 1.0), units="K"):
    with h5py.File(path, "w") as file:
        data = file.create_dataset("data", data=values, chunks=(1, 120, 150), compression=4)
        data.attrs["units"] = np.bytes_(units)
        file.create_dataset("times", data=np.array(times))


@pytest.fixture
def path(tmp_path):
    """A file with its index beside it."""
    write(tmp_path / "data.h5")
    subchunk.build(tmp_path / "data.h5", spacing=4096)
    return tmp_path / "data.h5"


def later(path):
    """Move a file's time on, as any writing does."""
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**9))


def refused(path, why):
    with pytest.raises(subchunk.StaleIndexError, match=why) as caught:
        subchunk.open(path)
    said = str(caught.value)
    assert "the index data.h5.subchunk does not belong to data.h5 as it is now" in said
    assert "build it again with `hyperslab index`, or remove it" in said


def test_touched_is_accepted_and_rewritten_is_refused(path):
    later(path)
    with subchunk.open(path) as file:
        assert np.array_equal(file["data"][1, 5:9, ::7], VALUES[1, 5:9, ::7])
        assert not file["data"].plain
    write(path, VALUES[:, ::-1].copy() * 1.5)
    later(path)
    refused(path, "it had|at another time")


def test_grown_is_refused_until_it_is_widened(path):
    with h5py.File(path, "a") as file:
        file.create_dataset("more", data=np.arange(5000), chunks=(500,), compression=1)
    refused(path, r"it had \d+ bytes and has \d+")
    assert main(["index", "--add", str(path)]) == 0
    with subchunk.open(path) as file:
        assert np.array_equal(file["more"][[3, 4000]], [3, 4000])
        assert np.array_equal(file["data"][0, 3], VALUES[0, 3])


@pytest.mark.parametrize("change", ["times", "units"])
def test_a_small_change_in_place_is_refused(path, change):
    """Size and chunks are as they were; what the index keeps of values and attributes is not."""
    size = path.stat().st_size
    with h5py.File(path, "r+") as file:
        if change == "times":
            file["times"][1] = 2.0
        else:
            file["data"].attrs.modify("units", np.bytes_("C"))
    later(path)
    assert path.stat().st_size == size
    refused(path, "it was written at another time")


def test_chunks_rewritten_in_place_with_the_same_sizes_are_noticed_when_read(path):
    with h5py.File(path, "r+") as file:
        info = file["data"].id.get_chunk_info(1)
    with path.open("r+b") as raw:
        raw.seek(info.byte_offset + info.size // 2)
        raw.write(b"other")
    later(path)
    with (
        subchunk.open(path) as file,
        pytest.raises(subchunk.CorruptDataError, match=r"data\.h5.*not those that were indexed"),
    ):
        for row in range(120):
            file["data"][1, row, 3]


@pytest.mark.parametrize("length", [0, 19, 500, -1])
def test_a_half_written_index_is_refused(path, length):
    index = path.with_name("data.h5.subchunk")
    whole = index.read_bytes()
    index.write_bytes(whole[:length])
    with pytest.raises(subchunk.CorruptIndexError, match=r"data\.h5\.subchunk: "):
        subchunk.open(path)


def test_building_leaves_nothing_half_written(path, monkeypatch):
    index = path.with_name("data.h5.subchunk")
    before = index.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"), whole_file(index) as part:
        part.write_bytes(b"half")
    assert index.read_bytes() == before
    assert sorted(p.name for p in path.parent.iterdir()) == ["data.h5", "data.h5.subchunk"]


def test_what_a_killed_process_left_is_cleared(path):
    old, new = (path.with_name(f".data.h5.subchunk.{pid}.part") for pid in (1, 2))
    for left in (old, new):
        left.write_bytes(b"half")
    os.utime(old, (1, 1))
    subchunk.build(path)
    assert not old.exists() and new.exists()


def test_a_newer_format_is_refused(path):
    index = path.with_name("data.h5.subchunk")
    good = index.read_bytes()
    index.write_bytes(MAGIC + struct.pack("<I", VERSION + 1) + good[12:])
    with pytest.raises(
        subchunk.UnknownVersionError,
        match=rf"data\.h5\.subchunk.*version {VERSION + 1}, and this release reads.*upgrade hyp",
    ):
        subchunk.open(path)


def test_missing_files_are_named(path, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.h5"):
        subchunk.open(tmp_path / "absent.h5")
    with pytest.raises(FileNotFoundError, match=r"absent\.subchunk"):
        subchunk.open(path, tmp_path / "absent.subchunk")
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"data\.h5"):
        subchunk.open(path)
