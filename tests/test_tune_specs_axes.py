"""Dimensions are recognised by CF attributes first, then by name, then by position."""

import pytest

from hyperslab.io import Variable
from hyperslab.tune.specs.axes import axes_of, axis_letters


def coordinate(name, **attrs):
    return Variable(name, (name,), (3,), "f8", attrs)


@pytest.mark.parametrize(
    ("attrs", "letter"),
    [
        ({"axis": "z"}, "Z"),
        ({"standard_name": "grid_latitude"}, "Y"),
        ({"units": "hours since 2000-01-01"}, "T"),
        ({"units": "degrees_north"}, "Y"),
        ({"units": "degree_east"}, "X"),
        ({"positive": "down"}, "Z"),
    ],
)
def test_attributes(attrs, letter):
    assert axes_of({"q": coordinate("q", **attrs)}) == {"q": letter}


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("time", "T"), ("time_counter", "T"), ("valid_time", "T"), ("deptht", "Z"), ("plev", "Z"),
        ("isobaricInhPa_level", "Z"), ("bottom_top_level", "Z"), ("nav_lat", ""), ("rlat", "Y"),
        ("south_north", "Y"), ("west_east", "X"), ("longitude", "X"), ("x", "X"), ("n", ""),
    ],
)  # fmt: skip
def test_names(name, letter):
    field = Variable("f", (name,), (3,), "f4")
    assert axes_of({"f": field}).get(name, "") == letter


def test_what_attributes_say_counts_more_than_the_name():
    assert axes_of({"x": coordinate("x", units="days since 1950-01-01")}) == {"x": "T"}


@pytest.mark.parametrize(
    ("dims", "unlimited", "letters"),
    [
        (("a",), (), ("",)),
        (("a",), ("a",), ("T",)),
        (("a", "b"), ("a",), ("T", "")),
        (("a", "b", "c"), (), ("T", "Y", "X")),
        (("a", "b", "c", "d", "e"), (), ("T", "", "", "Y", "X")),
        (("time", "station"), (), ("T", "")),
        (("lev", "lat", "lon"), (), ("Z", "Y", "X")),
        (("member", "time", "lat", "lon"), (), ("", "T", "Y", "X")),
        (("time", "band", "row", "col"), (), ("T", "Z", "Y", "X")),
        (("lat", "lat2", "lon"), (), ("Y", "", "X")),
    ],
)
def test_letters(dims, unlimited, letters):
    assert axis_letters(dims, unlimited, {}) == letters
