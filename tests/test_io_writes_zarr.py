"""The Zarr writer, seen by zarr-python, xarray and in the files' JSON."""

import json
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
import zarr

from hyperslab.io import Layout, Variable, create, write_array

VALUES = np.arange(60 * 70, dtype="i4").reshape(60, 70)


def metadata(path, layout):
    write_array(path, VALUES, layout, dims=("y", "x"))
    name = ".zarray" if layout.format == "zarr2" else "zarr.json"
    return json.loads((path / "data" / name).read_text())


@pytest.mark.parametrize(
    ("codec", "shuffle", "compressor", "filters"),
    [
        (None, False, None, None),
        ("deflate", True, {"id": "zlib", "level": 4}, [{"id": "shuffle", "elementsize": 4}]),
        ("zstd", False, {"id": "zstd", "level": 3}, None),
        ("bzip2", False, {"id": "bz2", "level": 9}, None),
        ("blosc-lz4", True, {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}, None),
        ("blosc-zstd", False, {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 0}, None),
    ],
)
def test_codecs_of_zarr_2(tmp_path, codec, shuffle, compressor, filters):
    found = metadata(tmp_path / "a", Layout("zarr2", (20, 35), codec, shuffle=shuffle))
    assert found["chunks"] == [20, 35]
    assert (found["compressor"] is None) == (compressor is None)
    for key, value in (compressor or {}).items():
        assert found["compressor"][key] == value
    assert found["filters"] == filters


@pytest.mark.parametrize(
    ("codec", "shuffle", "name", "configuration"),
    [
        ("deflate", False, "gzip", {"level": 4}),
        ("zstd", False, "zstd", {"level": 3}),
        ("blosc-lz4", True, "blosc", {"cname": "lz4", "clevel": 5, "shuffle": "shuffle"}),
        ("blosc-zstd", False, "blosc", {"cname": "zstd", "clevel": 5, "shuffle": "noshuffle"}),
    ],
)
def test_codecs_of_zarr_3(tmp_path, codec, shuffle, name, configuration):
    found = metadata(tmp_path / "a", Layout("zarr3", (20, 35), codec, shuffle=shuffle))
    _, used = found["codecs"]
    assert used["name"] == name
    for key, value in configuration.items():
        assert used["configuration"][key] == value
    assert found["dimension_names"] == ["y", "x"]


def test_without_a_codec_the_bytes_are_bare(tmp_path):
    assert [c["name"] for c in metadata(tmp_path / "a", Layout("zarr3"))["codecs"]] == ["bytes"]
    assert (tmp_path / "a" / "data" / "c" / "0" / "0").stat().st_size == VALUES.nbytes


def test_shards_hold_chunks(tmp_path):
    layout = Layout("zarr3", chunks=(10, 35), shards=(30, 70), codec="zstd", byteorder="big")
    write_array(tmp_path / "a", VALUES, layout)
    array = zarr.open_array(str(tmp_path / "a" / "data"), mode="r")
    assert (array.chunks, array.shards) == ((10, 35), (30, 70))
    files = sorted(str(f.relative_to(tmp_path / "a" / "data" / "c"))
                   for f in (tmp_path / "a" / "data" / "c").rglob("*") if f.is_file())  # fmt: skip
    assert files == ["0/0", "1/0"]
    assert np.array_equal(array[...], VALUES)


def test_byte_order(tmp_path):
    assert metadata(tmp_path / "a", Layout("zarr2", byteorder="big"))["dtype"] == ">i4"
    codecs = metadata(tmp_path / "b", Layout("zarr3", byteorder="big"))["codecs"]
    assert codecs[0]["configuration"] == {"endian": "big"}
    first = np.frombuffer((tmp_path / "b" / "data" / "c" / "0" / "0").read_bytes(), ">i4")
    assert np.array_equal(first, VALUES.reshape(-1))


def test_zarr_2_is_consolidated_and_zarr_3_is_not(tmp_path):
    write_array(tmp_path / "a", VALUES, Layout("zarr2"))
    write_array(tmp_path / "b", VALUES, Layout("zarr3"))
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
