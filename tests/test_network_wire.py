"""Requests counted: chains that did not overlap, handshakes, bytes touched."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from hyperslab.network import Request, Wire, touched


def request(began_s, ended_s, *, connection=0, nth=1, start=0, stop=10, status=206, path="/a"):
    return Request(
        "GET", path, start, stop, status, stop - start, connection, nth, began_s, ended_s
    )


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4), st.booleans()), max_size=7))
def test_the_longest_chain_is_that_of_all_subsets(spans):
    log = [request(a, a + length, nth=1 - new) for a, length, new in spans]
    stages = turns = 0
    for size in range(len(log) + 1):
        for chain in combinations(sorted(log, key=lambda r: r.began_s), size):
            if all(a.ended_s <= b.began_s for a, b in pairwise(chain)):
                stages = max(stages, size)
                turns = max(turns, size + sum(r.nth == 0 for r in chain))
    wire = Wire.of(log)
    assert (wire.stages, wire.stages + wire.handshakes) == (stages, turns)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=12))
def test_touched_bytes_are_those_of_the_bodies(spans):
    log = [request(0, 1, start=a, stop=a + size) for a, size in spans]
    log += [request(0, 1, path="/b"), request(0, 1, status=404, start=90, stop=99)]
    got = touched(log, "a")
    assert {n for a, b in got for n in range(a, b)} == {
        n for a, size in spans for n in range(a, a + size)
    }
    assert all(a < b for a, b in got)
    assert all(left[1] < right[0] for left, right in pairwise(got))


def test_over_a_link_a_new_connection_of_a_volley_begins_later_and_is_no_stage():
    opened = request(0.2, 0.21, nth=0)
    volley = [request(0.31, 0.32), request(0.41, 0.42, connection=1, nth=0)]
    assert Wire.of([opened, *volley], apart_s=0.08) == Wire(3, 30, 2, 2, 2, 2)
    waited = request(0.52, 0.53, connection=1)
    assert Wire.of([opened, *volley, waited], apart_s=0.08).stages == 3
    assert Wire.of([opened, *volley, waited]).stages == 4


def test_requests_that_follow_each_other_while_others_are_under_way_leave_the_link_busy():
    """Two at a time, of a second each: a chain of three behind the first, and never idle."""
    opened = request(0.0, 0.0, nth=0, stop=1)
    windows = [request(0.2 + n, 0.2 + n, connection=n % 2, stop=100) for n in range(6)]
    wire = Wire.of([opened, *windows], apart_s=0.08, bytes_per_s=100)
    assert (wire.stages, wire.idle) == (7, 2)
    assert Wire.of([opened, *windows], apart_s=0.08).idle == 7, "a link without limit is done"
