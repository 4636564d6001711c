"""The Zarr writer, seen by zarr-python and xarray; what passes between Zarr and NCZarr."""

import json
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
import xarray as xr
import zarr
from contracts.readers import assert_same

from hyperslab.io import Layout, Variable, create, reader, write_array

VALUES = np.arange(60, dtype="f4").reshape(6, 10)


def store(path, variables, layout):
    with create(path, variables, layout) as writer:
        for variable in variables:
            writer.write(variable.name, ..., np.ones(variable.shape, variable.dtype))
    return path


@pytest.mark.parametrize("dtype", ["i1", "u1"])
def test_bytes_of_nczarr_are_read_or_explained(tmp_path, dtype):
    """NCZarr gives bytes a byte order ("<i1"), which zarr-python 3.1 takes for no type."""
    path = store(tmp_path / "a.zarr", [Variable("a", ("x",), (5,), dtype)], Layout("nczarr"))
    with reader("nczarr").open(path, "a") as opened:
        assert_same(opened.read(), np.ones(5, dtype))
    if zarr.__version__.startswith("3.1."):
        with pytest.raises(OSError, match=f"zarr cannot open 'a': No Zarr data type.*<{dtype}"):
            reader("zarr").open(path, "a")
    else:
        with reader("zarr").open(path, "a") as opened:
            assert_same(opened.read(), np.ones(5, dtype))


def test_shuffled_deflate_of_nczarr_is_for_netcdf_only(tmp_path):
    path = tmp_path / "a.zarr"
    write_array(path, VALUES, Layout("nczarr", (3, 5), "deflate", shuffle=True))
    with reader("nczarr").open(path, "data") as opened:
        assert_same(opened.read(), VALUES)
    with pytest.raises(OSError, match="shuffle has its size as text: read it with nczarr"):
        reader("zarr").open(path, "data")
    with reader("xarray-zarr").open(path, "data") as opened, pytest.raises(TypeError):
        opened.read()


def test_a_scalar_of_nczarr_is_one_value_to_zarr(tmp_path):
    path = store(tmp_path / "a.zarr", [Variable("a", (), (), "f8")], Layout("nczarr"))
    with reader("nczarr").open(path, "a") as opened:
        assert_same(opened.read(), np.array(1.0))
    for name in ("zarr", "xarray-zarr"):
        with reader(name).open(path, "a") as opened:
            assert_same(opened.read(), np.array([1.0]))


def test_a_scalar_of_zarr_2_is_not_there_for_nczarr(tmp_path):
    path = store(tmp_path / "a.zarr", [Variable("a", (), (), "f8")], Layout("zarr2"))
    with pytest.raises(KeyError, match="no variable 'a'; there are none"):
        reader("nczarr").open(path, "a")


def test_groups_of_nczarr_are_closed_to_xarray(tmp_path):
    path = store(tmp_path / "a.zarr", [Variable("g/a", ("x",), (5,), "f4")], Layout("nczarr"))
    with reader("zarr").open(path, "g/a") as opened:
        assert_same(opened.read(), np.ones(5, "f4"))
    with pytest.raises(OSError, match=r"xarray-zarr cannot open 'g/a'.*_ARRAY_DIMENSIONS"):
        reader("xarray-zarr").open(path, "g/a")


def test_big_endian_zarr_is_refused_by_nczarr(tmp_path):
    """netCDF-C gives missing chunks the fill value with its bytes swapped; when it no longer
    does, the reader's refusal can go."""
    path = tmp_path / "a.zarr"
    with create(path, [Variable("a", ("x",), (8,), "f4", fill_value=-5)],
                Layout("zarr2", chunks=(4,), byteorder="big")) as writer:  # fmt: skip
        writer.write("a", slice(0, 4), np.ones(4, "f4"))
    with netCDF4.Dataset(f"file://{path}#mode=nczarr,file") as file:
        file.set_auto_mask(False)
        assert file["a"][5] == np.float32(-5).byteswap()
    with pytest.raises(OSError, match="it is big-endian"):
        reader("nczarr").open(path, "a")


def test_a_folder_netcdf_cannot_address_is_refused(tmp_path):
    (tmp_path / "run#1").mkdir()
    write_array(tmp_path / "run#1" / "a.zarr", VALUES, Layout("zarr2"))
    with pytest.raises(OSError, match="takes no #"):
        reader("nczarr").open(tmp_path / "run#1" / "a.zarr", "data")
    for name in ("zarr", "xarray-zarr"):
        with reader(name).open(tmp_path / "run#1" / "a.zarr", "data") as opened:
            assert_same(opened.read(), VALUES)


@pytest.mark.parametrize("name", ["zarr", "xarray-zarr"])
@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_names_are_found_in_every_group(tmp_path, name, format):
    variables = [Variable(n, ("x",), (5,), "f4") for n in ("b", "g/h/a", "g/c")]
    path = store(tmp_path / "a.zarr", variables, Layout(format))
    with pytest.raises(KeyError, match="no variable 'g/h/x'; there are b, g/c, g/h/a"):
        reader(name).open(path, "g/h/x")
    with reader(name).open(path, "g/h/a") as opened:
        assert_same(opened.read(), np.ones(5, "f4"))


GRID = np.arange(60 * 70, dtype="i4").reshape(60, 70)


def metadata(path, layout):
    write_array(path, GRID, layout, dims=("y", "x"))
    name = ".zarray" if layout.format == "zarr2" else "zarr.json"
    return json.loads((path / "data" / name).read_text())


@pytest.mark.parametrize(
    ("codec", "shuffle", "made"),
    [
        (None, False, None),
        ("deflate", True, {"id": "zlib", "level": 4}),
        ("zstd", False, {"id": "zstd", "level": 3}),
        ("bzip2", False, {"id": "bz2", "level": 9}),
        ("blosc-lz4", True, {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}),
        ("blosc-zstd", False, {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 0}),
    ],
)
def test_codecs_of_zarr_2(tmp_path, codec, shuffle, made):
    found = metadata(tmp_path / "a", Layout("zarr2", (20, 35), codec, shuffle=shuffle))
    assert found["chunks"] == [20, 35]
    assert (made or {}).items() <= (found["compressor"] or {}).items()
    assert (found["compressor"] is None) == (made is None)
    assert found["filters"] == ([{"id": "shuffle", "elementsize": 4}] if made and "level" in made
                                and shuffle else None)  # fmt: skip


@pytest.mark.parametrize(
    ("codec", "shuffle", "name", "made"),
    [
        ("deflate", False, "gzip", {"level": 4}),
        ("zstd", False, "zstd", {"level": 3}),
        ("blosc-lz4", True, "blosc", {"cname": "lz4", "clevel": 5, "shuffle": "shuffle"}),
        ("blosc-zstd", False, "blosc", {"cname": "zstd", "clevel": 5, "shuffle": "noshuffle"}),
    ],
)
def test_codecs_of_zarr_3(tmp_path, codec, shuffle, name, made):
    found = metadata(tmp_path / "a", Layout("zarr3", (20, 35), codec, shuffle=shuffle))
    _, used = found["codecs"]
    assert used["name"] == name and made.items() <= used["configuration"].items()
    assert found["dimension_names"] == ["y", "x"]


def test_without_a_codec_the_bytes_are_bare(tmp_path):
    assert [c["name"] for c in metadata(tmp_path / "a", Layout("zarr3"))["codecs"]] == ["bytes"]
    assert (tmp_path / "a" / "data" / "c" / "0" / "0").stat().st_size == GRID.nbytes


def test_shards_hold_chunks(tmp_path):
    layout = Layout("zarr3", chunks=(10, 35), shards=(30, 70), codec="zstd", byteorder="big")
    write_array(tmp_path / "a", GRID, layout)
    array = zarr.open_array(str(tmp_path / "a" / "data"), mode="r")
    assert (array.chunks, array.shards) == ((10, 35), (30, 70))
    files = sorted(str(f.relative_to(tmp_path / "a" / "data" / "c"))
                   for f in (tmp_path / "a" / "data" / "c").rglob("*") if f.is_file())  # fmt: skip
    assert files == ["0/0", "1/0"]
    assert np.array_equal(array[...], GRID)


def test_byte_order(tmp_path):
    assert metadata(tmp_path / "a", Layout("zarr2", byteorder="big"))["dtype"] == ">i4"
    codecs = metadata(tmp_path / "b", Layout("zarr3", byteorder="big"))["codecs"]
    assert codecs[0]["configuration"] == {"endian": "big"}
    first = np.frombuffer((tmp_path / "b" / "data" / "c" / "0" / "0").read_bytes(), ">i4")
    assert np.array_equal(first, GRID.reshape(-1))


def test_zarr_2_is_consolidated_and_zarr_3_is_not(tmp_path):
    write_array(tmp_path / "a", GRID, Layout("zarr2"))
    write_array(tmp_path / "b", GRID, Layout("zarr3"))
    known = json.loads((tmp_path / "a" / ".zmetadata").read_text())["metadata"]
    assert "data/.zarray" in known
    assert "consolidated_metadata" not in json.loads((tmp_path / "b" / "zarr.json").read_text())


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
@pytest.mark.parametrize(("dtype", "fill"), [("f4", -5.0), ("f8", float("nan")), ("i2", -5)])
def test_xarray_masks_the_fill_value(tmp_path, format, dtype, fill):
    variable = Variable("a", ("x",), (4,), dtype, {"flag_values": np.array([1, 2])}, fill)
    with create(tmp_path / "a", [variable], Layout(format, chunks=(2,))) as writer:
        writer.write("a", 0, np.array(3, dtype))
    with xr.open_zarr(tmp_path / "a", consolidated=format == "zarr2", chunks=None) as dataset:
        assert dataset.a.dims == ("x",)
        assert np.array_equal(dataset.a.values, [3, np.nan, np.nan, np.nan], equal_nan=True)
        assert dataset.a.attrs == {"flag_values": [1, 2]}


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
@pytest.mark.parametrize("values", [np.array(-3, "i4"), np.array([-3], "i4"), np.int32(-3)])
def test_a_scalar_is_written_with_or_without_an_axis(tmp_path, format, values):
    with create(tmp_path / "a", [Variable("a", (), (), "i4")], Layout(format)) as writer:
        writer.write("a", ..., values)
    array = zarr.open_group(tmp_path / "a", mode="r")["a"]
    assert array.shape == ()
    assert array[()] == -3


LIMITED = """
import os, resource, sys
import numpy as np
from hyperslab.io import Layout, Variable, create
resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, resource.RLIM_INFINITY))
noise = np.random.default_rng(0).integers(0, 2**31, (300, 300), "i4")
for _ in range(5):
    try:
        with create(sys.argv[1], [Variable("a", ("y", "x"), noise.shape, "i4")],
                    Layout("zarr3", (90, 90), "zstd")) as writer:
            writer.write("a", ..., noise)
    except OSError:
        print(os.path.exists(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits are Linux's")
def test_chunks_on_their_way_when_another_fails_leave_nothing(tmp_path):
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "a.zarr")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n" * 5, "")
