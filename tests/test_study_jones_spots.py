"""Tests of where Jones's reads begin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.study.jones.spots import PATTERNS, RANDOM_READS, STRIDE, Spots

SIZES = st.integers(0, 6).map(lambda n: 512 * 2**n)


@given(st.sampled_from(PATTERNS), SIZES, st.integers(0, 2**16), st.integers(0, 5))
def test_reads_lie_in_the_file_and_take_no_byte_twice(pattern, nbytes, more, seed):
    file_bytes = nbytes + more * 8
    spots = Spots(pattern, nbytes, file_bytes, seed)
    starts = spots.between(0, len(spots))
    assert len(starts) == len(spots) > 0
    assert starts.min() >= 0 and (starts + spots.count).max() * 8 <= file_bytes
    assert (np.diff(np.sort(starts)) >= spots.count).all()


@given(st.sampled_from(PATTERNS), st.integers(0, 300), st.integers(0, 300))
def test_a_part_of_the_reads_is_the_same_in_any_batch(pattern, first, last):
    spots = Spots(pattern, 512, 512 * 1000)
    whole = spots.between(0, len(spots))
    assert np.array_equal(spots.between(first, last), whole[first:last])


def test_patterns_are_the_documents():
    sequential, strided = (Spots(name, 1024, 1024 * 10) for name in ("sequential", "strided"))
    assert sequential.between(0, 10).tolist() == list(range(0, 1280, 128))
    assert strided.between(0, 10).tolist() == [0, 4 * 128, 8 * 128] and STRIDE == 4
    assert len(Spots("random", 1024, 2**20)) == RANDOM_READS


def test_random_reads_are_seeded():
    one, same, other = (Spots("random", 4096, 2**24, seed).between(0, 100) for seed in (1, 1, 2))
    assert np.array_equal(one, same) and not np.array_equal(one, other)


@pytest.mark.parametrize(("pattern", "nbytes"), [("backwards", 512), ("random", 12), ("random", 0)])
def test_what_cannot_be_read_is_refused(pattern, nbytes):
    with pytest.raises(ValueError, match="give"):
        Spots(pattern, nbytes, 4096)


def test_a_read_longer_than_the_file_is_refused():
    with pytest.raises(ValueError, match="not more than the file has"):
        Spots("sequential", 4096, 2048)
