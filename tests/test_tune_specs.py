"""What is typed becomes layouts and reads, or is refused with what is allowed."""

import math
import sys
from dataclasses import replace

import netCDF4
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_bench import PLAIN, SST, Made, stored

from hyperslab.io import Layout, Variable
from hyperslab.tune.bench.command import with_coordinates
from hyperslab.tune.rechunk import copy
from hyperslab.tune.source import open_source
from hyperslab.tune.sources.base import SourceVariable
from hyperslab.tune.specs import parse
from hyperslab.tune.specs.auto import candidates, shapes
from hyperslab.tune.specs.axes import axes_of, axis_letters
from hyperslab.tune.specs.coordinates import coordinates_of
from hyperslab.tune.specs.fitting import fit
from hyperslab.tune.specs.grid import Wanted, sweeps, targets
from hyperslab.tune.specs.patterns import Pattern, stepped, usual
from hyperslab.tune.specs.target import Choice, Target, kept_codec


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        (parse.size, "lots", "give bytes"),
        (parse.size, "-1", "give bytes"),
        (parse.format_name, "7", "1 netcdf3"),
        (parse.format_name, "binary", "netcdf4"),
        (parse.byteorder, "3", "1 or little"),
        (parse.chunks, "1,lat", "pairs such as"),
        (parse.chunks, "0,5", "at least 1"),
        (parse.chunks, "lat=1,lat=2", "pairs such as"),
        (parse.codec, "zip", "deflate"),
        (parse.codec, "zstd:99", "1 to 22"),
        (parse.codec, "lzf:1", "no level"),
        (parse.codec, "deflate:0", "1 to 9"),
        (parse.quantize, "bitround", "BITS"),
        (parse.quantize, "bitround:0", "BITS"),
        (parse.switch, "maybe", "yes or no"),
    ],
)
def test_what_is_not_understood_is_refused(call, given, said):
    with pytest.raises(ValueError, match=said) as error:
        call(given)
    assert given in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "chunks", "codec", "level", "shuffle"),
    [
        ("0:-1:0:1024:16:256", (1024, 16, 256), "none", None, False),
        ("u:0:0:4:4", (4, 4), "none", None, False),
        ("u:9:1:4:4", (4, 4), "deflate", 9, True),
        ("u:1:0", "default", "deflate", 1, False),
        ("u:-1:0:0", "contiguous", "none", None, False),
    ],
)
def test_the_option_c_of_bm_file(text, chunks, codec, level, shuffle):
    ((name, choice),) = parse.bm_choices(text, ["u", "v"]).items()
    assert name == "u"
    assert (choice.chunks, choice.codec, choice.level, choice.shuffle) == (
        chunks, codec, level, shuffle,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", ["2:-1:0:5", "w:-1:0", "0:a:0", "0:10:0", "0:-1:2", "0:-1", "0:-1:0:5:0", ""]
)
def test_a_wrong_c_is_refused(text):
    with pytest.raises(ValueError, match="-c"):
        parse.bm_choices(text, ["u", "v"])


FILE = {"sst": SST}


def names(options=None, bm=(), copy=True, format="netcdf4", file=FILE):
    made = targets(Wanted(options or {}, bm, copy), format, file, list(file.values()))
    return [target.name for target in made]


def test_every_combination_is_made():
    made = targets(
        Wanted({"codec": ["none", "zstd:3"], "chunks": ["1,72,144", "time=100"]}),
        "netcdf4", FILE, [SST],
    )  # fmt: skip
    assert [target.name for target in made] == [
        "copy", "1x72x144 uncompressed", "1x72x144 zstd:3", "time=100 uncompressed",
        "time=100 zstd:3",
    ]  # fmt: skip
    assert [target.layouts([SST])["sst"].codec for target in made[1:]] == [None, "zstd"] * 2


def test_automatic_chunks_with_a_codec():
    found = names({"chunks": ["auto"], "codec": ["zstd:1"]})
    assert found[1:] == ["map chunks", "series chunks", "balanced chunks"]
    assert Wanted({"chunks": ["auto"], "codec": ["zstd:1"]}).common == "zstd:1"
    swept = names({"chunks": ["auto"], "codec": ["zstd:1", "none"]})
    assert swept[1:3] == ["map chunks zstd:1", "series chunks zstd:1"]


def test_several_c_are_several_layouts():
    asked = Wanted({"endian": ["big"]}, ["0:-1:0:1:72:144", "sst:2:1:10:72:144"])
    made = targets(asked, "netcdf4", FILE, [SST])
    assert [one.name for one in made] == ["copy", "1x72x144", "10x72x144 deflate:2 shuffle"]
    assert [one.byteorder for one in made] == ["native", "big", "big"]
    assert asked.common == "big-endian"
    assert names({"endian": ["big"]}, asked.bm[:1]) == ["copy", "1x72x144 big-endian"]


@pytest.mark.parametrize("option", [{"chunks": ["10,10"]}, {"codec": ["zstd"]}, {"shuffle": ["1"]}])
def test_c_says_chunks_and_codec_itself(option):
    with pytest.raises(ValueError, match="-c says chunks, deflate and shuffle itself"):
        names(option, ["0:-1:0:1:72:144"])


def test_chunks_of_a_classic_file_make_it_netcdf4():
    plain = Made("a", ("y", "x"), (30, 20), "i4")
    made = targets(Wanted({"chunks": ["10,10"]}), "netcdf3", {"a": plain}, [plain])
    assert [target.format for target in made] == ["netcdf3", "netcdf4"]
    kept = targets(Wanted({"endian": ["big"]}), "netcdf3", {"a": plain}, [plain])
    assert kept[1].format == "netcdf3"


@pytest.mark.parametrize("text", ["codec", "colour=red/blue", "codec=", "=a/b"])
def test_a_sweep_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="NAME=VALUE/VALUE"):
        sweeps([text])


CLASSIC = stored("t", ("time", "x"), (9, 5), Layout("netcdf3"), unlimited=("time",))
ZARR = stored("z", ("y", "x"), (30, 20), Layout("zarr3", chunks=(10, 10), codec="zstd", level=5))


def only(target, variable):
    return target.layouts([variable])[variable.name]


@pytest.mark.parametrize("variable", [SST, PLAIN, CLASSIC, ZARR])
def test_nothing_chosen_keeps_the_layout(variable):
    kept = only(Target("copy", variable.layout.format), variable)
    if variable.layout.format != "netcdf3":
        assert kept == variable.layout
    assert kept.format == variable.layout.format


@pytest.mark.parametrize(
    ("choice", "chunks"),
    [
        (Choice((5, 6, 7)), (5, 6, 7)),
        (Choice((("time", 100), ("lat", 9))), (100, 9, 144)),
        (Choice("same"), (1, 72, 144)),
        (Choice((300, 200)), (1, 72, 144)),
    ],
)
def test_lengths_pairs_and_words_choose_chunks(choice, chunks):
    both = [SST, PLAIN]
    assert Target("t", "netcdf4", choice).layouts(both)["sst"].chunks == chunks


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (Target("t", "netcdf4", Choice((1, 73, 144))), "lat of sst has length 72.*chunk of 73"),
        (Target("t", "netcdf4", Choice((("lon", 145),))), "lon of sst has length 144"),
        (Target("t", "netcdf4", Choice((1, 2))), "2 chunk lengths fit no variable"),
        (Target("t", "netcdf4", Choice((("depth", 2),))), "no variable has a dimension depth"),
        (Target("t", "netcdf4", Choice("contiguous")), "needs chunks"),
        (Target("t", "netcdf4", each=(("u", Choice()),)), "no variable u is copied"),
        (Target("t", "netcdf4", each=(("sst", Choice((2, 2))),)), "2 chunk lengths for sst"),
        (Target("t", "netcdf3", Choice((1, 72, 144))), "have chunks"),
        (Target("t", "zarr3", Choice("same", "szip")), "szip"),
    ],
)
def test_what_does_not_fit_is_said(target, message):
    with pytest.raises(ValueError, match=message):
        target.layouts([SST])


def test_chunks_that_nobody_asked_for_are_cut_where_dimensions_cannot_grow():
    layout = Layout("netcdf4", chunks=(2048, 2048))
    both = stored("w", ("time", "n"), (5, 6), layout, unlimited=("time", "n"))
    assert only(Target("t", "netcdf4"), both).chunks == (2048, 2048)
    assert only(Target("t", "netcdf4-classic"), both).chunks == (5, 6)
    assert only(Target("t", "netcdf4-classic", Choice("default")), both).chunks == (5, 6)
    assert only(Target("t", "netcdf4-classic", Choice((("n", 3),))), both).chunks == (5, 3)
    with pytest.raises(ValueError, match="time of w has length 5, and a chunk of 9 is longer"):
        only(Target("t", "netcdf4-classic", Choice((9, 6))), both)


def test_a_codec_that_a_format_has_not_becomes_deflate():
    kept = only(Target("t", "hdf5"), ZARR)
    assert (kept.codec, kept.shuffle) == ("deflate", True)
    assert only(Target("t", "zarr2"), ZARR).codec == "zstd"
    strange = Made("s", ("y",), (10,), chunks=(5,), codec="lzf and a checksum of its own")
    assert only(Target("t", "netcdf4"), strange).codec == "deflate"


def test_only_floats_are_quantized():
    rounded = Target("t", "netcdf4", Choice(quantize=("bitround", 9)))
    assert rounded.layouts([SST, PLAIN])["a"].quantize is None
    with pytest.raises(ValueError, match=r"only floats .* not a \(i4\)"):
        rounded.layouts([PLAIN])


def test_byte_order_and_checksums_are_kept_by_a_copy():
    big = replace(SST.layout, byteorder="big", fletcher32=True)
    variable = replace(SST, layout=big)
    assert only(Target("copy", "netcdf4"), variable) == big
    little = replace(SST, layout=replace(SST.layout, byteorder=sys.byteorder))
    assert only(Target("copy", "netcdf4"), little).byteorder == "native"
    assert only(Target("t", "netcdf4", byteorder="little"), variable).byteorder == "little"
    assert only(Target("t", "netcdf3"), variable).byteorder == "native"


SHUFFLED = replace(SST, codec="deflate 4, shuffle")


@pytest.mark.parametrize(
    ("choice", "format", "expected"),
    [
        (Choice(), "netcdf4", ("deflate", 4, True)),
        (Choice(codec="none"), "netcdf4", (None, None, False)),
        (Choice(codec="deflate", level=1), "netcdf4", ("deflate", 1, True)),
        (Choice(codec="blosc-lz4"), "netcdf4", ("blosc-lz4", None, True)),
        (Choice(codec="zstd", level=3), "netcdf4", ("zstd", 3, False)),
        (Choice(codec="zstd", level=3), "zarr3", ("zstd", 3, False)),
        (Choice(), "netcdf3", (None, None, False)),
    ],
)
def test_shuffle_stays_unless_it_is_chosen(choice, format, expected):
    assert kept_codec(SHUFFLED, choice, format) == expected


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


SHAPES = st.lists(st.integers(1, 4000), min_size=2, max_size=5).map(tuple)


def test_a_series_and_a_map_each_get_chunks_of_their_own():
    found = shapes({"sst": SST}, [SST])
    assert found["map chunks"]["sst"] == (1, 72, 144)
    assert found["series chunks"]["sst"][0] == 100
    levels = Made("t", ("lev", "lat", "lon"), (37, 721, 1440))
    assert "profile chunks" in shapes({"t": levels}, [levels])


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
    made = candidates(format, {variable.name: variable}, [variable])
    layouts = [target.layouts([variable])[variable.name] for target in made]
    assert len({(layout.chunks, layout.codec, layout.format) for layout in layouts}) == len(made)
    assert made[0].name == "copy"
    assert layouts[0].format == format
    assert layouts[-1].codec == codec
    assert len(made) <= 6


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


def test_the_usual_ones():
    assert [p.name for p in usual({"sst": SST}, [SST])] == ["time_series", "map", "whole"]
    assert [p.name for p in usual({"a": PLAIN}, [PLAIN])] == ["row", "column", "whole"]
    line = Made("s", ("n",), (10,))
    assert [p.name for p in usual({"s": line}, [line])] == ["whole"]


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


def found(names, *variables):
    return coordinates_of({v.name: v for v in variables}, names)


NEEDY = Made(
    "sst", ("time", "lat"), (3, 4), attrs={"coordinates": "day gone", "grid_mapping": "crs"}
)
TIME = Made("time", ("time",), (3,), attrs={"bounds": "ends"})
OTHERS = [
    Made("lat", ("lat",), (4,)),
    Made("ends", ("time", "two"), (3, 2)),
    Made("day", ("time",), (3,)),
    Made("crs", (), ()),
    Made("ice", ("time", "lat"), (3, 4)),
    Made("count", ("time",), (3,)),
]


def test_what_dimensions_and_attributes_name_is_needed_and_what_that_needs():
    assert found(["sst"], NEEDY, TIME, *OTHERS) == ("time", "lat", "ends", "day", "crs")
    assert found(["ice"], NEEDY, TIME, *OTHERS) == ("time", "lat", "ends")
    assert found(["sst", "time", "lat"], NEEDY, TIME, *OTHERS) == ("ends", "day", "crs")


def test_groups_look_outwards():
    deep = Made("a/b/salt", ("a_b_t",), (3,), attrs={"coordinates": "level where"})
    others = [
        Made("a/b/t", ("a_b_t",), (3,)),
        Made("where", ("x",), (4,)),
        Made("a/level", ("z",), (2,)),
    ]
    assert found(["a/b/salt"], deep, *others) == ("a/b/t", "where", "a/level")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("coordinates") / "a.nc"
    with netCDF4.Dataset(path, "w") as nc:
        nc.createDimension("time", None)
        nc.createDimension("x", 4)
        sst = nc.createVariable("sst", "f4", ("time", "x"))
        sst[:] = np.linspace(0, 1, 12).reshape(3, 4)
        sst.coordinates = "name exact"
        nc.createVariable("time", "f8", ("time",))[:] = [0.1, 0.2, 0.3]
        nc.createVariable("exact", "i8", ("x",))[:] = 2**40
        nc.createVariable("name", str, ("x",))
        nc.createVariable("ice", "f4", ("time", "x"))[:] = 1
    return path


def test_coordinates_stay_as_they_are(file, tmp_path):
    target = Target("rounded", "netcdf4", Choice((1, 4), "deflate", quantize=("bitgroom", 1)))
    with open_source(file) as source:
        wider, names = with_coordinates(source, ["sst"], target)
    assert names == ("sst", "time", "exact")
    copy(file, tmp_path / "b.nc", wider, variables=names)
    with netCDF4.Dataset(tmp_path / "b.nc") as nc:
        assert set(nc.variables) == {"sst", "time", "exact"}
        assert nc["time"][:].tolist() == [0.1, 0.2, 0.3]
        assert nc["sst"].chunking() == [1, 4]
