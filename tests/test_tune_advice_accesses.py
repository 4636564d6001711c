"""Named accesses, their shares, and what the dimensions of a variable are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.io import region
from hyperslab.tune.advice.accesses import letters_of, resolve, roles, weights
from hyperslab.tune.sources.base import SourceError, SourceVariable
from hyperslab.tune.specs.patterns import NAMED

PLAIN = SourceVariable("v", ("a", "b"), (10, 20), "f4")
FIELD = SourceVariable("sst", ("time", "lat", "lon"), (10, 20, 30), "f4")


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=len(NAMED)))
def test_shares_that_sum_are_kept(parts):
    names = NAMED[: len(parts)]
    given = [f"{n}={p / sum(parts):.12f}" for n, p in zip(names, parts, strict=True)]
    found = weights(given)
    assert list(found) == list(names)
    assert sum(found.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["series=1"], "no access 'series': give one of time_series, map"),
        (["map=0.5", "map=0.5"], "map is given twice"),
        (["map=a"], "give a number, such as 0.7 or 70%"),
        (["map=0"], "give a share above 0"),
        (["map=nan"], "give a share above 0"),
        (["map=0.9", "whole=0.3"], "sum to 1.2, not to 1 .or 100%.: give map=0.75, whole=0.25"),
        (["map=0.5", "whole"], "whole has no share"),
    ],
)
def test_what_makes_no_sense_is_said(given, says):
    with pytest.raises(ValueError, match=says):
        weights(given)


def test_percent_and_names_alone():
    assert weights(["map=30,whole=70"]) == {"map": 0.3, "whole": 0.7}
    assert weights(["map=0.333", "row=0.333", "whole=0.333"])["map"] == pytest.approx(1 / 3)
    assert weights([]) == {}


def test_a_time_series_and_a_map_where_nothing_is_asked():
    found = resolve({}, FIELD, {"sst": FIELD}, {})
    assert [(a.name, a.weight) for a in found] == [("time_series", 0.5), ("map", 0.5)]
    assert [region(a.selections[0], FIELD.shape).size for a in found] == [10, 600]
    assert [a.name for a in resolve({}, PLAIN, {"v": PLAIN}, {})] == ["row", "column"]


def test_dimensions_that_cannot_be_told_can_be_named():
    with pytest.raises(ValueError, match=r"which dimension of v .a 10, b 20. is time cannot be told"
                       ".*--dims time=a"):  # fmt: skip
        resolve({"time_series": 1.0}, PLAIN, {"v": PLAIN}, {})
    found = resolve({"time_series": 1.0}, PLAIN, {"v": PLAIN}, roles(["time=b"]))
    assert found[0].selections == ((5, slice(0, 20, 1)),)
    with pytest.raises(ValueError, match="v has no dimension time: give some of a, b"):
        letters_of(PLAIN, {}, {"time": "T"})
    with pytest.raises(ValueError, match="give ROLE=DIMENSION"):
        roles(["when=b"])


def test_a_read_that_a_variable_has_not():
    with pytest.raises(ValueError, match=r"sst .time 10, lat 20, lon 30. has no such read"):
        resolve({"profile": 1.0}, FIELD, {"sst": FIELD}, {})
    with pytest.raises(SourceError, match="is a scalar"):
        resolve({}, SourceVariable("s", (), (), "f4"), {}, {})
    with pytest.raises(SourceError, match="holds no values yet"):
        resolve({}, SourceVariable("s", ("t",), (0,), "f4"), {}, {})


def test_several_calls_are_beside_each_other():
    found = resolve({"time_series": 0.5, "map": 0.5}, FIELD, {"sst": FIELD}, {}, calls=3)
    assert [one[2] for one in found[0].selections] == [15, 16, 17]
    assert [one[0] for one in found[1].selections] == [5, 6, 7]
    with pytest.raises(ValueError, match="--calls 99: sst has 10 such reads of map"):
        resolve({"map": 1.0}, FIELD, {"sst": FIELD}, {}, calls=99)
    many = resolve({"map": 1.0}, FIELD, {"sst": FIELD}, {}, calls=99, fewer=True)[0]
    assert [one[0] for one in many.selections] == list(range(10))
    assert len(resolve({"whole": 1.0}, FIELD, {"sst": FIELD}, {}, calls=9)[0].selections) == 1


def test_an_axis_that_is_named_is_taken_from_what_had_it():
    field = SourceVariable("sst", ("time", "lat", "lon"), (9, 8, 7), "f4")
    assert letters_of(field, {"sst": field}, {"lat": "T"}) == ("", "T", "X")
    assert letters_of(field, {"sst": field}, {"lon": "Y", "lat": "X"}) == ("T", "X", "Y")
