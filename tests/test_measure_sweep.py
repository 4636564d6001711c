"""Two processes that fill the processor's cache together, and what happens when one ends."""

import os
import signal
import time

import pytest

from hyperslab.measure import sweep as module
from hyperslab.measure.case import Case
from hyperslab.measure.processes import Processes
from hyperslab.measure.sweep import LINE_BYTES, Partners, filler, sweep
from hyperslab.measure.worker import Job, run_nothing


class Words:
    """Stands for the filler, and remembers what was read of it."""

    def __init__(self, length):
        self.length, self.read = length, []

    def __len__(self):
        return self.length

    def __getitem__(self, taken):
        self.read += range(*taken.indices(self.length))
        return self

    def sum(self):
        return 0


@pytest.mark.parametrize("length", [1, 7, 64, 1001])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_the_parts_touch_every_line(monkeypatch, length, parts):
    words = Words(length)
    monkeypatch.setattr(module, "filler", lambda: words)
    for part in range(parts):
        sweep(part, parts)
    each = LINE_BYTES // 8
    assert {word // each for word in words.read} == set(range(-(-length // each)))


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


def test_each_reads_a_half():
    filler()
    partners = Partners()
    child = forked(partners.sweep)
    partners.help()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("work", [lambda: None, lambda: os.kill(os.getpid(), signal.SIGKILL)])
def test_a_process_that_ends_before_it_asks_is_not_waited_for(work):
    partners = Partners()
    child = forked(work)
    began = time.monotonic()
    partners.help()
    os.waitpid(child, 0)
    assert time.monotonic() - began < 10


def test_a_process_whose_partner_is_gone_says_so():
    partners = Partners()
    child = forked(partners.sweep)
    partners._asking.close()
    partners._waiting.close()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_a_warm_sample_that_ends_early_is_lost_and_the_next_is_not(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(bytes(10**6))
    warm = {"files": (file,), "cache_state": "warm"}
    with Processes() as processes:
        dead = processes.run(Job(Case("dead", run_nothing, prepare=die, **warm)))
        well = processes.run(Job(Case("well", run_nothing, **warm)))
    assert "signal SIGKILL" in dead.status
    assert well.status == "ok"


def die():
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)
