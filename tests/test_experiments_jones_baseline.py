"""Tests of what is measured on plain files: each read by itself, dd, and how often what is read."""

import os
import signal

import pytest

from hyperslab.experiments import jones_baseline as plain
from hyperslab.measure.case import Stopwatch

COPIED = 'echo "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s" >&2'


@pytest.fixture
def dd(tmp_path, monkeypatch):
    """Replace dd by a script, and read a file of 2 MiB with it."""

    def run(script, limit_s):
        (tmp_path / "dd").write_text(f"#!/bin/sh\n{script}")
        (tmp_path / "dd").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        (tmp_path / "values").write_bytes(bytes(2**21))
        watch = Stopwatch()
        return plain.DdFor(tmp_path / "values", limit_s)(watch), watch.rows()

    return run


def test_dd_stops_in_time_and_says_how_much_it_read(dd):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a shell
    try:
        same, (read,) = dd(f"trap '{COPIED}; exit 1' INT\nwhile :; do sleep 0.01; done\n", 0.2)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert same and read["useful_bytes"] == 2**20 and read["wall_s"] == 0.5


def test_what_dd_left_out_without_being_stopped_is_wrong(dd):
    assert not dd(f"{COPIED}\n", 10.0)[0]
