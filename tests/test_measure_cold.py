"""Eviction is verified, not hoped for."""

import math
import mmap
import os
import sys

import pytest
from samples import ReadFile

from hyperslab.measure import cold
from hyperslab.measure.case import Case
from hyperslab.measure.cold import ColdCacheError, evict, resident_fraction, warm
from hyperslab.measure.worker import Job, perform

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux evicts files")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file.bin"
    path.write_bytes(b"x" * (4 * 2**20 + 17))
    return path


@linux
def test_what_is_evicted_is_out_and_what_is_warm_is_in(tmp_path, file):
    for name in ("a/0.0", "a/0.1", "zarr.json"):
        path = tmp_path / "store" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"y" * 20_000)
    both = [file, tmp_path / "store"]
    warm(both)
    assert [resident_fraction([each]) for each in both] == [1, 1]
    evict(both)
    assert [resident_fraction([each]) for each in both] == [0, 0]


@linux
@pytest.mark.parametrize("call", [cold._CACHESTAT, 9999], ids=["cachestat", "mincore"])
def test_part_of_a_file_counts_as_part(file, monkeypatch, call):
    monkeypatch.setattr(cold, "_CACHESTAT", call)  # no kernel has the last
    evict([file])
    with file.open("rb", buffering=0) as handle:
        os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
        handle.read(2**20)
    assert 0.2 < resident_fraction([file]) < 0.3


@linux
def test_mapped_file_cannot_be_evicted_and_says_so(file):
    with file.open("rb") as handle, mmap.mmap(handle.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[i] for i in range(0, len(mapped), mmap.PAGESIZE)) > 0
        with pytest.raises(ColdCacheError, match=r"stays in the page cache.*mapped"):
            evict([file])


def test_on_macos_warm_reads_are_measured_and_what_nobody_counts_is_unknown(file, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ColdCacheError, match="Linux only"):
        evict([file])
    states = ("warm", "cold")
    cases = [Case("a", ReadFile(file), files=(file,), cache_state=state) for state in states]
    warmed, cooled = (perform(Job(case)) for case in cases)
    assert warmed.status == "ok" and math.isnan(warmed.rows[0]["resident_before"])
    assert "Linux only" in cooled.status
