"""Two processes that fill the processor's cache together, and what happens when one ends."""

import os
import time

import numpy as np
import pytest
from samples import die

from hyperslab.measure import sweep as module
from hyperslab.measure.case import Case
from hyperslab.measure.processes import Processes
from hyperslab.measure.sweep import LINE_BYTES, Partners, filler, sweep
from hyperslab.measure.worker import Job, run_nothing


class Words(np.ndarray):
    """Remembers which of its words were read."""

    read: list[int]

    def __getitem__(self, taken):
        Words.read += range(*taken.indices(len(self)))
        return super().__getitem__(taken)


@pytest.mark.parametrize(("length", "parts"), [(1, 2), (64, 3), (1001, 2)])
def test_the_parts_touch_every_line(monkeypatch, length, parts):
    Words.read = []
    monkeypatch.setattr(module, "filler", lambda: np.ones(length).view(Words))
    for part in range(parts):
        sweep(part, parts)
    each = LINE_BYTES // 8
    assert {word // each for word in Words.read} == set(range(-(-length // each)))


def forked(work):
    """Do this in a process of its own."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


@pytest.mark.parametrize("ends", [None, die, lambda: None])
def test_each_reads_a_half_and_waits_for_none_that_ends_before_it_asks(ends):
    filler()
    partners = Partners()
    child = forked(ends or partners.sweep)
    began = time.monotonic()
    partners.help()
    assert (os.waitpid(child, 0)[1] == 0) == (ends is not die)
    assert time.monotonic() - began < 10


def test_a_warm_sample_that_ends_early_is_lost_and_the_next_is_not(tmp_path):
    (tmp_path / "a").write_bytes(bytes(10**6))
    warm = {"files": (tmp_path / "a",), "cache_state": "warm"}
    with Processes() as processes:
        dead = processes.run(Job(Case("dead", run_nothing, prepare=die, **warm)))
        well = processes.run(Job(Case("well", run_nothing, **warm)))
    assert "signal SIGKILL" in dead.status
    assert well.status == "ok"
