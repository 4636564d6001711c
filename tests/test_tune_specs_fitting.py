"""What of a source another format can take."""

import numpy as np
import pytest

from hyperslab.io import Layout
from hyperslab.tune.sources.base import SourceVariable
from hyperslab.tune.specs.fitting import fit


def variable(name="sst", dims=("t", "x"), shape=(3, 4), **others):
    return SourceVariable(name, dims, shape, "f4", **others)


def fitted(variables, format, attrs=None, chunks=None):
    layouts = {v.name: Layout(format, chunks and chunks[: len(v.shape)]) for v in variables}
    return fit(variables, layouts, attrs or {})


@pytest.mark.parametrize(
    ("format", "grows", "kept"),
    [
        ("netcdf3", ("t",), ("t",)),
        ("netcdf3", ("x",), ()),
        ("netcdf3", ("t", "x"), ()),
        ("netcdf4-classic", ("x",), ("x",)),
        ("netcdf4-classic", ("t", "x"), ()),
        ("netcdf4", ("t", "x"), ("t", "x")),
        ("hdf5", ("x",), ("x",)),
        ("zarr3", ("t",), ()),
    ],
)
def test_dimensions_grow_where_the_format_lets_them(format, grows, kept):
    chunks = None if format == "netcdf3" else (1, 4)
    made = fitted([variable(unlimited=grows)], format, chunks=chunks)
    assert made.variables[0].unlimited == kept
    noted = bool(set(grows) - set(kept)) and format != "zarr3"
    assert bool([text for text in made.notes if "fixed length" in text]) == noted


def test_attributes_become_what_the_format_has():
    attrs = {
        "text": "K", "texts": ["a", "b"], "half": np.float16(0.5), "long": np.int64(7),
        "large": np.int64(2**40), "unsigned": np.uint16([1, 2]), "complex": 1j,
    }  # fmt: skip
    old = fitted([variable(attrs=attrs)], "netcdf3")
    kept = old.variables[0].attrs
    assert (kept["text"], kept["texts"]) == ("K", "a\nb")
    assert kept["long"] == 7
    assert kept["long"].dtype == "i4"
    assert kept["large"] == 2**40
    assert kept["large"].dtype == "f8"
    assert kept["unsigned"].dtype == "i4"
    assert kept["half"].dtype == "f8"
    assert old.notes == ("sst loses complex: netcdf3 has no such attributes.",)
    new = fitted([variable(attrs=attrs)], "netcdf4").variables[0].attrs
    assert new["texts"] == ["a", "b"]
    assert new["long"].dtype == "i8"


def test_groups_need_a_format_that_has_them():
    nested = [variable("a/sst"), variable("a/ice")]
    assert [v.name for v in fitted(nested, "netcdf4").variables] == ["a/sst", "a/ice"]
    with pytest.raises(ValueError, match="a/sst, a/ice lie in groups, which cdf5 has not: take"):
        fitted(nested, "cdf5")
