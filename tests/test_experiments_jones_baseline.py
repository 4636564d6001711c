"""Tests of what is measured on plain files: each read by itself, dd, and how often what is read."""

import os
import signal

import pytest

from hyperslab.experiments import jones_baseline as plain
from hyperslab.io.buffers import ACCESSES, Files
from hyperslab.measure.case import Stopwatch


@pytest.fixture
def files(tmp_path):
    made = Files(tmp_path, 2**18)
    made.write(["binary"])
    return made


@pytest.mark.parametrize("resident", [0.0, 1.0])
def test_each_read_has_a_row_with_its_place_and_what_was_in_memory(files, monkeypatch, resident):
    monkeypatch.setattr(plain, "resident_fraction", lambda paths: resident)
    for case in plain.successive(files, 8):
        watch = Stopwatch()
        assert case.ready("cold").run(watch)
        rows = watch.rows()
        assert [row["place"] for row in rows] == [f"{n / 16:g}" for n in range(8)]
        assert len({row["case"] for row in rows}) == 8
        assert all(row["wall_s"] > 0 and row["useful_bytes"] == 65536 for row in rows)
        assert all(row["syscr"] is None and row["resident_before"] == resident for row in rows)


def test_a_file_is_read_whole_by_c_and_by_dd(files):
    for case in plain.beside_dd(files, "C fread"):
        watch, ready = Stopwatch(), case.ready("cold")
        assert ready.check(ready.run(watch))
        assert sum(row.get("useful_bytes") or 0 for row in watch.rows()) == files.nbytes


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


COPIED = 'echo "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s" >&2'


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


def test_the_file_for_dd_is_one_of_its_own_where_that_is_smaller(tmp_path):
    files = Files(tmp_path, 2**23)
    assert plain.whole(files, tmp_path / "own", 0) == plain.whole(files, tmp_path / "own", 64)
    assert plain.whole(files, tmp_path / "own", 2) == Files(tmp_path / "own", 2**18)


def test_what_claims_compare_is_read_in_all_blocks_and_large_buffers_often(tmp_path):
    files = {state: Files(tmp_path, 2**24) for state in ("cold", "warm")}
    kinds = [
        (reader, access, buffer)
        for reader in ("C fread", "Python read", "C pread", "numpy.fromfile")
        for access in ACCESSES
        for buffer in ("4 KiB", "64 KiB", "16 MiB", "64 MiB")
    ]
    made = plain.cases(files, dict.fromkeys(files, kinds), 0.1, 0, 4)
    found = {case.label: case for case in made}
    blocks = {name: case.most_blocks for name, case in found.items()}
    assert [case.cache_state for case in made if case.aa] == ["cold", "warm"]
    assert blocks["C fread, random, 64 MiB, cold"] == 0
    assert blocks["Python read, sequential, 64 MiB, cold"] == 0
    assert blocks["Python read, random, 64 KiB, cold"] == 0
    assert blocks["numpy.fromfile, sequential, 64 MiB, cold"] == 0
    assert blocks["Python read, strided, 4 KiB, cold"] == 7
    assert blocks["Python read, strided, 64 MiB, cold"] == 4
    assert blocks["C pread, sequential, 64 MiB, warm"] == 7
    assert blocks["C fread, random, 64 MiB, warm"] == blocks["C pread, random, 4 KiB, cold"] == 4
    least = {name: case.run.least for name, case in found.items()}
    assert (
        least["C fread, strided, 64 MiB, cold"] == least["Python read, random, 64 KiB, cold"] == 4
    )
    assert least["Python read, random, 64 MiB, cold"] == least["C fread, random, 4 KiB, warm"] == 1
