"""Comparing a copy with its source: to the last bit, or as rounded."""

import netCDF4
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


@pytest.mark.parametrize("mode", ["bitround", "granular_bitround", "bitgroom"])
def test_rounding_sets_bits_of_what_is_no_number_and_of_zero(mode):
    truth = np.array([np.nan, 0.0, -0.0, 1.0], "f4")
    found = truth.copy()
    found.view("u4")[:3] |= 0xFFF  # other bits, still no number; and denormal ones
    assert np.isnan(found[0])
    assert 0 < found[1] < 1e-38
    assert difference(found, truth, quantize=(mode, 3)) == ""
    assert "3 of 4" in difference(found, truth)
    lost = np.array([0.0, 1e-30, np.nan, np.nan], "f4")
    said = difference(lost, truth, quantize=(mode, 3))
    assert said == "4 of 4 values differ, first at [0]: nan became 0.0"


def test_whole_numbers_are_not_rounded():
    assert difference(np.array([1001]), np.array([1000]), quantize=("bitround", 2)) != ""


@pytest.mark.parametrize(
    ("mode", "special"),
    [("BitGroom", [np.nan]), ("BitRound", [np.nan, np.inf, -np.inf]), ("GranularBitRound", [])],
)
def test_what_the_library_rounds_is_as_rounded(tmp_path, mode, special):
    """BitGroom makes infinity no number, and GranularBitRound both zero: those are not kept."""
    truth = np.array([-0.0, 0.0, 1.2345678, -9e30, 1e-39, *special] * 2, "f4")
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as nc:
        nc.createDimension("x", len(truth))
        made = nc.createVariable(
            "a", "f4", ("x",), zlib=True, quantize_mode=mode, significant_digits=3
        )
        made[:] = truth
    with netCDF4.Dataset(tmp_path / "a.nc") as nc:
        nc["a"].set_auto_maskandscale(False)
        found = nc["a"][:]
    name = {"GranularBitRound": "granular_bitround"}.get(mode, mode.lower())
    assert difference(found, truth, quantize=(name, 3)) == ""
    assert difference(found, truth) != ""


def test_a_fill_value_is_never_rounded():
    truth, found = np.array([1e20]), np.array([1.0001e20])
    assert difference(found, truth, quantize=("bitround", 4)) == ""
    assert difference(found, truth, quantize=("bitround", 4), fill_value=1e20) != ""
