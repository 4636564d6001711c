"""Comparing a copy with its source: to the last bit, or as rounded."""

import netCDF4
import numpy as np
import pytest

from hyperslab.tune.report import compare
from hyperslab.tune.report.compare import difference, digest


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
    assert said.startswith("4 of 4 values differ, first at [0]: nan became 0.0")


def rounded_by_the_library(path, truth, mode, digits, fill_value=None):
    """Values as netCDF-C rounds and stores them."""
    with netCDF4.Dataset(path, "w") as nc:
        nc.createDimension("x", len(truth))
        made = nc.createVariable(
            "a", truth.dtype, ("x",), zlib=True, quantize_mode=mode, significant_digits=digits,
            fill_value=fill_value,
        )  # fmt: skip
        made.set_auto_maskandscale(False)
        made[:] = truth
    with netCDF4.Dataset(path) as nc:
        nc["a"].set_auto_maskandscale(False)
        return nc["a"][:]


MODES = {"bitgroom": "BitGroom", "bitround": "BitRound", "granular_bitround": "GranularBitRound"}
FILL = 9.969209968386869e36  # of netCDF-C, where a variable names none


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    ("mode", "special"),
    [
        ("bitgroom", [np.nan]),
        ("bitround", [np.nan, np.inf, -np.inf]),
        ("granular_bitround", []),
    ],
)
def test_what_the_library_rounds_is_as_rounded(tmp_path, dtype, mode, special):
    truth = np.array([FILL, -0.0, 0.0, 1.2345678, -9e30, 1e-39, 1e-310, *special] * 2, dtype)
    found = rounded_by_the_library(tmp_path / "a.nc", truth, MODES[mode], 3)
    assert difference(found, truth, quantize=(mode, 3)) == ""
    assert difference(found, truth) != ""
    assert found[0] == truth[0]  # the fill value is kept as it is


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("fill_value", [None, np.nan])
@pytest.mark.parametrize(
    ("mode", "value", "became"),
    [
        ("bitgroom", np.inf, "inf became nan"),
        ("granular_bitround", np.nan, "nan became -0.0"),
        ("granular_bitround", -np.inf, "-inf became 0.0"),
    ],
)
def test_what_the_library_makes_another_thing_is_wrong(
    tmp_path, dtype, fill_value, mode, value, became
):
    truth = np.array([value, 1.0], dtype)
    if mode == "bitgroom":
        truth = truth[[1, 0]]  # every other value is padded with ones
    found = rounded_by_the_library(tmp_path / "a.nc", truth, MODES[mode], 3, fill_value)
    said = difference(found, truth, quantize=(mode, 3), fill_value=fill_value)
    assert f"1 of 2 values differ, first at [{int(mode == 'bitgroom')}]: {became}, because" in said
    assert said.endswith(f"netCDF-C's {mode} does not keep {value}: take bitround, which does")


def test_values_that_the_library_spoils_are_wrong(tmp_path):
    """Seven digits are more than BitGroom can keep of 32 bits; rounding up may end at infinity."""
    truth = np.array([1.2345678, 1.2345678], "f4")
    found = rounded_by_the_library(tmp_path / "a.nc", truth, "BitGroom", 7)
    assert "2 of 2" in difference(found, truth, quantize=("bitgroom", 7))
    most = np.finfo("f4").max
    found = rounded_by_the_library(tmp_path / "b.nc", np.array([most]), "BitRound", 3)
    assert "became inf" in difference(found, np.array([most]), quantize=("bitround", 3))


def test_a_fill_value_is_never_rounded():
    truth, found = np.array([1e20]), np.array([1.0001e20])
    assert difference(found, truth, quantize=("bitround", 4)) == ""
    assert difference(found, truth, quantize=("bitround", 4), fill_value=1e20) != ""
