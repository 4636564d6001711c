"""What does not fit, or what Blosc in netCDF-C cannot write, is refused before it is tried."""

import subprocess
import sys

import numpy as np
import pytest

from hyperslab.io import Layout, Variable, create
from hyperslab.io.file_plan import check_blosc

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


@pytest.mark.parametrize("said", REFUSED)
def test_what_does_not_fit_is_refused(tmp_path, said):
    variables, layout, *options = REFUSED[said]
    with pytest.raises(ValueError, match=said):
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
    said = done.stdout.split("\n")[:-1]
    assert done.returncode == 0 and set(said) == {"True True", "False False"}
    assert min(said.count(one) for one in set(said)) > 20


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
