"""Threads that work through items: all done, stopped by a fault, and without more threads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from hyperslab.subchunk.read.decode import Crew


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_item_is_done_once(threads):
    done = []
    with Crew(threads) as crew:
        for _ in range(3):
            crew.each(done.append, range(50))
        crew.each(done.append, range(50), most=1)
    assert sorted(done) == sorted([*range(50)] * 4)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_fault_stops_the_others(threads):
    done = []

    def one(item):
        if item == 2:
            raise KeyError("two")
        time.sleep(0.002)
        done.append(item)

    before = threading.active_count()
    with pytest.raises(KeyError), Crew(threads) as crew:
        crew.each(one, range(10_000))
    assert len(done) < 100 and threading.active_count() == before


def test_without_more_threads_the_callers_does_it(monkeypatch):
    def none(*_, **__):
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", none)
    done = []
    with Crew(4) as crew:
        crew.each(done.append, range(9))
    assert done == [*range(9)]


def test_an_interrupt_while_threads_start_stops_those_that_did(monkeypatch):
    started = []
    submit = ThreadPoolExecutor.submit

    def second(pool, work):
        if started:
            raise KeyboardInterrupt
        started.append(submit(pool, work))
        return started[0]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", second)
    done = []

    def one(item):
        time.sleep(0.002)
        done.append(item)

    with pytest.raises(KeyboardInterrupt), Crew(4) as crew:
        crew.each(one, range(10_000))
    assert len(done) < 1000
