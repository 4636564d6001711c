"""Files that appear only when whole, and what dead processes left."""

import os
import subprocess
import sys

import pytest

from hyperslab.advise.partial import alive, part_name, remove_leftovers, whole_or_nothing


@pytest.fixture
def dead():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_it_appears_at_the_end(tmp_path, kind):
    path = tmp_path / "a.nc"
    with whole_or_nothing(path) as place:
        assert place.parent == tmp_path
        if kind == "file":
            place.write_text("whole")
        else:
            place.mkdir()
            (place / "zarr.json").write_text("{}")
        assert names(tmp_path) == [part_name("a.nc")]
    assert names(tmp_path) == ["a.nc"]


def test_when_the_body_fails_what_was_there_stays(tmp_path):
    path = tmp_path / "a.nc"
    path.write_text("mine")

    def fail():
        with whole_or_nothing(path, overwrite=True) as place:
            place.write_text("half")
            raise OSError("the disk is on fire")

    with pytest.raises(OSError, match="on fire"):
        fail()
    assert names(tmp_path) == ["a.nc"]
    assert path.read_text() == "mine"


def test_nothing_is_replaced_unless_asked_not_even_what_came_meanwhile(tmp_path):
    path = tmp_path / "a.nc"

    def write():
        with whole_or_nothing(path) as place:
            place.write_text("new")
            path.write_text("mine")

    with pytest.raises(FileExistsError, match="exists: remove it, or give another name"):
        write()
    assert (names(tmp_path), path.read_text()) == (["a.nc"], "mine")
    with pytest.raises(FileExistsError), whole_or_nothing(path):
        pass
    (tmp_path / "store").mkdir()
    with pytest.raises(FileExistsError), whole_or_nothing(tmp_path / "store", overwrite=True):
        pass
    with pytest.raises(FileNotFoundError, match="make it first"):
        whole_or_nothing(tmp_path / "none" / "a.nc").__enter__()


def test_only_what_dead_processes_of_this_machine_left_goes(tmp_path, dead):
    kept = [
        part_name("a.nc"),  # this process lives
        part_name("b.nc", os.getppid()),
        part_name("a.nc", dead).replace(part_name("a.nc", dead).split(".")[3][:8], "0" * 8),
        ".a.nc.part",
        "a.nc",
    ]
    for name in [*kept, part_name("a.nc", dead), part_name("other.nc", dead)]:
        (tmp_path / name).write_text("half")
    store = tmp_path / part_name("s.zarr", dead)
    store.mkdir()
    (store / "zarr.json").write_text("{}")
    assert remove_leftovers(tmp_path, "a.nc") == ["a.nc"]
    assert remove_leftovers(tmp_path) == ["other.nc", "s.zarr"]
    assert names(tmp_path) == sorted(kept)
    assert remove_leftovers(tmp_path / "none") == []


def test_who_lives(dead, monkeypatch):
    assert not alive(dead)
    monkeypatch.setattr(os, "kill", _refuse)
    assert alive(1)


def _refuse(pid, number):
    raise PermissionError
