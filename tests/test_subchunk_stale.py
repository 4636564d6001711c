"""An index and a file that do not belong together: said by name at opening, with what to do."""

import os
import struct

import h5py
import numpy as np
import pytest

from hyperslab import subchunk
from hyperslab.cli import main
from hyperslab.subchunk.index.build import whole_file
from hyperslab.subchunk.index.format import MAGIC, VERSION

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


def test_touched_with_the_same_content_is_accepted(path):
    later(path)
    with subchunk.open(path) as file:
        assert np.array_equal(file["data"][1, 5:9, ::7], VALUES[1, 5:9, ::7])
        assert not file["data"].plain


def test_copied_is_accepted(path, tmp_path):
    copy = tmp_path / "copy.h5"
    copy.write_bytes(path.read_bytes())
    with subchunk.open(copy, path.with_name("data.h5.subchunk")) as file:
        assert np.array_equal(file["data"][:, 3, 4], VALUES[:, 3, 4])


def test_rewritten_is_refused(path):
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


def test_a_file_without_an_indexed_variable_is_refused(path):
    size = path.stat().st_size
    with h5py.File(path, "r+") as file:
        file.move("data", "dat2")
    later(path)
    if path.stat().st_size == size:
        refused(path, "at another time")
    else:
        refused(path, "it had")


def test_the_index_of_another_file_is_refused(path, tmp_path):
    write(tmp_path / "other.h5", VALUES + 1)
    with pytest.raises(subchunk.StaleIndexError, match=r"does not belong to other\.h5"):
        subchunk.open(tmp_path / "other.h5", tmp_path / "data.h5.subchunk")


def test_a_file_replaced_while_it_is_open_is_noticed(path, tmp_path):
    with subchunk.open(path) as file:
        assert file["data"][0, 0, 0] == 0
        file.close()  # what a limit on open files does, too
        write(tmp_path / "new.h5", VALUES + 1)
        (tmp_path / "new.h5").replace(path)
        with pytest.raises(subchunk.StaleIndexError, match="was replaced, removed or written"):
            file["data"][0, 40:90:3, 0]


@pytest.mark.parametrize("length", [0, 7, 12, 19, 40, 500, -1])
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


def test_what_is_no_index_is_refused(path, tmp_path):
    (tmp_path / "text").write_text("This is no index.\n" * 100)
    with pytest.raises(subchunk.CorruptIndexError, match=r"text: this is no sub-chunk index"):
        subchunk.open(path, tmp_path / "text")


def test_missing_files_are_named(path, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.h5"):
        subchunk.open(tmp_path / "absent.h5")
    with pytest.raises(FileNotFoundError, match=r"absent\.subchunk"):
        subchunk.open(path, tmp_path / "absent.subchunk")
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"data\.h5"):
        subchunk.open(path)


def test_the_command_says_it_too(path, capsys):
    write(path, VALUES[:, ::-1].copy() * 1.5)
    later(path)
    assert main(["index", "--check", str(path)]) == 1
    assert "does not belong to data.h5 as it is now" in capsys.readouterr().err
