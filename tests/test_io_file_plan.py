"""Variables and layouts: what they accept, record and refuse before anything is tried."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from hyperslab.io import CODECS, DTYPES, FORMATS, LEVELS, Layout, Variable, create
from hyperslab.io.file_plan import check_blosc


def test_types_by_any_name_and_fill_values_of_integers_are_whole():
    for dtype in DTYPES:
        names = (dtype, np.dtype(dtype).name, np.dtype(dtype), ">" + dtype)
        assert {Variable("a", ("x",), (3,), name).dtype for name in names} == {dtype}
    assert Variable("a", (), (), "u8", fill_value=2**64 - 1).fill_value == 2**64 - 1
    whole = Variable("a", (), (), "i2", fill_value=-5.0).fill_value
    assert (whole, type(whole)) == (-5, int)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "give a name"),
        ({"name": "../b"}, "give a name"),
        ({"dims": ("x", "y")}, "one name for each axis"),
        ({"dims": ("x", "x"), "shape": (3, 3)}, "each once"),
        ({"dims": "x"}, "dims='x'; give a tuple"),
        ({"unlimited": "x"}, "unlimited='x'; give a tuple"),
        ({"unlimited": ("y",)}, "must be among"),
        ({"shape": (-3,)}, "negative length"),
        ({"dtype": "f2"}, "give one of i1, i2"),
        ({"attrs": {"_FillValue": 1}}, "give fill_value instead"),
        ({"dtype": "u1", "fill_value": 256}, "give an integer from 0 to 255"),
        ({"dtype": "i2", "fill_value": 1.5}, "is not a value of int16"),
        ({"dtype": "i2", "fill_value": float("nan")}, "is not a value of int16"),
    ],
)
def test_what_is_no_variable_is_refused(fields, message):
    complete = {"name": "a", "dims": ("x",), "shape": (3,), "dtype": "f4"} | fields
    with pytest.raises(ValueError, match=message):
        Variable(**complete)


def test_a_layout_is_a_value_with_a_suffix_and_columns():
    suffixes = {"binary": ".bin", "hdf5": ".h5", "zarr2": ".zarr", "zarr3": ".zarr",
                "nczarr": ".zarr"}  # fmt: skip
    for format in FORMATS:
        layout = Layout(format)
        assert layout.suffix == suffixes.get(format, ".nc")
    assert hash(Layout("hdf5", chunks=[4, 8])) == hash(Layout("hdf5", chunks=(4, 8)))
    layout = Layout("netcdf4", chunks=(790, 790), codec="zstd", level=7)
    assert layout.record() == {
        "format": "netcdf4", "codec": "zstd", "level": 7, "shuffle": False, "chunks": "790x790",
    }  # fmt: skip
    plain = Layout("netcdf3", byteorder="big").record()  # as it is by nature
    assert (plain["codec"], plain["chunks"]) == ("", "") and math.isnan(plain["level"])


def test_levels_have_ends_and_a_missing_one_is_the_codecs_own():
    for codec in CODECS:
        low, high, default = LEVELS.get(codec, (None, None, None))
        layout = Layout("zarr2" if default else "hdf5", (10,), codec)
        assert layout.effective_level == default
        if default:
            assert replace(layout, level=low).effective_level == low
            assert replace(layout, level=high).effective_level == high
            for level in (low - 1, high + 1):
                with pytest.raises(ValueError, match=f"{level}: {codec} takes {low} to {high}"):
                    replace(layout, level=level)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format": "netcdf5"}, "format='netcdf5': give one of binary, netcdf3"),
        ({"byteorder": "middle"}, "byteorder='middle': give one of native, little, big"),
        ({"codec": "gzip", "chunks": (1,)}, "codec='gzip': give one of deflate"),
        ({"chunks": (0, 1)}, r"chunks=\(0, 1\): give a tuple of integers of at least 1"),
        ({"chunks": "790x790"}, "chunks='790x790': give a tuple of integers"),
        ({"chunks": (True,)}, r"chunks=\(True,\): give a tuple of integers"),
        ({"codec": "deflate"}, "contiguous data cannot be compressed; give chunks"),
        ({"codec": "lzf", "chunks": (1,)}, "codec='lzf' with format='netcdf4': it takes deflate"),
        ({"level": 4}, "level=4 with codec=None: it has no effect"),
        ({"shuffle": True}, "shuffle=True with codec=None: it has no effect"),
        ({"format": "hdf5", "chunks": (1,), "codec": "lzf", "level": 1}, "lzf has no levels"),
        ({"codec": "zstd", "chunks": (1,), "shuffle": True}, "leave the bytes unshuffled"),
        ({"fletcher32": True}, "checksums need chunks"),
        ({"fletcher32": True, "format": "zarr2"}, "only netcdf4, netcdf4-classic, hdf5 have"),
        ({"prefill": False, "format": "binary"}, "have prefill; leave prefill out"),
        ({"byteorder": "little", "format": "netcdf3"}, "always big-endian; leave byteorder out"),
        ({"byteorder": "big", "format": "nczarr"}, "swaps the bytes of its fill values"),
        ({"shards": (4,), "format": "zarr3"}, "a shard holds whole chunks"),
        ({"shards": (4, 4), "chunks": (2,), "format": "zarr3"}, "as many axes as the shards"),
        ({"shards": (5,), "chunks": (2,), "format": "zarr3"}, "a multiple of the chunk's"),
        ({"page_bytes": 4096}, "only hdf5 have page_bytes"),
        ({"page_bytes": 100, "format": "hdf5"}, "integers of at least 512"),
        ({"quantize": ("bitshave", 7)}, r"quantize=\('bitshave', 7\): give \('bitgroom'"),
        ({"quantize": ("bitround", 1.5)}, "a number of digits"),
        ({"quantize": ("bitgroom", 16)}, "bitgroom takes 1 to 15"),
        ({"format": "cdf5", "codec": "deflate"}, "format='cdf5': it takes no codec"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Layout(**fields)


GRID = Variable("grid", ("y", "x"), (12, 20), "f4")
GROWING = Variable("growing", ("t", "x"), (3, 20), "f4", unlimited=("t",))
LATE = Variable("late", ("x", "t"), (20, 3), "f4", unlimited=("t",))
TIME = Variable("t", ("t",), (3,), "f8")
WHOLE = Variable("v", ("x",), (2**31,), "i2")
TWICE = Variable("v", ("t", "s"), (2, 2), "f4", unlimited=("t", "s"))
ONE = Layout("netcdf4-classic", chunks=(1, 1))
# What is said, of which variables, layouts and other choices.
REFUSED = {
    "no variables": ([], Layout()),
    "'grid' is given twice": ([GRID, GRID], Layout()),
    r"grid: shape \(12, 20\) with chunks \(5,\)": ([GRID], Layout(chunks=(5,))),
    r"grid: shape \(12, 20\) with chunks \(5, 21\).*'x'": ([GRID], Layout(chunks=(5, 21))),
    "layouts for gird with variables grid": ([GRID], {"gird": Layout()}),
    "t: format 'zarr3'.* beside 'zarr2'": (
        [GRID, TIME], {"grid": Layout("zarr2"), "t": Layout("zarr3")},
    ),
    "dimension 'x' is 20 in 'grid' and 21 in 'v'": (
        [GRID, Variable("v", ("x",), (21,), "f4")], Layout(),
    ),
    "only chunks can grow; give": ([GROWING], Layout()),
    "unlimited t: binary files cannot grow": ([GROWING], Layout("binary")),
    "'t' must be the first": ([LATE], Layout("netcdf3")),
    "unlimited s, t: 'netcdf4-classic' has one unlimited dimension": ([TWICE], ONE),
    "t: t is unlimited in another variable": ([GROWING, TIME], Layout("netcdf3")),
    "v: dtype 'u2' .* it stores i1, i2": ([Variable("v", (), (), "u2")], Layout("netcdf3")),
    "'cdf5' has no groups": ([Variable("g/v", (), (), "i4")], Layout("cdf5")),
    "only netcdf4.* have a chunk cache": ([GRID], Layout("zarr2"), {"chunk_cache_bytes": 1}),
    "grid: quantize.*takes 1 to 23": ([GRID], Layout(quantize=("bitround", 24))),
    "v: quantize.*takes floats only": (
        [Variable("v", ("x",), (4,), "i4")], Layout(quantize=("bitround", 7)),
    ),
    "has 4294967296 bytes": ([WHOLE], Layout(chunks=(2**31,))),
    "takes chunks below 2147483648 bytes": (
        [WHOLE], Layout("zarr2", chunks=(2**31,), codec="blosc-lz4"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_does_not_fit_is_refused(tmp_path, message):
    variables, layout, *options = REFUSED[message]
    with pytest.raises(ValueError, match=message):
        create(tmp_path / "a", variables, layout, **(options[0] if options else {}))
    assert list(tmp_path.iterdir()) == []


def test_a_chunk_may_be_longer_than_an_unlimited_dimension_and_scalars_have_none(tmp_path):
    for format in ("netcdf4", "hdf5", "zarr2", "zarr3", "nczarr"):
        create(tmp_path / format, [GROWING], Layout(format, chunks=(16, 20))).close()
    both = [GRID, Variable("crs", (), (), "i4")]
    create(tmp_path / "a", both, Layout("hdf5", chunks=(5, 5), codec="lzf")).close()


PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from hyperslab.io import Layout, write_array
from hyperslab.io.file_plan import check_blosc
rng = np.random.default_rng(0)
path = Path(sys.argv[1]) / "a.nc"
for size in (16, 1000, 30_000):
    for bits in (0, 1, 3, 4, 8, 9, 12, 31):
        values = rng.integers(0, 2**32, size, dtype="u4") >> bits
        for codec in ("blosc-lz4", "blosc-zstd"):
            for shuffle in (False, True):
                layout = Layout("netcdf4", (size,), codec, shuffle=shuffle)
                refused = explained = False
                try:
                    check_blosc(values, layout)
                except OSError:
                    refused = True
                try:
                    write_array(path, values, layout, overwrite=True)
                except RuntimeError as error:
                    explained = "take shuffle=True" in error.__notes__[0] and not path.exists()
                print(refused, explained)
"""


def test_it_refuses_what_netcdf_c_fails_on_and_nothing_else(tmp_path):
    """In a process of its own: netCDF-C complains until it ends."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], capture_output=True, text=True)
    lines = done.stdout.split("\n")[:-1]
    assert done.returncode == 0 and set(lines) == {"True True", "False False"}
    assert min(lines.count(line) for line in set(lines)) > 20


NOISE = np.random.default_rng(0).integers(0, 2**32, (40, 50), "u4")


def test_one_chunk_is_enough_and_the_edge_is_as_it_is_stored():
    for other in (Layout("hdf5", (10, 50), "deflate"), Layout("zarr3", (10, 50), "blosc-lz4"),
                  Layout("netcdf4", (10, 50), "blosc-lz4", quantize=("bitround", 4))):  # fmt: skip
        check_blosc(NOISE, other)
    values = np.zeros((40, 50), "u4")
    layout = Layout("netcdf4", (30, 30), "blosc-zstd")
    check_blosc(values, layout)
    values[30:] = NOISE[30:]
    check_blosc(values, layout)  # two thirds of these chunks are not there, and empty
    values[:30, :30] = NOISE[:30, :30]
    with pytest.raises(OSError, match="another codec"):
        check_blosc(values, layout)
