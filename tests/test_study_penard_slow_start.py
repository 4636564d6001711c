"""What slow start adds: nothing to what one window carries, never more than its round trips."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.network import Link
from hyperslab.study.penard.slow_start import WINDOW, slow_start_s

rates = st.floats(1e4, 1e9) | st.just(math.inf)


@given(rates, st.floats(0, 0.3), st.floats(1, 1e9))
def test_it_is_the_waits_until_the_link_is_full(rate, trip, size):
    link = Link(rate, trip)
    added = slow_start_s(link, size)
    assert 0 <= added <= trip * math.ceil(math.log2(size / WINDOW + 1))
    assert slow_start_s(link, 2 * size) >= added
    # Sent window by window, each of them twice the last, and no sooner than the link carries it.
    left, window, seconds = size, float(WINDOW), 0.0
    while left > window:
        seconds += max(trip, window / rate)
        left, window = left - window, 2 * window
    sent = seconds + left / rate
    assert sent == pytest.approx(added + size / rate, rel=1e-6, abs=1e-9)


def test_a_link_without_delay_has_none():
    assert slow_start_s(Link(1e6, 0.0), 1e8) == 0
