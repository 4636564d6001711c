"""Memory is in place before a read, as much as it may want and no more."""

import os
import platform
import resource
import subprocess
import sys

import pytest

from hyperslab.measure import memory, worker
from hyperslab.measure.case import Case
from hyperslab.measure.worker import Job, perform, run_nothing


def test_as_much_as_a_read_may_want_within_limits(tmp_path, monkeypatch):
    def wanted(size, beyond=0, **how):
        with (tmp_path / "file").open("wb") as file:
            file.truncate(size)
        return memory.wanted_bytes([tmp_path], beyond, **how)

    monkeypatch.setattr(memory, "memory_limit_bytes", lambda: 2**40)
    assert wanted(2**20) == 0  # too little to matter
    assert wanted(2**23) == 3 * 2**23 and wanted(2**20, 2**26) == 3 * 2**20 + 2**26
    assert wanted(memory.FEW_BYTES, 5) == memory.FEW_BYTES + 5
    assert wanted(memory.FEW_BYTES, 5, whole=False) == memory.FEW_BYTES
    assert wanted(memory.FEW_BYTES, 2**28, whole=False) == 2**28  # it is known to take that
    assert wanted(2 * memory.MOST_BYTES) == memory.MOST_BYTES
    monkeypatch.setattr(memory, "memory_limit_bytes", lambda: 8 * 2**20)
    assert wanted(2**23) == 2**20


def test_memory_is_written_to_and_given_back(monkeypatch):
    monkeypatch.setattr(memory, "RECENT_S", 0.0)
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        memory.touch(512 * 2**20)  # more than the C library keeps of what was freed before
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        assert faults >= 256  # a page of 2 MiB each at the largest


def test_before_reads_whose_cache_is_set_and_not_of_toys(tmp_path, monkeypatch):
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.truncate(memory.FEW_BYTES + 5)
    taken = []
    monkeypatch.setattr(worker, "touch", taken.append)
    for state, sweeps in (("warm", True), ("cold", True), ("", True), ("warm", False)):
        perform(Job(Case("a", run_nothing, files=(path,), cache_state=state), sweeps=sweeps))
    assert taken == [memory.FEW_BYTES + 5, memory.FEW_BYTES]


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ([0.5, 0.998, 1.0], "ok"),
        ([0.998] * worker.WARMINGS, "only 99.8% of the file is in the page cache"),
    ],
)
def test_a_file_that_never_stays_is_lost_and_one_that_stays_at_last_is_read(
    tmp_path, monkeypatch, shares, told
):
    (tmp_path / "values").write_bytes(bytes(8192))
    left = iter(shares)
    monkeypatch.setattr(worker, "resident_fraction", lambda files: next(left))
    case = Case("read", run_nothing, files=(tmp_path,), cache_state="warm")
    outcome = perform(Job(case, sweeps=False))
    assert told in outcome.status and next(left, None) is None
    assert told == "ok" or not outcome.rows


HELD = """
import numpy as np
from hyperslab.measure.memory import give_back
give_back()

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

np.ones(30 * 2**17)  # glibc holds back twice as much as the largest that was freed so
before = resident()
several = [bytes(range(256)) * 400 for _ in range(400)]
del several
print((resident() - before) // 2**20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a way of glibc")
def test_what_is_freed_is_given_back():
    """Else it would be 20 MiB and more."""
    # a cluster of processes that a test before started leaves MALLOC_TRIM_THRESHOLD_ behind
    env = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    assert int(subprocess.check_output([sys.executable, "-c", HELD], text=True, env=env)) <= 2
