"""Two processes that fill the processor's cache together, and what happens when one ends."""

import sys

import numpy as np
import pytest
from samples import Below, Call, die, raise_error, resident_mib

from hyperslab.measure import sweep as module
from hyperslab.measure.case import Case
from hyperslab.measure.processes import Processes
from hyperslab.measure.sweep import LINE_BYTES, sweep
from hyperslab.measure.worker import Job, run_nothing


@pytest.mark.parametrize(("length", "parts"), [(1, 2), (64, 3), (1001, 2)])
def test_the_parts_touch_every_line(monkeypatch, length, parts):
    read = set()

    class Words(list):
        def __getitem__(self, taken):
            read.update(range(*taken.indices(length)))
            return np.zeros(1)

    monkeypatch.setattr(module, "filler", lambda: Words(range(length)))
    for part in range(parts):
        sweep(part, parts)
    each = LINE_BYTES // 8
    assert {word // each for word in read} == set(range(-(-length // each)))


def test_a_warm_sample_that_ends_early_is_lost_and_the_next_reads_a_half(tmp_path):
    (tmp_path / "a").write_bytes(bytes(10**6))
    warm = {"files": (tmp_path / "a",), "cache_state": "warm"}
    with Processes() as processes:
        dead = processes.run(Job(Case("dead", run_nothing, prepare=die, **warm)))
        lost = processes.run(Job(Case("lost", run_nothing, prepare=raise_error, **warm)))
        well = processes.run(Job(Case("well", run_nothing, **warm)))
    assert "signal SIGKILL" in dead.status and "on fire" in lost.status
    assert well.status == "ok"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_only_warm_reads_pay_for_the_filler_of_the_cache():
    """It is as large as the processor's last cache, and would count as a sample's memory."""
    with Processes() as fresh:
        for state in ("", "cold"):
            case = Case("size", Call(resident_mib), check=Below(100), cache_state=state)
            assert fresh.run(Job(case)).status == "ok"
