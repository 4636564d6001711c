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


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (8, 1), (9, 2), (12, 3), (15, 4), (25, 8)])
def test_the_ends_are_the_order_statistics_of_the_sign_test(n, rank):
    found = median_interval(np.arange(1, n + 1))
    assert (found.low, found.high) == (rank, n + 1 - rank)


@pytest.mark.parametrize("blocks", [6, 9, 15])
def test_intervals_cover_the_truth_as_often_as_they_say(blocks):
    """Of ratios and of means over groups whose blocks share their noise; 95 % within chance."""
    rng = np.random.default_rng(blocks)
    tries, one, several, median = 1000, 0, 0, 0
    for _ in range(tries):
        shared = rng.normal(0, 0.05, blocks)
        logs = [1 + group + shared + rng.normal(0, 0.05, blocks) for group in (-0.5, 0, 0.5)]
        sides = [(np.exp(each), np.ones(blocks)) for each in logs]
        one += paired_ratio(*sides[1]).contains(np.e)
        several += geometric_mean_ratio(sides).contains(np.e)
        median += median_interval(logs[1]).contains(1)
    for inside in (one, several, median):
        assert 0.935 * tries <= inside


def test_geometric_mean_takes_groups_alike():
    found = geometric_mean_ratio([([4.0] * 5, [1.0] * 5), ([1.0] * 5, [1.0] * 5)])
    assert found.value == pytest.approx(2)
    assert middle_eight([10, 1, 2, 3, 4, 5, 6, 7, 8, 0]) == 4.5


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (
            lambda: geometric_mean_ratio([([1.0] * n, [1.0] * n) for n in (2, 3)]),
            r"\[2, 3\] blocks",
        ),
        (lambda: middle_eight([1.0, 2.0]), "at least 3"),
        (lambda: median_interval([float("nan")]), "every sample is missing"),
        (lambda: paired_ratio([1.0], [1.0, 2.0]), "one length"),
    ],
)
def test_what_cannot_be_counted_is_an_error(count, told):
    with pytest.raises(ValueError, match=told):
        count()
