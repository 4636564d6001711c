"""The Zarr writer, seen by zarr-python and xarray; what passes between Zarr and NCZarr."""

import json

import numpy as np
import pytest
from contracts.readers import assert_same

from hyperslab.io import Layout, Variable, create, reader, write_array

GRID = np.arange(60 * 70, dtype="i4").reshape(60, 70)


def ones(path, name, format, dims=("x",), dtype="f4"):
    with create(path, [Variable(name, dims, (5,) * len(dims), dtype)], Layout(format)) as writer:
        writer.write(name, ..., np.ones((5,) * len(dims), dtype))
    return path


def read(path, name, by):
    with reader(by).open(path, name) as opened:
        return opened.read()


def test_what_one_of_zarr_and_nczarr_cannot_read_of_the_other_is_explained(tmp_path):
    bytes_ = ones(tmp_path / "bytes", "a", "nczarr", dtype="i1")
    assert_same(read(bytes_, "a", "nczarr"), np.ones(5, "i1"))
    shuffled = tmp_path / "shuffled"
    write_array(shuffled, GRID, Layout("nczarr", (20, 35), "deflate", shuffle=True))
    with pytest.raises(OSError, match="shuffle has its size as text: read it with nczarr"):
        reader("zarr").open(shuffled, "data")
    scalar = ones(tmp_path / "scalar", "a", "nczarr", (), "f8")
    for by, value in (("nczarr", 1.0), ("zarr", [1.0]), ("xarray-zarr", [1.0])):
        assert_same(read(scalar, "a", by), np.array(value))
    with pytest.raises(OSError, match="nczarr cannot open 'a': a not found"):
        reader("nczarr").open(ones(tmp_path / "zarr2", "a", "zarr2", ()), "a")
    grouped = ones(tmp_path / "grouped", "g/a", "nczarr")
    assert_same(read(grouped, "g/a", "zarr"), np.ones(5, "f4"))
    with pytest.raises(OSError, match=r"xarray-zarr cannot open 'g/a'.*_ARRAY_DIMENSIONS"):
        reader("xarray-zarr").open(grouped, "g/a")
    (tmp_path / "run#1").mkdir()
    odd = ones(tmp_path / "run#1" / "a.zarr", "a", "zarr2")
    with pytest.raises(OSError, match="takes no #"):
        reader("nczarr").open(odd, "a")
    assert_same(read(odd, "a", "zarr"), np.ones(5, "f4"))


def test_big_endian_zarr_is_refused_by_nczarr(tmp_path):
    """netCDF-C gives missing chunks the fill value with its bytes swapped."""
    write_array(tmp_path / "a", GRID, Layout("zarr2", chunks=(20, 35), byteorder="big"))
    with pytest.raises(OSError, match="it is big-endian"):
        reader("nczarr").open(tmp_path / "a", "data")


def test_stores_hold_what_others_expect(tmp_path):
    two, three = tmp_path / "2", tmp_path / "3"
    write_array(two, GRID, Layout("zarr2", (20, 35), "deflate"))
    assert json.loads((two / "data" / ".zarray").read_text())["compressor"]["id"] == "zlib"
    assert "data/.zarray" in json.loads((two / ".zmetadata").read_text())["metadata"]
    write_array(three, GRID, Layout("zarr3"))
    assert "consolidated_metadata" not in json.loads((three / "zarr.json").read_text())
