"""The statistics are those that the methods page describes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.measure.stats import (
    geometric_mean_ratio,
    median_interval,
    middle_eight,
    paired_ratio,
)

positive = st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=15)


@given(positive)
def test_interval_holds_its_estimate(values):
    found = median_interval(values)
    assert found.low <= found.value <= found.high
    assert min(values) <= found.low and found.high <= max(values)


@given(positive, st.floats(0.1, 10))
def test_ratio_of_a_multiple_is_exact(values, factor):
    found = paired_ratio(np.array(values) * factor, values)
    assert found.value == pytest.approx(factor) and found.high == pytest.approx(found.low)


def test_pairing_removes_what_a_block_shares():
    rng = np.random.default_rng(0)
    drift = rng.lognormal(0, 1, 9)
    found = paired_ratio(2 * drift, drift)
    assert found.high / found.low == pytest.approx(1)
    apart = paired_ratio(2 * drift, rng.permutation(drift))
    assert apart.high / apart.low > 2


@pytest.mark.parametrize(
    ("n", "rank"), [(1, 1), (5, 1), (6, 1), (8, 1), (9, 2), (12, 3), (15, 4), (20, 6), (25, 8)]
)
def test_the_ends_are_the_order_statistics_of_the_sign_test(n, rank):
    found = median_interval(np.arange(1, n + 1))
    assert (found.low, found.high) == (rank, n + 1 - rank)


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    inside = sum(median_interval(rng.normal(5, 1, 15)).contains(5) for _ in range(200))
    assert 170 <= inside <= 200


def test_coarser_levels_are_narrower():
    values = np.random.default_rng(2).normal(5, 1, 15)
    narrow, wide = median_interval(values, level=0.5), median_interval(values, level=0.99)
    assert narrow.high - narrow.low < wide.high - wide.low


def test_geometric_mean_takes_groups_alike():
    found = geometric_mean_ratio([([4.0] * 5, [1.0] * 5), ([1.0] * 5, [1.0] * 5)])
    assert found.value == pytest.approx(2)
    with pytest.raises(ValueError, match=r"groups have \[2, 3\] blocks"):
        geometric_mean_ratio([([1.0] * 2, [1.0] * 2), ([1.0] * 3, [1.0] * 3)])


def test_documents_statistics():
    assert middle_eight([10, 1, 2, 3, 4, 5, 6, 7, 8, 0]) == 4.5
    with pytest.raises(ValueError, match="at least 3"):
        middle_eight([1.0, 2.0])


def test_nothing_to_count_is_an_error():
    with pytest.raises(ValueError, match="every sample is missing"):
        median_interval([float("nan")])
    with pytest.raises(ValueError, match="one length"):
        paired_ratio([1.0], [1.0, 2.0])
