"""Two questions at once: neither waits for the other, and errors come in order."""

import threading

import pytest

from hyperslab.subchunk.fetch.together import in_turn, together


def test_both_are_under_way_at_once():
    meeting = threading.Barrier(2, timeout=10)
    assert sorted(together(meeting.wait, meeting.wait)) == [0, 1]


@pytest.mark.parametrize("call", [together, in_turn])
def test_the_first_error_is_raised(call):
    def fail(kind):
        raise kind("no")

    with pytest.raises(KeyError):
        call(lambda: fail(KeyError), lambda: fail(ValueError))
    with pytest.raises(ValueError, match="no"):
        call(lambda: 1, lambda: fail(ValueError))


def test_without_another_thread_they_are_called_in_turn(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert together(lambda: 1, lambda: 2) == (1, 2)
