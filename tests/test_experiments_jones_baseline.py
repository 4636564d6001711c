"""Plain files: memory is in place, and dd is stopped in time and says what it read."""

import os
import signal

import pytest

from hyperslab.experiments import jones_baseline as plain
from hyperslab.io.buffers import Files
from hyperslab.measure.case import Stopwatch

COPIED = 'echo "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s" >&2'
STOPPED = f"trap '{COPIED}; exit 1' INT\nwhile :; do sleep 0.01; done"


def test_readers_that_are_compared_have_memory_for_as_many_buffers(tmp_path):
    files = Files(tmp_path, 2**25)
    readers, sizes = ("C fread", "Python read", "numpy.fromfile"), ("1 MiB", "64 MiB")
    kinds = [(reader, "sequential", size) for reader in readers for size in sizes]
    cases = plain.cases(
        dict.fromkeys(("cold", "warm"), files), dict.fromkeys(("cold", "warm"), kinds), 0.06, 0, 0
    )
    wanted = {"1 MiB": 120_000_000 + 2**21, "64 MiB": 4 * 2**26 + 2**27}
    for case in cases:
        cold = case.cache_state == "cold"
        assert case.memory_bytes == (wanted[case.labels["buffer"]] if cold else 0)
    ours, dd = (case.ready("cold") for case in plain.beside_dd(files, "Python read"))
    assert ours.memory_bytes == dd.memory_bytes == files.nbytes + 2**21


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
