"""Opening a user's file or URL: read as it is stored; what cannot be is said in a line."""

import gc
import gzip
import importlib
import os
import sys
from pathlib import Path

import fsspec
import h5py
import made_files
import netCDF4
import numpy as np
import pytest
import zarr
from forked_servers import forking
from hypothesis import given, settings
from hypothesis import strategies as st
from made_files import everything

from hyperslab.io.classic import needed_bytes
from hyperslab.io.opening import open_source, reopen
from hyperslab.io.source import SourceError


def same(arrays, truth):
    assert list(arrays) == list(truth)
    for name, values in truth.items():
        assert arrays[name].dtype == values.dtype.newbyteorder("=")
        assert arrays[name].flags.c_contiguous
        assert np.array_equal(arrays[name], values), name


@pytest.mark.parametrize("make", [made_files.classic, made_files.nested, made_files.packed])
def test_netcdf_is_read_as_stored(tmp_path, make):
    path = make(tmp_path / "a.nc")
    _, values = everything(path)
    with netCDF4.Dataset(path) as nc:
        nc.set_auto_maskandscale(False)
        assert nc.groups or set(nc.variables) == set(values)
        same(values, {name: nc[name][...] for name in values})


def test_groups_and_what_cannot_be_copied_are_described(tmp_path):
    path = made_files.nested(tmp_path / "a b.nc")
    with open_source(f"file://{path}".replace(" ", "%20")) as source:
        variables = source.variables
        assert source.attrs == {"history": "made"}
        assert [v.name for v in source.choose()] == ["depth", "ocean/heat", "ocean/deep/salt"]
    assert {name: v.reason for name, v in variables.items() if v.reason} == {
        "records": "holds records (compound values of speed, count)",
        "names": "holds text of any length",
        "lists": "holds lists of any length",
        "kind": "holds named values (an enumeration)",
    }
    salt = variables["ocean/deep/salt"]
    assert salt.dims == ("t", "ocean_deep_x")  # x is another dimension at the top
    assert (salt.chunks, salt.codec, salt.unlimited) == ((2, 12), "deflate 3, shuffle", ("t",))
    assert variables["ocean/heat"].byteorder == "big"
    assert salt.attrs["valid_range"].tolist() == [0, 40]


def test_a_store_with_shards_and_a_lone_array(tmp_path):
    path = made_files.sharded(tmp_path / "a.zarr")
    root = zarr.open(path, mode="r")
    same(everything(path)[1], {name: root[name][:] for name in ("sst", "sub/n")})
    with open_source(path) as source:
        sst, inner = source.variables.values()
        assert source.attrs == {"title": "sharded"}
        assert source.stat_bytes == sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    assert (sst.chunks, sst.layout.shards, sst.attrs) == ((5, 10), (20, 20), {"units": "K"})
    assert inner.dims == ("dim_7", "dim_7_2")
    named = {"_ARRAY_DIMENSIONS": ["x"]}
    how = {"chunks": (4,), "dtype": ">i2", "zarr_format": 2, "attributes": named}
    zarr.create_array(tmp_path / "lone.zarr", shape=(9,), **how)[:] = np.arange(9)
    same(everything(tmp_path / "lone.zarr")[1], {"lone": np.arange(9, dtype="i2")})
    with open_source(tmp_path / "lone.zarr") as source:
        assert source.variables["lone"].dims == ("x",)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (lambda path: None, r"does not exist: give a netCDF, HDF5 or Zarr file"),
        (Path.mkdir, r"is a folder, and no Zarr store: .*zarr\.json.*: give"),
        (os.mkfifo, r"is not a file: give"),
        (b"", r"is empty"),
        (b"a,b\n1,2\n", r"is a text file: give a netCDF, HDF5 or Zarr file"),
        (b"<!DOCTYPE html><html>", r"a page of HTML or XML, perhaps of a failed download"),
        (bytes(range(256)), r"is no netCDF, HDF5 or Zarr: give"),
        (gzip.compress(b"a", mtime=0), r"is compressed with gzip: unpack it first"),
        (b"GRIB" + bytes(99), r"is a GRIB file: turn it into netCDF first"),
        (b"\x89HDF\r", r"ends within its HDF5 signature"),
        (b"CDF\x01\x00\x00", r"truncated or damaged: it ends within its header"),
        ((made_files.nested, 9000), r"is truncated: it has 9,000 bytes of [\d,]+; copy"),
        ((made_files.classic, 900), r"is truncated: it has 900 bytes of [\d,]+; copy"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said_in_one_line(tmp_path, kind, text):
    path = tmp_path / "given"
    if callable(kind):
        kind(path)
    elif isinstance(kind, bytes):
        path.write_bytes(kind)
    else:
        make, size = kind
        path.write_bytes(make(tmp_path / "whole").read_bytes()[:size])
    with pytest.raises(SourceError, match=text) as error:
        open_source(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)
    if isinstance(kind, tuple):
        with made_files.served(tmp_path) as server, pytest.raises(SourceError, match=text) as error:
            open_source(f"{server}/given?token=secret")
        assert "\n" not in str(error.value) and "secret" not in str(error.value)


def test_a_damaged_chunk_and_a_damaged_store_are_named(tmp_path):
    path = made_files.packed(tmp_path / "a.nc")
    with h5py.File(path) as file:
        chunk = file["sst"].id.get_chunk_info(3)
    data = bytearray(path.read_bytes())
    data[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    path.write_bytes(data)
    message = r"a\.nc: sst cannot be read at \[3:4, 0:20, 0:30\]"
    with open_source(path) as source, pytest.raises(SourceError, match=message):
        source.read("sst", (slice(3, 4), slice(0, 20), slice(0, 30)))
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "zarr.json").write_text("{")
    with pytest.raises(SourceError, match="is a damaged Zarr store"):
        open_source(tmp_path / "a.zarr")


VARIABLE = st.tuples(
    st.sampled_from(["i1", "i2", "i4", "f4", "f8"]),
    st.booleans(),  # grows
    st.lists(st.integers(0, 2), max_size=2, unique=True),
)


@given(
    st.sampled_from(["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]),
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)),
    st.lists(VARIABLE, max_size=4),
    st.integers(0, 5),
    st.text("abcé", max_size=9),
)
@settings(max_examples=40)
def test_it_is_the_length_of_the_file(tmp_path_factory, format, sizes, variables, steps, title):
    path = tmp_path_factory.mktemp("classic") / "a.nc"
    with netCDF4.Dataset(path, "w", format=format) as nc:
        nc.title = title
        nc.createDimension("t", None)
        for axis, size in enumerate(sizes):
            nc.createDimension(f"d{axis}", size)
        for number, (dtype, grows, axes) in enumerate(variables):
            dims = ("t",) * grows + tuple(f"d{axis}" for axis in axes)
            variable = nc.createVariable(f"v{number}", dtype, dims)
            variable.units = "K"
            if grows and steps:
                variable[steps - 1] = 0
            elif not grows:
                variable[...] = 0
    length = path.stat().st_size
    # netCDF-C pads the last variable to four bytes, and nothing is lost without them.
    with path.open("rb") as file:
        assert length - 3 <= needed_bytes(file) <= length


forked = pytest.fixture(scope="module", autouse=True)(forking)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.nc", made_files.classic),
        ("five.nc", lambda path: made_files.classic(path, "NETCDF3_64BIT_DATA")),
        ("netcdf4.nc", made_files.nested),
        ("a.zarr", made_files.sharded),
        ("grows.nc", made_files.growing),
    ],
)
def test_urls_give_what_files_give(tmp_path, name, make):
    format, truth = everything(make(tmp_path / name))
    with open_source(tmp_path / name) as source:
        local = source.variables
    with made_files.served(tmp_path) as address:
        with open_source(f"{address}/{name}") as source:
            remote_format, remote = source.format, source.variables
        with reopen(f"{address}/{name}", format) as source:
            assert source.threads
            for each, array in truth.items():
                n, rest = len(array), tuple(slice(0, n) for n in array.shape[1:])
                # Not against netCDF-C: strided beyond what is stored, it gives fill values alone.
                for first in (slice(0, n), slice(1, n, 3), slice(n - 2, n), 1, n - 1):
                    values = source.read(each, (first, *rest))
                    assert np.array_equal(values, array[(first, *rest)]), (each, first)
    fsspec.filesystem("http").clear_instance_cache()
    gc.collect()  # where a connection is open still, it is told now, and that is an error
    assert (remote_format, list(remote)) == (format, list(local))
    for each, variable in local.items():  # those that grow are as long as in the file
        same = remote[each].dims, remote[each].shape, remote[each].unlimited
        assert same == (variable.dims, variable.shape, variable.unlimited)


@pytest.mark.parametrize("kind", ["classic.nc", "large.nc", "a.zarr"])
def test_a_server_that_gives_files_only_whole_is_named(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("hyperslab.io.opening.BLOCK_BYTES", 2**14)
    made_files.sharded(tmp_path / "a.zarr")
    made_files.classic(tmp_path / "classic.nc")
    with netCDF4.Dataset(tmp_path / "large.nc", "w") as nc:
        nc.createDimension("x", 2**14)
        nc.createVariable("a", "f4", ("x",))[:] = 1
    with (
        made_files.served(tmp_path, ranges=False) as server,
        pytest.raises(SourceError, match="does not answer range requests; download it") as error,
    ):
        open_source(f"{server}/{kind}")
    assert str(error.value).startswith(f"{server}/{kind} cannot be read in parts")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("{}/none.nc", "there is nothing there: check the address"),
        ("{}/empty.nc", r"empty.nc is empty \(0 bytes\): check the address"),
        ("s3:///a.nc", "s3:///a.nc cannot be read: .*: check the address"),
        ("http://me:secret@host:port/a", "http://host:port/a cannot be read: .*: check the"),
        ("{}/text.nc", "is no netCDF, HDF5 or Zarr: it begins with b'hello"),
        ("http://127.0.0.1:1/a.nc", "cannot be read: .*: check the address"),
        ("gopher://host/a.nc", "gopher://host/a.nc cannot be read: .*: check the address"),
    ],
)
def test_a_url_that_cannot_be_read_is_said_in_one_line(tmp_path, address, message):
    (tmp_path / "empty.nc").touch()
    (tmp_path / "text.nc").write_text("hello, world")
    with made_files.served(tmp_path) as server, pytest.raises(SourceError, match=message) as error:
        open_source(address.format(server))
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)


def test_a_package_that_is_missing_is_named(monkeypatch):
    loaded = importlib.import_module("fsspec.registry")._registry  # by another test perhaps
    monkeypatch.delitem(loaded, "s3", raising=False)
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(SourceError, match="s3 needs s3fs: pip install s3fs"):
        open_source("s3://bucket/a.nc")
