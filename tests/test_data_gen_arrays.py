"""Arrays whose every element is its own number."""

import numpy as np
import pytest

from data_gen import arrays


def test_any_element_can_be_checked_in_isolation():
    for shape in (*arrays.SMALL.values(), *arrays.LARGE.values()):
        rng = np.random.default_rng(len(shape))
        for _ in range(5):
            index = tuple(int(rng.integers(n)) for n in shape)
            assert arrays.values(shape, index) == np.ravel_multi_index(index, shape)


def test_a_selection_is_the_same_part_of_the_whole():
    whole = np.arange(7 * 5 * 11, dtype="i4").reshape(7, 5, 11)
    for selection in [(), (slice(1, 6, 2), 3), (-1,), (slice(None), slice(4, 1, -1), slice(2, 4))]:
        assert np.array_equal(arrays.values(whole.shape, selection), whole[selection])


def test_integers_wrap_within_their_type_and_an_index_outside_is_an_error():
    values = arrays.values((40000,), (slice(32766, 32770),), "i2")
    assert values.tolist() == [32766, 32767, 0, 1]
    with pytest.raises(IndexError):
        arrays.values((3, 4), (3,))
