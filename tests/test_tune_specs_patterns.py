"""Patterns pick what they name, and stay inside the array."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_bench import PLAIN, SST, Made

from hyperslab.tune.specs.patterns import MOST_READS, Pattern, named, slabs, stepped, usual

AIR = Made("air", ("time", "lev", "lat", "lon"), (6, 5, 4, 3))


def picked(name, variable):
    values = np.arange(math.prod(variable.shape)).reshape(variable.shape)
    found = Pattern(name).selections([variable]).get(variable.name)
    return None if found is None else values[found[0]].shape


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("time_series", (6,)), ("map", (4, 3)), ("profile", (5,)), ("row", (3,)), ("column", (6,)),
        ("whole", (6, 5, 4, 3)),
    ],
)  # fmt: skip
def test_named_patterns(name, shape):
    assert picked(name, AIR) == shape


@pytest.mark.parametrize("name", ["time_series", "map", "profile"])
def test_an_array_without_these_axes_has_no_such_pattern(name):
    assert picked(name, PLAIN) is None
    assert picked(name, Made("crs", (), (), "i4")) is None


def test_the_usual_ones():
    assert [p.name for p in usual({"sst": SST}, [SST])] == ["time_series", "map", "whole"]
    assert [p.name for p in usual({"a": PLAIN}, [PLAIN])] == ["row", "column", "whole"]
    line = Made("s", ("n",), (10,))
    assert [p.name for p in usual({"s": line}, [line])] == ["whole"]


def test_the_file_says_what_its_dimensions_are():
    days = Made("n", ("n",), (6,), "f8", attrs={"units": "days since 1950-01-01"})
    field = Made("f", ("lat", "n"), (4, 6))
    (series,) = named(["time_series"], {"n": days, "f": field})
    assert series.selections([field])["f"] == [(2, slice(0, 6, 1))]


@given(st.integers(1, 50), st.integers(1, 60))
def test_slabs_cover_the_array_once(length, parts):
    seen = np.zeros((length, 2), "i4")
    for one in slabs((length, 2), parts):
        seen[one] += 1
    assert (seen == 1).all()
    assert len(slabs((length, 2), parts)) <= parts
    assert Pattern("slabs", slabs=parts).selections([Made("a", ("y", "x"), (length, 2))])


@given(st.data())
def test_boxes_stay_inside(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=3)))
    starts = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    counts = tuple(data.draw(st.integers(1, n - i)) for n, i in zip(shape, starts, strict=True))
    steps = tuple(data.draw(st.integers(0, n)) for n in shape)
    variable = Made("a", tuple("xyz"[: len(shape)]), shape)
    found = stepped(variable, starts, counts, steps)
    assert found[0] == tuple(slice(i, i + n, 1) for i, n in zip(starts, counts, strict=True))
    for one in found:
        assert all(0 <= s.start < s.stop <= n for s, n in zip(one, shape, strict=True))


@pytest.mark.parametrize(
    ("starts", "counts", "steps", "said"),
    [
        ((0,), (1, 1), (1, 1), "2 dimensions .* got 1 starts"),
        ((0, 0), (1, 201), (1, 1), "x of length 200"),
        ((299, 0), (2, 1), (1, 1), "y of length 300"),
        ((0, 0), (1, 1), (-1, 1), "at least 0"),
    ],
)
def test_boxes_that_do_not_fit_are_refused(starts, counts, steps, said):
    pattern = Pattern("boxes", boxes=(("a", (starts, counts, steps)),))
    with pytest.raises(ValueError, match=said):
        pattern.selections([PLAIN])


def test_too_many_boxes_are_refused():
    large = Made("a", ("x",), (MOST_READS + 1,))
    with pytest.raises(ValueError, match="larger increments"):
        stepped(large, (0,), (1,), (1,))


def test_boxes_are_for_the_variable_they_name():
    pattern = Pattern("boxes", boxes=(("a", ((0, 0), (2, 200), (2, 0))),))
    assert list(pattern.selections([SST, PLAIN])) == ["a"]
