"""What rounding leaves of a field: errors, and the wavelengths that are kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.study.today.fidelity import BANDS, compare


def waves(length, amplitude=1.0, shape=(96, 128)):
    rows, columns = np.indices(shape)
    return (amplitude * np.sin(2 * np.pi * columns / length + 0.1 * rows)).astype("f4")


def test_the_same_is_kept_whole():
    field = waves(32) + np.random.default_rng(0).normal(size=(96, 128)).astype("f4")
    found = compare([(field, field)])
    assert (found.error, found.relative, found.changed) == (0, 0, 0)
    assert np.allclose(found.coherence, 1)
    assert found.spectra == pytest.approx(1)
    assert found.kept == found.wavelengths.min() == pytest.approx(2, rel=0.3)


def test_noise_hides_what_is_small():
    """A long wave of size 1 and noise of 0.01: what rounds by 0.1 keeps the one, not the other."""
    random = np.random.default_rng(1)
    field = (waves(64) + 0.01 * random.normal(size=(96, 128))).astype("f4")
    found = compare([(field, np.round(field, 1))])
    assert found.error == pytest.approx(0.05, rel=0.01)
    assert found.changed > 0.99
    assert found.coherence.max() > 0.999
    assert found.coherence.min() < 0.9
    assert 2 < found.kept < 128


def test_what_is_missing_must_stay_so():
    field = waves(16)
    field[:10] = 1e20
    other = field.copy()
    assert compare([(field, other)], 1e20).error == 0
    other[0, 0] = 3
    with pytest.raises(ValueError, match="missing"):
        compare([(field, other)], 1e20)


def test_a_zero_that_became_a_value_is_far_off():
    field = np.zeros((16, 16), "f4")
    other = field.copy()
    other[0, 0] = 1e-6
    assert compare([(field, other)]).relative > 1e20
    other[0, 0] = -1e-44  # what some make of a negative zero
    assert compare([(field, other)]).relative < 1e-5


def test_nothing_to_compare():
    with pytest.raises(ValueError, match="no maps"):
        compare([])


@given(st.integers(8, 40), st.integers(8, 40), st.integers(0, 2**32 - 1))
def test_coherence_lies_between_none_and_all(rows, columns, seed):
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, rows, columns)).astype("f4")
    found = compare([(a, b), (a, a)])
    assert (found.coherence > -1e-9).all() and (found.coherence < 1 + 1e-9).all()
    assert 0 < len(found.wavelengths) == len(found.coherence) <= BANDS
    assert -1 - 1e-9 <= found.spectra <= 1 + 1e-9
