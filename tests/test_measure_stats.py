"""The statistics are those that the methods page describes."""

import numpy as np
import pytest

from hyperslab.measure.stats import (
    geometric_mean_ratio,
    median_interval,
    middle_eight,
    paired_ratio,
)


def test_pairing_removes_what_a_block_shares():
    rng = np.random.default_rng(0)
    drift = rng.lognormal(0, 1, 9)
    found = paired_ratio(2 * drift, drift)
    assert [found.low, found.value, found.high] == pytest.approx([2, 2, 2])
    apart = paired_ratio(2 * drift, rng.permutation(drift))
    assert apart.high / apart.low > 2


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (8, 1), (9, 2), (12, 3), (15, 4), (25, 8)])
def test_the_ends_are_the_order_statistics_of_the_sign_test(n, rank):
    found = median_interval(np.arange(1, n + 1))
    assert (found.low, found.value, found.high) == (rank, (n + 1) / 2, n + 1 - rank)


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


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (lambda: geometric_mean_ratio([([1.0] * n,) * 2 for n in (2, 3)]), r"\[2, 3\] blocks"),
        (lambda: middle_eight([1.0, 2.0]), "at least 3"),
        (lambda: median_interval([float("nan")]), "every sample is missing"),
        (lambda: paired_ratio([1.0], [1.0, 2.0]), "one length"),
    ],
)
def test_what_cannot_be_counted_is_an_error(count, told):
    with pytest.raises(ValueError, match=told):
        count()
