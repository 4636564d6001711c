"""What lies at a URL is read as if it were here; what cannot be is said in a line."""

import gc
import importlib

import fsspec
import made_files
import netCDF4
import numpy as np
import pytest
from forked_servers import forking

from hyperslab.tune.source import SourceError, open_source, reopen
from hyperslab.tune.sources import remote

forked = pytest.fixture(scope="module", autouse=True)(forking)


def everything(path):
    """Format, and all values that can be copied, by name."""
    with open_source(path) as source:
        return source.format, {
            name: source.read(name, tuple(slice(0, n) for n in variable.shape))
            for name, variable in source.variables.items()
            if variable.copyable
        }


@pytest.mark.parametrize("kind", ["a.nc", "five.nc", "netcdf4.nc", "a.zarr"])
def test_urls_give_what_files_give(tmp_path, kind):
    make = {"a.zarr": made_files.sharded, "netcdf4.nc": made_files.nested}
    if kind in make:
        make[kind](tmp_path / kind)
    else:
        made_files.classic(
            tmp_path / kind, "NETCDF3_64BIT_DATA" if "five" in kind else "NETCDF3_CLASSIC"
        )
    with made_files.served(tmp_path) as address:
        format, values = everything(f"{address}/{kind}")
        with open_source(f"{address}/{kind}") as source:
            assert source.threads
        with reopen(f"{address}/{kind}", format) as source:
            name = next(iter(values))
            first = source.read(name, tuple(slice(0, 1) for _ in values[name].shape)).item()
    locally = everything(tmp_path / kind)
    assert format == locally[0]
    assert set(values) == set(locally[1])
    for name, truth in locally[1].items():
        assert np.array_equal(values[name], truth)
    assert first == next(iter(values.values())).reshape(-1)[0]


def test_a_store_that_is_let_go_closes_its_connections(tmp_path):
    made_files.sharded(tmp_path / "a.zarr")
    with made_files.served(tmp_path) as address:
        open_source(f"{address}/a.zarr").close()
    fsspec.filesystem("http").clear_instance_cache()
    gc.collect()  # where one is open still, it is told now, and that is an error


def test_over_a_network_dimensions_that_grow_are_as_long_as_in_the_file(tmp_path):
    path = made_files.growing(tmp_path / "a.nc")
    values = everything(path)[1]
    with open_source(path) as source:
        local = source.variables
    with made_files.served(tmp_path) as server:
        with open_source(f"{server}/a.nc") as source:
            remote = source.variables
        assert list(remote) == list(local)
        with reopen(f"{server}/a.nc", "netcdf4") as source:
            for name, truth in local.items():
                found = remote[name]
                assert (found.dims, found.shape) == (truth.dims, truth.shape)
                assert found.unlimited == truth.unlimited
                rest = tuple(slice(0, n) for n in truth.shape[1:])
                # Not against netCDF-C: strided beyond what is stored, it gives fill values alone.
                for first in (slice(0, 6), slice(1, 6, 3), slice(4, 6), 1, 5):
                    got = source.read(name, (first, *rest))
                    assert np.array_equal(got, values[name][(first, *rest)]), (name, first)


def test_the_scheme_may_be_in_capitals(tmp_path):
    made_files.packed(tmp_path / "a.nc")
    with made_files.served(tmp_path) as server:
        assert everything(f"{server.replace('http', 'HTTP')}/a.nc")[0] == "netcdf4"


@pytest.mark.parametrize("kind", ["classic.nc", "large.nc", "a.zarr"])
def test_a_server_that_gives_files_only_whole_is_named(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(remote, "BLOCK_BYTES", 2**14)
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


def test_a_server_that_gives_files_only_whole_does_for_a_small_file(tmp_path):
    made_files.packed(tmp_path / "a.nc")
    with made_files.served(tmp_path, ranges=False) as server:
        found = everything(f"{server}/a.nc")[1]["sst"]
    assert np.array_equal(found, everything(tmp_path / "a.nc")[1]["sst"])


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("{}/none.nc", "there is nothing there: check the address"),
        ("{}/empty.nc", r"empty.nc is empty \(0 bytes\): check the address"),
        ("https://", "https:// names no server: give a whole address, such as https://example.org"),
        ("http:///a.nc", "http:///a.nc names no server: give a whole address"),
        ("s3:///a.nc", "s3:///a.nc names no bucket: give a whole address, such as s3://bucket/"),
        ("http://me:secret@host:port/a", "http://host:port/a is no address: check its server"),
        ("http://me:secret@[::1/a", "is no address: check its server and port"),
        ("{}/text.nc", "is no netCDF, HDF5 or Zarr: it begins with b'hello"),
        ("http://127.0.0.1:1/a.nc", "cannot be read: .*: check the address"),
        ("gopher://host/a.nc", "no way to gopher://; give a path or a URL of http, https or s3"),
        (
            "{}/cut.nc?token=secret",
            r"cut.nc is truncated: it has 9,000 bytes of .*; copy or",
        ),
        ("{}/old.nc?token=secret", r"old.nc is truncated: it has 900 bytes of [\d,]+; copy or"),
        ("{}/older.nc", "older.nc is truncated or damaged: it ends within its header"),
    ],
)
def test_a_url_that_cannot_be_read_is_said_in_one_line(tmp_path, address, said):
    (tmp_path / "empty.nc").touch()
    (tmp_path / "text.nc").write_text("hello, world")
    (tmp_path / "cut.nc").write_bytes(made_files.nested(tmp_path / "a.nc").read_bytes()[:9000])
    whole = made_files.classic(tmp_path / "b.nc").read_bytes()
    (tmp_path / "old.nc").write_bytes(whole[:900])
    (tmp_path / "older.nc").write_bytes(whole[:100])
    with (
        made_files.served(tmp_path) as server,
        pytest.raises(SourceError, match=said) as error,
    ):
        open_source(address.format(server))
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)


def test_a_package_that_is_missing_is_named(monkeypatch):
    loaded = importlib.import_module("fsspec.registry")._registry  # by another test perhaps
    monkeypatch.delitem(loaded, "s3", raising=False)
    monkeypatch.setitem(__import__("sys").modules, "s3fs", None)
    with pytest.raises(SourceError, match="s3 needs s3fs: pip install s3fs"):
        open_source("s3://bucket/a.nc")
