"""Chunk shapes: lengths without slivers, within bounds, and good for what they are meant for."""

import math

from hypothesis import given
from hypothesis import strategies as st

from hyperslab.tune.advice.accesses import Access
from hyperslab.tune.advice.shapes import (
    LEAST_BYTES,
    MOST_BYTES,
    MOST_CHUNKS,
    chunk_shapes,
    even_lengths,
)

SERIES = Access("time_series", 0.5, ((slice(0, 400, 1), 50, 50),))
MAP = Access("map", 0.5, ((200, slice(0, 300, 1), slice(0, 500, 1)),))
SHAPE = (400, 300, 500)


def touched(access, chunks):
    total = 1
    for index, chunk in zip(access.selections[0], chunks, strict=True):
        total *= len(range(index.start, index.stop, chunk)) if isinstance(index, slice) else 1
    return total


@given(st.integers(1, 5000), st.integers(3, 64))
def test_lengths_cover_an_axis_in_equal_parts(n, most):
    found = even_lengths(n, most)
    assert found == tuple(sorted(set(found), reverse=True))
    assert found[0] == n
    assert found[-1] == 1
    assert len(found) <= most
    for length in found:
        parts = -(-n // length)
        assert -(-n // parts) == length or length == 1  # no shorter chunk needs as few
        assert parts * length - n <= n / 16 or length == n


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=4),
    st.sampled_from([1, 2, 4, 8]),
    st.randoms(use_true_random=False),
)
def test_shapes_fit_the_array_and_the_bounds(shape, itemsize, random):
    kept = {random.randrange(len(shape)) for _ in range(2)}
    read = tuple(slice(0, n, 1) if axis in kept else n // 2 for axis, n in enumerate(shape))
    found = chunk_shapes(shape, itemsize, [Access("whole", 1.0, (read,))])
    assert found
    assert len(found) == len(set(found)) <= 10
    for chunks in found:
        assert all(1 <= c <= n for c, n in zip(chunks, shape, strict=True))
        assert all(c in even_lengths(n) for c, n in zip(chunks, shape, strict=True))
        size = math.prod(chunks) * itemsize
        assert min(LEAST_BYTES, math.prod(shape) * itemsize) <= size <= MOST_BYTES
        count = math.prod(-(-n // c) for c, n in zip(chunks, shape, strict=True))
        assert count <= MOST_CHUNKS


def test_the_mix_decides():
    for_series = chunk_shapes(SHAPE, 4, [Access("time_series", 1.0, SERIES.selections)])[0]
    for_maps = chunk_shapes(SHAPE, 4, [Access("map", 1.0, MAP.selections)])[0]
    both = chunk_shapes(SHAPE, 4, [SERIES, MAP])[0]
    assert for_series[0] > both[0] > for_maps[0]
    assert touched(SERIES, for_series) < touched(SERIES, both) < touched(SERIES, for_maps)
    assert touched(MAP, for_maps) < touched(MAP, both) < touched(MAP, for_series)


def test_a_request_that_costs_much_makes_chunks_larger():
    near = chunk_shapes(SHAPE, 4, [SERIES, MAP])[0]
    far = chunk_shapes(SHAPE, 4, [SERIES, MAP], call_s=0.05)[0]
    assert math.prod(far) > math.prod(near)


def test_nothing_of_nothing():
    assert chunk_shapes((), 4, [MAP]) == []
    assert chunk_shapes((0, 5), 4, [MAP]) == []
