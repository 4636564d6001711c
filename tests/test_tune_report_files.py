"""The files of a benchmark are there whole or as they were."""

import errno
import os
import threading
from pathlib import Path

import pytest
from made_bench import bench_frame

from hyperslab.measure import records
from hyperslab.tune.report.files import write

NAMES = {"csv": "a.csv", "json": "a.json", "parquet": "a.parquet", "plot": "a.svg"}


def test_they_are_written_over_what_was_there(tmp_path):
    given = {option: str(tmp_path / name) for option, name in NAMES.items()}
    for name in given.values():
        Path(name).write_text("old")
    (tmp_path / "link.csv").symlink_to("a.csv")
    write(bench_frame(), **{**given, "csv": str(tmp_path / "link.csv")})
    assert (tmp_path / "a.csv").read_text().startswith("target,input format")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "a.json").read_text().startswith("{")
    assert len(records.load(tmp_path / "a.parquet")) == len(bench_frame())
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
    assert {path.name for path in tmp_path.iterdir()} == {*NAMES.values(), "link.csv"}


@pytest.mark.parametrize("option", NAMES)
def test_a_full_disk_is_named_and_leaves_what_was_there(tmp_path, monkeypatch, option):
    def full(path, data):
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / NAMES[option]
    path.write_text("old")
    monkeypatch.setattr(Path, "write_bytes", full)
    said = rf"--{option} .*{path.name} cannot be written: No space left on device: make room"
    with pytest.raises(OSError, match=said):
        write(bench_frame(), **{option: str(path)})
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(path.name, "old")]


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write, args=(bench_frame(),), kwargs={"csv": str(pipe)})
    writer.start()
    assert pipe.read_text().startswith("target,")
    writer.join()
    assert pipe.is_fifo()
