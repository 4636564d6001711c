"""Files that appear only when whole, and what dead processes left."""

import os
import signal
import subprocess
import sys
import time

import made_files
import pytest

from hyperslab.advise.copying.copy import copy
from hyperslab.advise.copying.partial import part_name, remove_leftovers, whole_or_nothing
from hyperslab.advise.source import open_source
from hyperslab.advise.specs.target import Target
from hyperslab.measure.parent import alive


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


# Whoever runs the tests may have Ctrl-C ignored, as shells have for what runs in the background.
COPY = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from hyperslab.advise.copying import copy as module, transfer as copying
from hyperslab.advise.specs.target import Choice, Target
whole = copying.transfer
def transfer(*words, **options):
    made = whole(*words, **options)
    time.sleep(60 * (variables := words[2].name == sys.argv[4]))
    return made
module.transfer = transfer
getattr(module, sys.argv[3])(sys.argv[1], sys.argv[2], Target("t", choice=Choice("default")))
"""


def started(source, out, function="copy", stop="", **options):
    """A process that copies, and sleeps after the variable `stop`."""
    words = [sys.executable, "-c", COPY, str(source), str(out), function, stop]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **options)


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


@pytest.fixture(scope="module")
def tile(tmp_path_factory):
    return made_files.radar_tile(tmp_path_factory.mktemp("files") / "tile.nc")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_what_a_killed_copy_left_goes_with_the_next(tile, tmp_path):
    out = tmp_path / "out.nc"
    process = started(tile, out, stop="hsr")
    try:
        (part,) = until(lambda: list(tmp_path.iterdir()))
        until(lambda: part.exists() and part.stat().st_size > 10_000)
        with pytest.raises(FileNotFoundError):
            out.stat()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert [path.name for path in tmp_path.iterdir()] == [part.name]
    assert part.name.startswith(".out.nc.")
    before = tile.read_bytes()
    copy(tile, out, Target("copy"))
    assert [path.name for path in tmp_path.iterdir()] == ["out.nc"]
    with open_source(out) as found, open_source(tile) as source:
        assert list(found.variables) == list(source.variables)
    assert tile.read_bytes() == before


def test_an_interrupted_copy_cleans_up_itself(tile, tmp_path):
    process = started(tile, tmp_path / "out.nc", stop="hsr")
    try:
        (part,) = until(lambda: list(tmp_path.iterdir()))
        until(lambda: part.exists() and part.stat().st_size > 10_000)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert "KeyboardInterrupt" in said
    assert list(tmp_path.iterdir()) == []
