"""Every reader over every layout it takes; which there are; selections made definite."""

import subprocess
import sys
from dataclasses import replace
from functools import cache
from importlib.util import find_spec

import h5py
import numpy as np
import pytest
from contracts.readers import ReaderContract, Truth, assert_same, selections
from hypothesis import given
from hypothesis import strategies as st

from hyperslab import subchunk
from hyperslab.io import DTYPES, Layout, Variable, cards, create, readers, region
from hyperslab.io import reader as reader_named
from hyperslab.io.cards import Card
from hyperslab.io.layout import CLASSIC

CHUNKS = (3, 4, 5)
LAYOUTS = {
    "binary": Layout("binary"),
    "binary-big": Layout("binary", byteorder="big"),
    "netcdf3": Layout("netcdf3"),
    "netcdf3-64bit-unfilled": Layout("netcdf3-64bit", prefill=False),
    "cdf5": Layout("cdf5"),
    "netcdf4": Layout("netcdf4"),
    "netcdf4-big": Layout("netcdf4", chunks=CHUNKS, byteorder="big"),
    "netcdf4-deflate": Layout("netcdf4", CHUNKS, "deflate", 1, shuffle=True, fletcher32=True),
    "netcdf4-zstd": Layout("netcdf4", CHUNKS, "zstd"),
    "netcdf4-classic": Layout("netcdf4-classic", CHUNKS, "deflate"),
    "hdf5": Layout("hdf5"),
    "hdf5-paged": Layout("hdf5", CHUNKS, "deflate", shuffle=True, page_bytes=4096),
    "hdf5-lzf": Layout("hdf5", CHUNKS, "lzf", shuffle=True),
    "hdf5-big": Layout("hdf5", CHUNKS, byteorder="big"),
    "zarr2": Layout("zarr2"),
    "zarr2-blosc": Layout("zarr2", CHUNKS, "blosc-lz4", shuffle=True),
    "zarr2-big": Layout("zarr2", CHUNKS, "deflate", shuffle=True, byteorder="big"),
    "zarr3-zstd": Layout("zarr3", CHUNKS, "zstd"),
    "zarr3-shards-big": Layout("zarr3", CHUNKS, shards=(6, 4, 10), byteorder="big"),
    "simple": Layout("hdf5", CHUNKS, "deflate", shuffle=True),
    "nczarr": Layout("nczarr"),
    "nczarr-deflate": Layout("nczarr", CHUNKS, "deflate"),
    "nczarr-zstd": Layout("nczarr", CHUNKS, "zstd"),
}


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Give the file of a layout, made at the first request."""
    nothing = tmp_path_factory.mktemp("nothing")
    (nothing / "text.nc").write_text("This is no data.\n" * 1000)
    (nothing / "folder").mkdir()

    @cache
    def give(name):
        path = tmp_path_factory.mktemp(name) / f"data{LAYOUTS[name].suffix}"
        values = (simple if name == "simple" else make)(path, LAYOUTS[name])
        return Truth(path, values, "main", nothing)

    return give


def make(path, layout, dtypes=DTYPES):
    """Write a file with all that a format can hold."""
    random = np.random.default_rng(7)
    format = layout.format
    packed = {"scale_factor": 0.5, "add_offset": 10.0, "missing_value": np.float32(1), "units": "K"}
    variables = [Variable("main", ("t", "y", "x"), (7, 11, 13), "f4", packed, fill_value=-5)]
    values = {"main": np.full((7, 11, 13), 0 if format == "binary" else -5, "f4")}
    # The rest are missing chunks, and the unwritten parts of others.
    stored = (slice(0, 5), slice(None), slice(0, 10)) if layout.prefill else ...
    values["main"][stored] = random.normal(size=values["main"][stored].shape)
    values["main"][0, 0, :4] = (np.nan, -0.0, np.inf, 1)

    classic = ("netcdf3", "netcdf3-64bit", "netcdf4-classic")
    few = {"u1", "u2", "u4", "u8", "i8"} if format in classic else set()
    few |= {"i1", "u1"} if format == "nczarr" else set()  # zarr-python takes "<i1" for no type
    for dtype in set(dtypes) - few:
        variables.append(Variable(dtype, ("y", "x"), (11, 13), dtype, {"_Unsigned": "true"}))
        values[dtype] = extremes(dtype, random)
    variables.append(Variable("scalar", (), (), "f8", fill_value=2.5))
    values["scalar"] = np.array(1e300)
    if format not in ("binary", *CLASSIC, "netcdf4-classic"):
        variables.append(Variable("group/inner/deep", ("x",), (13,), "i2"))
        values["group/inner/deep"] = np.arange(13, dtype="i2")
    plain = Layout(format, prefill=layout.prefill, byteorder=layout.byteorder,
                   page_bytes=layout.page_bytes)  # fmt: skip
    layouts = {v.name: plain for v in variables} | {"main": layout}
    coordinates = {"t": (Variable("t", ("t",), (7,), "f8"), np.arange(7.0))}
    if format != "binary":
        variables.append(Variable("grown", ("step", "x"), (4, 13), "f4", unlimited=("step",)))
        layouts["grown"] = replace(plain, chunks=None if format in CLASSIC else (1, 13))
        values["grown"] = random.normal(size=(4, 13)).astype("f4")
    pieces = {"main": [stored], "grown": range(4)}
    with create(path, variables, layouts, coordinates=coordinates) as writer:
        for name, array in values.items():
            for selection in pieces.get(name, [...]):
                writer.write(name, selection, array[selection])
    if format != "binary":
        values["t"] = coordinates["t"][1]
    if layout.codec == "deflate" and not path.is_dir():
        subchunk.build(path, spacing=1024)  # read with it by its own reader, ignored by others
    return values


def simple(path, layout):
    """Write a file with nothing missing, which hidefix and pyfive take."""
    random = np.random.default_rng(3)
    values = {
        "main": random.normal(size=(7, 11, 13)).astype("f4"),
        "frames": random.normal(size=(7, 11, 13)).astype("f4"),
        "one": random.normal(size=(7, 1, 13)).astype("f4"),
        "plain": np.arange(143, dtype="i2").reshape(11, 13),
        "group/deep": np.arange(143.0).reshape(11, 13),
        "scalar": np.array(2.5),
    }
    chunks = {"main": layout.chunks, "frames": (1, 11, 13), "one": (3, 1, 5)}
    with h5py.File(path, "w") as file:
        for name, array in values.items():
            how = {"compression": 4, "shuffle": name == "main"} if name in chunks else {}
            file.create_dataset(name, data=array, chunks=chunks.get(name), **how)
    return values


def extremes(dtype, random):
    """Values of a type, its ends among them."""
    if dtype[0] == "f":
        values = random.normal(size=(11, 13)).astype(dtype)
        limits = np.finfo(dtype)
        values.flat[:5] = (limits.min, limits.max, limits.smallest_subnormal, np.nan, -np.inf)
        return values
    limits = np.iinfo(dtype)
    values = random.integers(limits.min, limits.max, (11, 13), dtype, endpoint=True)
    values.flat[:2] = (limits.min, limits.max)
    return values


def known_gaps(reader, format, truth):
    """Leave out what a library is known not to read; each has a test of its own."""
    out = {
        ("nczarr", "zarr2"): {"scalar"},
        ("zarr", "nczarr"): {"scalar"},
        ("xarray-zarr", "nczarr"): {"scalar", "group/inner/deep"},
    }.get((reader, format), set())
    return replace(truth, values={k: v for k, v in truth.values.items() if k not in out})


SIMPLE = {"hidefix", "pyfive"}
SPECIAL = {"hdf5-paged": {"h5py-paged"}, "simple": SIMPLE}
PAIRS = [
    (name, reader)
    for name, layout in LAYOUTS.items()
    for reader in readers(layout)
    if reader in SPECIAL.get(name, set(readers()) - SIMPLE - {"h5py-paged"})
]


@pytest.fixture(scope="session")
def pair(request):
    return request.param


@pytest.fixture(scope="session")
def reader(pair):
    return reader_named(pair[-1])


@pytest.fixture(scope="session")
def truth(pair, written):
    return known_gaps(pair[1], LAYOUTS[pair[0]].format, written(pair[0]))


# Each reader is held to the whole contract on one layout of each kind, on the others to the values.
WHOLE = ("binary", "netcdf3", "netcdf4-deflate", "hdf5-paged", "zarr2-blosc", "zarr3-zstd",
         "simple", "nczarr-zstd")  # fmt: skip
FULL = [pair for pair in PAIRS if pair[0] in WHOLE]
FORMATS = {LAYOUTS[name].format for name in WHOLE}


@pytest.mark.parametrize("pair", FULL, indirect=True, scope="session", ids="-by-".join)
class TestWritten(ReaderContract):
    """Files of our own writers."""


@pytest.mark.parametrize(
    "pair", [p for p in PAIRS if p not in FULL], indirect=True, scope="session", ids="-by-".join
)
def test_other_layouts_are_read_to_the_bit(reader, truth, pair):
    """Only one variable has the layout: the others where the format is new, some in its order."""
    layout = LAYOUTS[pair[0]]
    if layout.format in FORMATS:
        few = {"main", "grown", "i2", "u8", "f8"} if layout.byteorder == "big" else {"main"}
        truth = replace(truth, values={name: truth.values[name] for name in few & {*truth.values}})
    ReaderContract().test_every_variable_is_read_to_the_bit(reader, truth)
    with reader.open(truth.path, truth.main) as opened:
        for selection in ((slice(1, 6, 2), ..., -3), (-1, slice(4, 9)), (..., slice(0, 13, 4))):
            assert_same(opened.read(selection), truth.values[truth.main][selection])


def test_every_reader_and_every_format_is_in_the_suite():
    assert {name for _, name in FULL} == set(readers())
    formats = {format for _, name in PAIRS for format in reader_named(name).formats}
    assert {layout.format for layout in LAYOUTS.values()} == formats


FRAMES = [(slice(None), 4, 7), (slice(1, 6, 2), 10, 12), (slice(0, 2), slice(0, 1)), 3,
          (2, slice(3, 9, 2)), (slice(2, 5), slice(None), slice(11, 13))]  # fmt: skip


@pytest.mark.parametrize("name", sorted(SIMPLE & set(readers())))
def test_series_and_parts_of_whole_chunks(written, name):
    truth = written("simple")
    with reader_named(name).open(truth.path, "frames") as opened:
        for selection in FRAMES:
            assert_same(opened.read(selection), truth.values["frames"][selection])


@pytest.mark.parametrize("name", sorted(SIMPLE & set(readers())))
def test_what_it_cannot_read_is_an_error_and_not_wrong(tmp_path, name):
    with h5py.File(tmp_path / "missing.h5", "w") as file:
        file.create_dataset("x", (10,), "f4", chunks=(5,))[:5] = 1  # one chunk of two
    odd = {"lzf": {"compression": "lzf", "chunks": (5,)}, "big": {"dtype": ">f4"},
           "sum": {"fletcher32": True, "chunks": (5,)}}  # fmt: skip
    for kind, how in odd.items():
        with h5py.File(tmp_path / f"{kind}.h5", "w") as file:
            file.create_dataset("x", data=np.arange(10.0), **how)
    for kind in ("missing", *(odd if name == "hidefix" else ())):
        with pytest.raises(OSError, match=rf"{kind}\.h5: {name} cannot open 'x': ."):
            reader_named(name).open(tmp_path / f"{kind}.h5", "x")


ORDER = (
    "plain", "netcdf4", "netcdf-c", "h5py", "h5py-paged", "subchunk", "chunkindex_layout",
    "h5netcdf", "pyfive", *(["hidefix"] if find_spec("hidefix") else []),
    "xarray-netcdf4", "xarray-h5netcdf", "xarray-zarr", "zarr", "nczarr",
)  # fmt: skip


def test_places_have_their_readers_and_without_s3fs_what_obstore_reads_is_left(monkeypatch):
    assert readers() == ORDER
    assert set(readers(place="http")) - set(readers(place="s3")) == {"netcdf4", "xarray-netcdf4"}
    monkeypatch.setattr(cards, "_OPENERS", {"s3": ("no_such_s3fs",)})
    assert readers("hdf5", place="s3") == (
        "subchunk-obstore", "virtualizarr", "virtualizarr-kerchunk",
    )  # fmt: skip
    with pytest.raises(ValueError, match="place='gs': give one of file, http, s3"):
        readers(place="gs")


def test_an_unknown_reader_or_format_is_named_with_what_there_is(monkeypatch):
    with pytest.raises(ValueError, match=r"no reader 'gdal'; give one of plain, netcdf4"):
        reader_named("gdal")
    with pytest.raises(ValueError, match=r"format='grib': give one of binary"):
        readers("grib")
    absent = Card("gdal", "gdal", frozenset({"netcdf4"}), "gdal", ("no_such_module",))
    monkeypatch.setattr(cards, "CARDS", (*cards.CARDS, absent))
    assert "gdal" not in readers()
    with pytest.raises(ValueError, match=r"needs no_such_module.*pip install.*usable are plain"):
        reader_named("gdal")


def test_without_a_compiler_the_reader_in_c_is_left_out_by_name(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    cards.reader.cache_clear()
    assert readers() == tuple(name for name in ORDER if name != "netcdf-c")
    with pytest.raises(ValueError, match=r"'netcdf-c' needs a C compiler.*apt-get install gcc"):
        reader_named("netcdf-c")


IMPORTED = """
import threading
from hyperslab.io import reader, readers
for name in readers():
    reader(name)
print(threading.active_count())
"""


def test_readers_have_no_threads_when_they_are_imported():
    """Samples are forked from a process that has done so."""
    words = [sys.executable, "-W", "error", "-c", IMPORTED]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


SHAPES = st.lists(st.integers(0, 6), max_size=4).map(tuple)


@given(data=st.data(), shape=SHAPES)
def test_a_region_is_what_numpy_selects_and_its_runs_are_the_elements_in_order(data, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    selection = data.draw(selections(shape))
    chosen = region(selection, shape)
    expected = np.asarray(array[selection])
    assert (chosen.shape, chosen.size) == (expected.shape, expected.size)
    assert len(chosen.indices) == len(shape) and min(chosen.starts, default=0) >= 0
    assert np.array_equal(array[chosen.indices], expected)
    runs = list(chosen.runs(shape))
    flat = [first + i * step for first, count, step in runs for i in range(count)]
    assert flat == expected.reshape(-1).tolist()
    assert all(count > 0 and step > 0 for _, count, step in runs)


def test_runs_are_as_long_as_they_can_be():
    for selection, runs in (
        (slice(1, 3), [(20, 40, 1)]),
        ((slice(None), slice(1, 3)), [(5, 10, 1), (25, 10, 1), (45, 10, 1)]),
        ((0, 1, slice(0, 5, 2)), [(5, 3, 2)]),
        ((0, slice(0, 4, 2)), [(0, 5, 1), (10, 5, 1)]),
    ):
        assert list(region(selection, (3, 4, 5)).runs((3, 4, 5))) == runs


@pytest.mark.parametrize(
    ("selection", "error", "message"),
    [
        ((0, -3), IndexError, "tos: index -3 is out of range for axis 1 of size 2"),
        ((0, 2), IndexError, "tos: index 2 is out of range for axis 1 of size 2; give -2 to 1"),
        ((0, 0, 0), IndexError, "tos: selection .* does not fit shape"),
        ((None, 0), TypeError, "tos: index None on axis 0"),
        (slice(None, None, -2), ValueError, "tos: step -2 on axis 0"),
    ],
)
def test_messages_name_the_array(selection, error, message):
    with pytest.raises(error, match=message):
        region(selection, (5, 2), "tos")
