"""Tests of what is measured on plain files: dd is stopped in time, and says what it read."""

import os
import signal

import pytest

from hyperslab.experiments import jones_baseline as plain
from hyperslab.measure.case import Stopwatch

COPIED = 'echo "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s" >&2'
STOPPED = f"trap '{COPIED}; exit 1' INT\nwhile :; do sleep 0.01; done"


@pytest.mark.parametrize(
    ("script", "limit_s", "right"), [(STOPPED, 0.2, True), (COPIED, 10.0, False)]
)
def test_dd_stops_in_time_and_has_left_out_nothing_else(
    tmp_path, monkeypatch, script, limit_s, right
):
    (tmp_path / "dd").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "dd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "values").write_bytes(bytes(2**21))
    watch, before = Stopwatch(), signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in background
    try:
        assert plain.DdFor(tmp_path / "values", limit_s)(watch) == right
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    (read,) = watch.rows()
    assert read["useful_bytes"] == 2**20 and read["wall_s"] == 0.5
