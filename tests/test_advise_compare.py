"""Comparing a copy with its source: to the last bit, or as rounded."""

import numpy as np
import pytest

from hyperslab.advise import compare
from hyperslab.advise.compare import difference, digest


def test_a_digest_is_of_type_order_and_every_bit():
    values = np.arange(12, dtype="f4").reshape(3, 4)
    assert digest(values) == digest(values.copy())
    assert digest(values.T) != digest(values)
    assert digest(values.astype("f8")) != digest(values)
    assert digest(np.array([np.nan], "f4")) == digest(np.array([np.nan], "f4"))
    wrong = values.copy()
    wrong[2, 3] = np.nextafter(wrong[2, 3], 99)
    assert digest(wrong) != digest(values)


def test_the_first_difference_is_named_wherever_it_is(monkeypatch):
    monkeypatch.setattr(compare, "_AT_ONCE", 5)  # in the third piece of several
    values = np.arange(24, dtype="i4").reshape(4, 6)
    found = values.copy()
    found[2, 1] = found[3, 3] = -1
    assert difference(found, values) == "2 of 24 values differ, first at [2, 1]: 13 became -1"
    assert difference(values, values) == ""
    assert difference(values[:2], values) == "(4, 6) values became (2, 6)"
    assert difference(values.astype("i8"), values) == "int32 became int64"


def test_not_a_number_is_itself_and_minus_zero_is_not_zero():
    assert difference(np.array([np.nan]), np.array([np.nan])) == ""
    assert "1 of 1" in difference(np.array([-0.0]), np.array([0.0]))


@pytest.mark.parametrize(
    ("quantize", "near", "far"),
    [(("bitround", 7), 1.001, 1.02), (("granular_bitround", 3), 1.004, 1.02),
     (("bitgroom", 3), 1.004, 1.02)],
)  # fmt: skip
def test_rounded_values_may_differ_by_what_rounding_allows(quantize, near, far):
    truth = np.array([1.0, -1.0, 0.0, np.nan, np.inf])
    rounded = np.array([near, -near, 0.0, np.nan, np.inf])
    assert difference(rounded, truth, quantize=quantize) == ""
    assert difference(rounded, truth) != ""
    assert "1 of 5" in difference(np.where(truth == 1, far, rounded), truth, quantize=quantize)


def test_a_fill_value_is_never_rounded():
    truth, found = np.array([1e20]), np.array([1.0001e20])
    assert difference(found, truth, quantize=("bitround", 4)) == ""
    assert difference(found, truth, quantize=("bitround", 4), fill_value=1e20) != ""
