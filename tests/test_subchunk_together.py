"""Two questions at once: neither waits for the other, and errors come in order."""

import threading

import pytest

from hyperslab.subchunk.fetch.ranges import both


def test_both_are_under_way_at_once():
    meeting = threading.Barrier(2, timeout=10)
    assert sorted(both(meeting.wait, meeting.wait, at_once=True)) == [0, 1]


@pytest.mark.parametrize("at_once", [True, False])
def test_the_first_error_is_raised(at_once):
    def fail(kind):
        raise kind("no")

    with pytest.raises(KeyError):
        both(lambda: fail(KeyError), lambda: fail(ValueError), at_once=at_once)
    with pytest.raises(ValueError, match="no"):
        both(lambda: 1, lambda: fail(ValueError), at_once=at_once)


def test_without_another_thread_they_are_called_in_turn(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert both(lambda: 1, lambda: 2, at_once=True) == (1, 2)
