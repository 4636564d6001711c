"""Selections made definite, against numpy."""

import numpy as np
import pytest
from contracts.readers import selections
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.io import region

SHAPES = st.lists(st.integers(0, 6), max_size=4).map(tuple)


@given(data=st.data(), shape=SHAPES)
def test_a_region_is_what_numpy_selects(data, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    selection = data.draw(selections(shape))
    chosen = region(selection, shape)
    wanted = np.asarray(array[selection])
    assert chosen.shape == wanted.shape
    assert chosen.size == wanted.size
    assert len(chosen.indices) == len(shape)
    assert np.array_equal(array[chosen.indices], wanted)
    assert all(
        start >= 0 for start, count in zip(chosen.starts, chosen.counts, strict=True) if count
    )


@given(data=st.data(), shape=SHAPES)
def test_runs_are_the_elements_in_order(data, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    selection = data.draw(selections(shape))
    chosen = region(selection, shape)
    runs = list(chosen.runs(shape))
    flat = [first + i * step for first, count, step in runs for i in range(count)]
    assert flat == np.asarray(array[selection]).reshape(-1).tolist()
    assert all(count > 0 and step > 0 for _, count, step in runs)


@pytest.mark.parametrize(
    ("selection", "runs"),
    [
        (..., [(0, 60, 1)]),
        (1, [(20, 20, 1)]),
        (slice(1, 3), [(20, 40, 1)]),
        ((slice(None), 2), [(10, 5, 1), (30, 5, 1), (50, 5, 1)]),
        ((slice(None), slice(1, 3)), [(5, 10, 1), (25, 10, 1), (45, 10, 1)]),
        ((0, 1, slice(0, 5, 2)), [(5, 3, 2)]),
        ((0, slice(0, 4, 2)), [(0, 5, 1), (10, 5, 1)]),
    ],
)
def test_runs_are_as_long_as_they_can_be(selection, runs):
    shape = (3, 4, 5)
    assert list(region(selection, shape).runs(shape)) == runs


def test_messages_name_the_array():
    with pytest.raises(IndexError, match="tos: index -3 is out of range for axis 1 of size 2"):
        region((0, -3), (5, 2), "tos")
    with pytest.raises(IndexError, match="axis 0 of size 0; the axis is empty"):
        region(0, (0,))
    with pytest.raises(IndexError, match=r"tos: selection .* does not fit shape"):
        region((0, 0, 0), (5, 2), "tos")
    with pytest.raises(TypeError, match="tos: index None on axis 0"):
        region((None, 0), (5, 2), "tos")
    with pytest.raises(ValueError, match="tos: step -2 on axis 0"):
        region(slice(None, None, -2), (5, 2), "tos")
