"""Selections made definite, against numpy."""

import numpy as np
import pytest
from contracts.readers import selections
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.io import region

SHAPES = st.lists(st.integers(0, 6), max_size=4).map(tuple)


@given(data=st.data(), shape=SHAPES)
def test_a_region_is_what_numpy_selects_and_its_runs_are_the_elements_in_order(data, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    selection = data.draw(selections(shape))
    chosen = region(selection, shape)
    wanted = np.asarray(array[selection])
    assert (chosen.shape, chosen.size) == (wanted.shape, wanted.size)
    assert len(chosen.indices) == len(shape) and min(chosen.starts, default=0) >= 0
    assert np.array_equal(array[chosen.indices], wanted)
    runs = list(chosen.runs(shape))
    flat = [first + i * step for first, count, step in runs for i in range(count)]
    assert flat == wanted.reshape(-1).tolist()
    assert all(count > 0 and step > 0 for _, count, step in runs)


def test_runs_are_as_long_as_they_can_be():
    for selection, runs in (
        (slice(1, 3), [(20, 40, 1)]),
        ((slice(None), slice(1, 3)), [(5, 10, 1), (25, 10, 1), (45, 10, 1)]),
        ((0, 1, slice(0, 5, 2)), [(5, 3, 2)]),
        ((0, slice(0, 4, 2)), [(0, 5, 1), (10, 5, 1)]),
    ):
        assert list(region(selection, (3, 4, 5)).runs((3, 4, 5))) == runs


@pytest.mark.parametrize(
    ("selection", "error", "said"),
    [
        ((0, -3), IndexError, "tos: index -3 is out of range for axis 1 of size 2"),
        ((0, 2), IndexError, "tos: index 2 is out of range for axis 1 of size 2; give -2 to 1"),
        ((0, 0, 0), IndexError, "tos: selection .* does not fit shape"),
        ((None, 0), TypeError, "tos: index None on axis 0"),
        (slice(None, None, -2), ValueError, "tos: step -2 on axis 0"),
    ],
)
def test_messages_name_the_array(selection, error, said):
    with pytest.raises(error, match=said):
        region(selection, (5, 2), "tos")
