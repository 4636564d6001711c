"""Opening a user's file: every kind is read as it is stored, what cannot be is said in a line."""

import gzip
import os
from pathlib import Path

import h5py
import made_files
import netCDF4
import numpy as np
import pytest
import zarr

from hyperslab.io import Layout
from hyperslab.tune.source import SourceError, open_source


def everything(path):
    """Format, and all values that can be copied, by name."""
    with open_source(path) as source:
        return source.format, {
            name: source.read(name, tuple(slice(0, n) for n in variable.shape))
            for name, variable in source.variables.items()
            if variable.copyable
        }


def stored(path):
    """All numbers of a netCDF file as netCDF4-python gives them unmasked, by name."""
    found = {}

    def walk(group, before):
        for name, variable in group.variables.items():
            if isinstance(variable.datatype, np.dtype) and variable.dtype is not str:
                variable.set_auto_maskandscale(False)
                found[before + name] = variable[...]
        for name, inner in group.groups.items():
            walk(inner, f"{before}{name}/")

    with netCDF4.Dataset(path) as nc:
        walk(nc, "")
    return found


def same(found, truth):
    assert list(found) == list(truth)
    for name, values in truth.items():
        assert found[name].dtype == values.dtype.newbyteorder("=")
        assert found[name].flags.c_contiguous
        assert np.array_equal(found[name], values), name


@pytest.mark.parametrize(
    ("make", "words", "format"),
    [
        (made_files.radar_tile, {}, "netcdf4"),
        (made_files.classic, {}, "netcdf3"),
        (made_files.classic, {"format": "NETCDF3_64BIT_OFFSET"}, "netcdf3-64bit"),
        (made_files.classic, {"format": "NETCDF3_64BIT_DATA"}, "cdf5"),
        (made_files.classic, {"format": "NETCDF4_CLASSIC"}, "netcdf4-classic"),
        (made_files.nested, {}, "netcdf4"),
        (made_files.packed, {}, "netcdf4"),
    ],
)
def test_netcdf_of_every_kind_is_read_as_stored(tmp_path, make, words, format):
    path = make(tmp_path / "a.nc", **words)
    found, values = everything(path)
    assert found == format
    same(values, stored(path))


def test_a_classic_file_is_described(tmp_path):
    with open_source(made_files.classic(tmp_path / "a.nc")) as source:
        assert source.stat_bytes == (tmp_path / "a.nc").stat().st_size
        sst = source.variables["sst"]
    assert (sst.dims, sst.shape, sst.dtype) == (("time", "lat", "lon"), (7, 5, 9), "f4")
    assert (sst.unlimited, sst.byteorder, sst.chunks) == (("time",), "big", None)
    assert sst.layout == Layout("netcdf3")
    assert sst.stored_bytes == sst.nbytes == 7 * 5 * 9 * 4


def test_groups_and_what_cannot_be_copied_are_described(tmp_path):
    with open_source(made_files.nested(tmp_path / "a.nc")) as source:
        known = source.variables
        assert source.attrs == {"history": "made"}
        names = [variable.name for variable in source.choose(None)]
        with pytest.raises(SourceError, match="names cannot be copied: it holds text"):
            source.choose(["depth", "names"])
    assert names == ["depth", "ocean/heat", "ocean/deep/salt"]
    reasons = {name: v.reason for name, v in known.items() if not v.copyable}
    assert reasons == {
        "records": "holds records (compound values of speed, count)",
        "names": "holds text of any length",
        "lists": "holds lists of any length",
        "kind": "holds named values (an enumeration)",
    }
    salt = known["ocean/deep/salt"]
    assert salt.dims == ("t", "ocean_deep_x")  # x is another dimension at the top
    assert (salt.chunks, salt.codec, salt.unlimited) == ((2, 12), "deflate 3, shuffle", ("t",))
    assert salt.layout == Layout("netcdf4", (2, 12), "deflate", 3, True, byteorder="little")
    assert known["ocean/heat"].byteorder == "big"
    assert salt.attrs["valid_range"].tolist() == [0, 40]


def test_packed_values_stay_packed(tmp_path):
    with open_source(made_files.packed(tmp_path / "a.nc")) as source:
        sst = source.variables["sst"]
        values = source.read("sst", (slice(0, 8), slice(0, 20), slice(0, 30)))
    assert sst.fill_value == -32768
    assert sst.attrs == {"scale_factor": 0.01, "add_offset": 273.15}
    assert values.dtype == "i2"
    assert (values[6:] == -32768).all()  # never written
    assert (values[:6, :, ::4] == -32768).all()


def test_a_store_with_shards(tmp_path):
    path = made_files.sharded(tmp_path / "a.zarr")
    format, values = everything(path)
    assert format == "zarr3"
    root = zarr.open(path, mode="r")
    same(values, {"sst": root["sst"][:], "sub/n": root["sub/n"][:]})
    with open_source(path) as source:
        sst, inner = source.variables["sst"], source.variables["sub/n"]
        assert source.attrs == {"title": "sharded"}
        assert source.stat_bytes == sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    assert (sst.chunks, sst.shards, sst.attrs) == ((5, 10), (20, 20), {"units": "K"})
    assert sst.layout.shards == (20, 20)
    assert inner.dims == ("dim_7", "dim_7_2")


def test_zarr_2_and_a_lone_array(tmp_path):
    array = zarr.create_array(
        tmp_path / "lone.zarr", shape=(9,), chunks=(4,), dtype=">i2", zarr_format=2,
        attributes={"_ARRAY_DIMENSIONS": ["x"]},
    )  # fmt: skip
    array[:] = np.arange(9)
    format, values = everything(tmp_path / "lone.zarr")
    assert format == "zarr2"
    same(values, {"lone": np.arange(9, dtype="i2")})
    with open_source(tmp_path / "lone.zarr") as source:
        assert (source.variables["lone"].dims, source.variables["lone"].byteorder) == (
            ("x",), "big",
        )  # fmt: skip


def test_a_store_of_netcdf_c(tmp_path):
    url = f"file://{tmp_path}/a.zarr#mode=nczarr,file"
    with netCDF4.Dataset(url, "w") as nc:
        nc.createDimension("x", 6)
        nc.createVariable("a", "i4", ("x",))[:] = np.arange(6)
    format, values = everything(tmp_path / "a.zarr")
    assert format == "nczarr"
    same(values, {"a": np.arange(6, dtype="i4")})


def test_hdf5_that_is_no_netcdf(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("g/a", data=np.arange(12.0).reshape(3, 4), compression="lzf")
        file["g/text"] = "words"
        file["alias"] = file["g/a"]
        file["soft"] = h5py.SoftLink("/nowhere")
    format, values = everything(path)
    assert format == "hdf5"
    assert len(values) == 1  # under its first name
    assert np.array_equal(next(iter(values.values())), np.arange(12.0).reshape(3, 4))
    with open_source(path) as source:
        assert source.variables["g/text"].reason == "holds text"


def test_no_name_is_no_file():
    with pytest.raises(SourceError, match=r"^no file is named: give a netCDF"):
        open_source("file://")


def test_a_file_may_be_given_as_a_url(tmp_path):
    path = made_files.packed(tmp_path / "a.nc")
    assert everything(f"file://{path}")[0] == "netcdf4"


def test_characters_are_left_out_and_the_page_of_the_bench_says_so(tmp_path):
    with netCDF4.Dataset(tmp_path / "a.nc", "w", format="NETCDF3_CLASSIC") as nc:
        nc.createDimension("x", 3)
        nc.createVariable("letters", "S1", ("x",))[:] = np.array(list("abc"), "S1")
        nc.createVariable("n", "i4", ("x",))[:] = 1
    with open_source(tmp_path / "a.nc") as source:
        assert source.variables["letters"].reason == "holds text"
        assert [variable.name for variable in source.choose(None)] == ["n"]
    page = Path(__file__).parents[1] / "book" / "bench.md"
    assert "So are arrays of characters" in page.read_text()


def damaged(path, kind):
    """Make something at a path that cannot be read."""
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "store":
        path.mkdir()
        (path / "zarr.json").write_text("{")
    elif isinstance(kind, bytes):
        path.write_bytes(kind)
    else:
        make, size = kind
        path.write_bytes(make(path.with_name("whole")).read_bytes()[:size])


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (None, r"does not exist: give a netCDF, HDF5 or Zarr file"),
        ("folder", r"is a folder, and no Zarr store: .*zarr\.json.*: give"),
        ("store", r"is a damaged Zarr store"),
        ("pipe", r"is not a file: give"),
        (b"", r"is empty"),
        (b"a,b\n1,2\n", r"is a text file: give a netCDF, HDF5 or Zarr file"),
        (b"<!DOCTYPE html><html>", r"a page of HTML or XML, perhaps of a failed download"),
        (bytes(range(256)), r"is no netCDF, HDF5 or Zarr: give"),
        (gzip.compress(b"a", mtime=0), r"is compressed with gzip: unpack it first"),
        (b"GRIB" + bytes(99), r"is a GRIB file: turn it into netCDF first"),
        (b"\x89HDF\r", r"ends within its HDF5 signature"),
        (b"CDF\x01\x00\x00", r"truncated or damaged: it ends within its header"),
        ((made_files.nested, 9000), r"is truncated: it has 9,000 bytes of [\d,]+; copy"),
        ((made_files.nested, 600), r"is truncated"),
        ((made_files.classic, 900), r"is truncated: it has 900 bytes of [\d,]+; copy"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said_in_one_line(tmp_path, kind, said):
    path = tmp_path / "given"
    if kind is not None:
        damaged(path, kind)
    with pytest.raises(SourceError, match=said) as error:
        open_source(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_a_damaged_chunk_is_named(tmp_path):
    path = made_files.packed(tmp_path / "a.nc")
    with h5py.File(path) as file:
        chunk = file["sst"].id.get_chunk_info(3)
    data = bytearray(path.read_bytes())
    data[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    path.write_bytes(data)
    with (
        open_source(path) as source,
        pytest.raises(SourceError, match=r"a\.nc: sst cannot be read at \[3:4, 0:20, 0:30\]"),
    ):
        source.read("sst", (slice(3, 4), slice(0, 20), slice(0, 30)))
