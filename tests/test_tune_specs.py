"""What is typed becomes layouts and reads; test_tune_refusals.py has what is refused."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from made_bench import PLAIN, SST, Made, stored

from hyperslab.io import Layout, Variable
from hyperslab.tune.specs import parse
from hyperslab.tune.specs.auto import candidates
from hyperslab.tune.specs.axes import axes_of, axis_letters, largest, selection, usual
from hyperslab.tune.specs.parse import targets
from hyperslab.tune.specs.target import Choice, Target, fit


@pytest.mark.parametrize(
    ("call", "given", "became"),
    [
        (parse.size, "64KiB", 65536),
        (parse.size, "1.5 kB", 1500),
        (parse.chunks, "time=1,lat=72", (("time", 1), ("lat", 72))),
        (parse.codec, "gzip:9", ("deflate", 9)),
        (parse.quantize, "bitround:12", ("bitround", 12)),
    ],
)
def test_what_is_typed_becomes_a_value(call, given, became):
    assert call(given) == became


def test_every_combination_is_made():
    def tried(options, variable=SST):
        return targets(options, variable.layout.format, {variable.name: variable}, [variable])

    swept = tried({"chunks": ["1,72,144", "time=100"], "codec": ["none", "zstd:3"]})
    assert [target.name for target in swept] == [
        "copy", "1x72x144 uncompressed", "1x72x144 zstd:3", "time=100 uncompressed",
        "time=100 zstd:3",
    ]  # fmt: skip
    assert [target.layouts([SST])["sst"].codec for target in swept[1:]] == [None, "zstd"] * 2
    alone = tried({"chunks": ["9,72,144"], "format": ["3"]})
    assert [target.name for target in alone] == ["copy", "9x72x144 netcdf4"]
    classic = stored("a", ("y", "x"), (30, 20), Layout("netcdf3"))
    for options, format in (({"chunks": ["10,10"]}, "netcdf4"), ({"cache": ["1MiB"]}, "netcdf3")):
        assert tried(options, variable=classic)[1].format == format


CLASSIC = stored("t", ("time", "x"), (9, 5), Layout("netcdf3"), unlimited=("time",))
ZARR = stored("z", ("y", "x"), (30, 20), Layout("zarr3", chunks=(10, 10), codec="zstd", level=5))
LARGE = stored("w", ("time", "n"), (5, 6), Layout("netcdf4", chunks=(2048, 2048)),
               unlimited=("time", "n"))  # fmt: skip
ODD = Made("s", ("y",), (10,), chunks=(5,), codec="lzf and a checksum of its own")
SHUFFLED = replace(SST, codec="deflate 4, shuffle")
BIG = replace(SST, layout=replace(SST.layout, byteorder="big", fletcher32=True))
NATIVE = replace(SST, layout=replace(SST.layout, byteorder=sys.byteorder))


@pytest.mark.parametrize("variable", [SST, PLAIN, BIG, CLASSIC, ZARR])
def test_nothing_chosen_keeps_the_layout(variable):
    (same,) = Target("copy", variable.layout.format).layouts([variable]).values()
    assert same == (variable.layout if variable is not CLASSIC else replace(same, format="netcdf3"))


@pytest.mark.parametrize(
    ("variable", "format", "choice", "expected"),
    [
        (SST, "netcdf4", Choice((5, 6, 7)), {"chunks": (5, 6, 7)}),
        (SST, "netcdf4", Choice((("time", 100), ("lat", 9))), {"chunks": (100, 9, 144)}),
        (SST, "netcdf4", Choice("same"), {"chunks": (1, 72, 144)}),
        # lengths that nobody asked for are cut where dimensions cannot grow
        (LARGE, "netcdf4", Choice(), {"chunks": (2048, 2048)}),
        (LARGE, "netcdf4-classic", Choice(), {"chunks": (5, 6)}),
        (LARGE, "netcdf4-classic", Choice("default"), {"chunks": (5, 6)}),
        (LARGE, "netcdf4-classic", Choice((("n", 3),)), {"chunks": (5, 3)}),
        # a codec that a format has not becomes deflate
        (ZARR, "hdf5", Choice(), {"codec": "deflate", "shuffle": True}),
        (ZARR, "zarr2", Choice(), {"codec": "zstd"}),
        (ODD, "netcdf4", Choice(), {"codec": "deflate"}),
        # shuffle stays unless it is chosen, or the codec has its own
        (SHUFFLED, "hdf5", Choice("same"), {"codec": "deflate", "level": 4, "shuffle": True}),
        (SHUFFLED, "netcdf4", Choice("same", "none"), {"codec": None, "shuffle": False}),
        (SHUFFLED, "netcdf4", Choice("same", "blosc-lz4"), {"level": None, "shuffle": True}),
        (SHUFFLED, "netcdf4", Choice("same", "zstd", 3), {"level": 3, "shuffle": False}),
        (SHUFFLED, "netcdf3", Choice(), {"codec": None, "shuffle": False}),
        (NATIVE, "netcdf4", Choice(), {"byteorder": "native"}),
        (BIG, "netcdf3", Choice(), {"byteorder": "native"}),
    ],
)
def test_what_is_chosen_is_had_and_the_rest_stays(variable, format, choice, expected):
    (layout,) = Target("t", format, choice).layouts([variable]).values()
    assert {name: getattr(layout, name) for name in expected} == expected


def test_each_variable_takes_what_it_can_of_a_choice():
    target = Target("t", "netcdf4", Choice((300, 200), quantize=("bitround", 9)))
    layouts = target.layouts([SST, PLAIN])
    assert (layouts["sst"].chunks, layouts["a"].quantize) == ((1, 72, 144), None)
    with pytest.raises(ValueError, match=r"only floats .* not a \(i4\)"):
        target.layouts([PLAIN])


def fitted(format, unlimited=(), attrs=None):
    variable = Made("sst", ("t", "x"), (3, 4), unlimited=unlimited, attrs=attrs or {})
    layout = Layout(format, None if format == "netcdf3" else (1, 4))
    copy = fit([variable], {"sst": layout}, {})
    return copy.variables[0], (*copy.notes, *copy.lost)


@pytest.mark.parametrize(
    ("format", "grows", "growing"),
    [
        ("netcdf3", ("t",), ("t",)),
        ("netcdf3", ("x",), ()),
        ("netcdf3", ("t", "x"), ()),
        ("netcdf4-classic", ("x",), ("x",)),
        ("netcdf4-classic", ("t", "x"), ()),
        ("netcdf4", ("t", "x"), ("t", "x")),
        ("zarr3", ("t",), ()),
    ],
)
def test_dimensions_grow_where_the_format_lets_them(format, grows, growing):
    variable, notes = fitted(format, grows)
    assert variable.unlimited == growing
    assert any("fixed length" in text for text in notes) == (grows != growing and format != "zarr3")


def test_attributes_become_what_the_format_has():
    attrs = {
        "text": "K", "texts": ["a", "b"], "half": np.float16(0.5), "long": np.int64(7),
        "large": np.int64(2**40), "unsigned": np.uint16([1, 2]), "complex": 1j,
    }  # fmt: skip
    old, notes = fitted("netcdf3", attrs=attrs)
    taken = old.attrs
    assert (taken["text"], taken["texts"], taken["long"], taken["large"]) == ("K", "a\nb", 7, 2**40)
    numbers = [str(taken[name].dtype) for name in ("long", "large", "unsigned", "half")]
    assert numbers == ["int32", "float64", "int32", "float64"]
    assert notes == ("sst loses complex: netcdf3 has no such attributes.",)
    new = fitted("netcdf4", attrs=attrs)[0].attrs
    assert (new["texts"], new["long"].dtype) == (["a", "b"], "i8")


@pytest.mark.parametrize(
    ("format", "variable", "codec"),
    [
        ("netcdf4", SST, "zstd"),
        ("netcdf4", PLAIN, "deflate"),
        ("zarr3", stored("z", ("y", "x"), (99, 99), Layout("zarr3", chunks=(9, 9))), "zstd"),
        ("netcdf3", stored("n", ("y", "x"), (99, 99), Layout("netcdf3")), "deflate"),
    ],
)
def test_candidates_are_different_and_one_has_another_codec(format, variable, codec):
    tried = candidates(format, {variable.name: variable}, [variable])
    layouts = [target.layouts([variable])[variable.name] for target in tried]
    assert len({(layout.chunks, layout.codec, layout.format) for layout in layouts}) == len(tried)
    assert (tried[0].name, layouts[0].format, layouts[-1].codec) == ("copy", format, codec)
    assert len(tried) <= 6
    chunks = {target.name: layout.chunks for target, layout in zip(tried, layouts, strict=True)}
    if variable is SST:  # the map chunks are those of the file
        assert chunks["copy"] == (1, 72, 144) and chunks["series chunks"][0] == 100
        assert "map chunks" not in chunks and 1 < chunks["balanced chunks"][0] < 100


@pytest.mark.parametrize(
    ("attrs", "letter"),
    [({"axis": "z"}, "Z"), ({"standard_name": "grid_latitude"}, "Y"), ({"positive": "down"}, "Z"),
     ({"units": "hours since 2000-01-01"}, "T"), ({"units": "degree_east"}, "X")],
)  # fmt: skip
def test_a_coordinate_says_what_its_dimension_is(attrs, letter):
    assert axes_of({"q": Variable("q", ("q",), (3,), "f8", attrs)}) == {"q": letter}


@pytest.mark.parametrize(
    ("dims", "unlimited", "letters"),
    [("a b", ("a",), "T-"), ("a b c", (), "TYX"), ("a b c d e", (), "T--YX"),
     ("lev lat lon", (), "ZYX"), ("member time lat lon", (), "-TYX"),
     ("time band row col", (), "TZYX"), ("lat lat2 lon", (), "Y-X")],
)  # fmt: skip
def test_names_and_places_say_it_else(dims, unlimited, letters):
    assert "".join(x or "-" for x in axis_letters(dims.split(), unlimited, {})) == letters


def test_patterns_are_what_their_names_say():
    air = Made("air", ("time", "lev", "lat", "lon"), (6, 5, 4, 3))
    values = np.zeros(air.shape)
    shapes = {"time_series": (6,), "map": (4, 3), "profile": (5,), "row": (3,), "column": (6,),
              "whole": (6, 5, 4, 3)}  # fmt: skip
    for name, shape in shapes.items():
        assert values[selection(name, air, {})].shape == shape
    assert selection("profile", SST, {}) is None
    assert usual({"sst": SST}, [SST]) == ["time_series", "map", "whole"]
    assert usual({"a": PLAIN}, [PLAIN]) == ["row", "column", "whole"]


@pytest.mark.parametrize(
    ("first", "larger"),
    [
        (Made("sst", ("t",), (3,), attrs={"coordinates": "gone day"}), Made("day", ("x",), (9,))),
        (Made("sst", ("t",), (3,), attrs={"bounds": "ends"}), Made("ends", ("t", "two"), (3, 2))),
        (Made("a/b/salt", ("a_b_t",), (3,)), Made("a/b/t", ("a_b_t",), (3,), dtype="f8")),
        (Made("a/b/salt", ("t",), (3,), attrs={"bounds": "z"}), Made("a/z", ("x",), (9,))),
        (Made("ice", ("t",), (9,)), Made("sst", ("t",), (3,), attrs={"coordinates": "day"})),
    ],
)
def test_the_largest_variable_is_one_that_serves_no_other(first, larger):
    source = SimpleNamespace(variables={v.name: v for v in (larger, first)})
    source.choose = lambda: [*source.variables.values()]
    assert largest(source) is first
