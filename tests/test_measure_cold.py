"""Eviction is verified, not hoped for."""

import math
import mmap
import os
import subprocess
import sys

import pytest
from samples import ReadFile

from hyperslab.measure import cold, harness
from hyperslab.measure.case import Case
from hyperslab.measure.cold import ColdCacheError, evict, files_of, resident_fraction, warm
from hyperslab.measure.journal import Journal
from hyperslab.measure.noise import judge
from hyperslab.measure.records import frame_of
from hyperslab.measure.worker import Job, perform

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux evicts files")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file.bin"
    path.write_bytes(b"x" * (4 * 2**20 + 17))
    return path


@linux
def test_evicted_file_is_out_and_warm_file_is_in(file):
    evict([file])
    assert resident_fraction([file]) == 0
    warm([file])
    assert resident_fraction([file]) == 1


ASKS = """
import gc, sys
from pathlib import Path
from hyperslab.measure.cold import resident_fraction
file = Path(sys.argv[1])
resident_fraction([file])
gc.collect()
gc.disable()
for _ in range(100):
    resident_fraction([file])
print(gc.collect())
"""


@linux
def test_asking_leaves_nothing_to_collect(file):
    """Nothing is collected while a sample runs, and a store has thousands of files."""
    left = subprocess.check_output([sys.executable, "-c", ASKS, str(file)])
    assert int(left) < 50


@linux
def test_part_of_a_file_counts_as_part(file):
    evict([file])
    with file.open("rb", buffering=0) as handle:
        os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        handle.read(2**20)
    assert 0.2 < resident_fraction([file]) < 0.3


@linux
def test_mapped_file_cannot_be_evicted_and_says_so(file):
    with file.open("rb") as handle, mmap.mmap(handle.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[i] for i in range(0, len(mapped), mmap.PAGESIZE)) > 0
        with pytest.raises(ColdCacheError, match=r"stays in the page cache.*mapped"):
            evict([file], tries=2)


@linux
def test_directory_store_is_evicted_whole(tmp_path):
    for name in ("a/0.0", "a/0.1", "zarr.json"):
        path = tmp_path / "store" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"y" * 20_000)
    warm([tmp_path / "store"])
    assert resident_fraction([tmp_path / "store"]) == 1
    evict([tmp_path / "store"])
    assert resident_fraction([tmp_path / "store"]) == 0


@linux
def test_mincore_agrees_with_cachestat(file, monkeypatch):
    warm([file])
    evict([file])
    with file.open("rb", buffering=0) as handle:
        os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
        handle.read(2**20)
    by_default = resident_fraction([file])
    monkeypatch.setattr(cold, "_CACHESTAT", 9999)  # a kernel without the call
    assert resident_fraction([file]) == pytest.approx(by_default)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing-here"):
        files_of(tmp_path / "nothing-here")


def test_on_macos_warm_reads_are_measured_and_what_nobody_counts_is_unknown(
    file, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ColdCacheError, match="Linux only"):
        evict([file])
    assert math.isnan(resident_fraction([file]))
    states = ("warm", "cold")
    cases = [Case("a", ReadFile(file), files=(file,), cache_state=s, aa=True) for s in states]
    outcomes = [perform(Job(case)) for case in cases]
    assert [outcome.status == "ok" for outcome in outcomes] == [True, False]
    assert math.isnan(outcomes[0].rows[0]["resident_before"])
    assert "Linux only" in outcomes[1].status
    monkeypatch.setattr(harness, "machine_cpu_s", lambda: math.nan)  # no /proc/stat
    journal = Journal(tmp_path / "journal", {}, "run")
    rows = harness.measure("e", cases[:1], harness.Plan(blocks=2), journal)
    [noise] = judge(frame_of(rows))
    assert math.isnan(noise.others_cpu) and noise.others == "marked"
