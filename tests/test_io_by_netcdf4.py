"""The netCDF writer, seen by netCDF4-python and h5py; readers on what only some files hold."""

import subprocess
import sys

import h5py
import netCDF4
import numpy as np
import pytest
from contracts.readers import assert_same

from hyperslab.io import Layout, Variable, create, reader, write_array

READERS = ("netcdf4", "netcdf-c", "h5py", "h5netcdf", "xarray-netcdf4", "xarray-h5netcdf")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A file with text, a record type and a group beside numbers."""
    path = tmp_path_factory.mktemp("mixed") / "mixed.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createVariable("text", str, ("x",))[:] = np.array(["a", "bc", ""], object)
        file.createVariable("letters", "S1", ("x",))[:] = np.array([b"a", b"b", b"c"])
        file.createVariable("group/number", "i4", ("x",))[:] = [1, 2, 3]
        growing = file.createDimension("t", None).name
        file.createVariable("nothing", "f4", (growing, "x"))
    return path


@pytest.mark.parametrize("name", READERS)
def test_what_holds_no_numbers_is_refused_and_what_has_not_grown_is_empty(mixed, name, tmp_path):
    for variable in ("text", "letters"):
        with pytest.raises(ValueError, match=f"'{variable}' holds .*; readers take integers and"):
            reader(name).open(mixed, variable)
    with pytest.raises(KeyError, match="no variable 'group'; there are group/number, letters"):
        reader(name).open(mixed, "group")
    with reader(name).open(mixed, "nothing") as opened:
        assert_same(opened.read(), np.empty((0, 3), "f4"))
        with pytest.raises(IndexError, match="axis 0 of size 0; the axis is empty"):
            opened.read(0)
    short = tmp_path / "short.nc"
    short.write_bytes(mixed.read_bytes()[:5000])
    with pytest.raises(OSError, match=r"short\.nc cannot be read by"):
        reader(name).open(short, "nothing")


def test_the_chunk_cache_reaches_the_library(tmp_path):
    path = tmp_path / "a.nc"
    write_array(path, np.arange(1000), Layout("netcdf4", chunks=(100,)))
    for name, size in (
        ("netcdf4", lambda v: v.get_var_chunk_cache()[0]),
        ("h5py", lambda v: v.id.get_access_plist().get_chunk_cache()[1]),
        ("h5netcdf", lambda v: v._root._h5file.id.get_access_plist().get_cache()[2]),
    ):
        with reader(name).open(path, "data", chunk_cache_bytes=54321) as opened:
            assert size(opened.variable) == 54321
    before = netCDF4.get_chunk_cache()
    reader("xarray-netcdf4").open(path, "data", chunk_cache_bytes=54321).close()
    assert netCDF4.get_chunk_cache() == before
    variable = Variable("a", ("x",), (64,), "f4")
    for format in ("netcdf4", "nczarr"):
        layout = Layout(format, chunks=(8,))
        with create(tmp_path / format, [variable], layout, chunk_cache_bytes=123456) as writer:
            assert writer._handles["a"].get_var_chunk_cache()[0] == 123456


PLUGINS = """
import sys
from hyperslab.io import reader
with reader("h5py").open(sys.argv[1], "data") as opened:
    print(opened.read().sum(), "netCDF4" in sys.modules)
"""


def test_plugins_are_found_without_importing_netcdf4(tmp_path):
    """zstd is no filter of HDF5's own: netCDF4's wheel brings the plugin."""
    write_array(tmp_path / "a.nc", np.arange(1000), Layout("netcdf4", (100,), "zstd"))
    words = [sys.executable, "-c", PLUGINS, tmp_path / "a.nc"]
    assert subprocess.run(words, capture_output=True, text=True).stdout == "499500 False\n"


def test_prefill_is_hdf5s_fill_time_and_what_classic_formats_hold(tmp_path):
    for prefill in (True, False):
        for chunks, fill in ((None, None), ((8,), None), (None, -7.0)):
            path = tmp_path / f"{prefill}-{chunks}-{fill}.nc"
            variable = Variable("a", ("x",), (32,), "f4", fill_value=fill)
            create(path, [variable], Layout("netcdf4", chunks, prefill=prefill)).close()
            with h5py.File(path) as file:
                time = file["a"].id.get_create_plist().get_fill_time()
                assert (time == h5py.h5d.FILL_TIME_NEVER) is not prefill
                assert ("_FillValue" in file["a"].attrs) == (fill is not None)
        for format in ("netcdf3", "netcdf3-64bit", "cdf5"):
            path = tmp_path / f"{prefill}-{format}.nc"
            variable = Variable("a", ("x",), (4000,), "f4")
            create(path, [variable], Layout(format, prefill=prefill)).close()
            with netCDF4.Dataset(path) as file:
                file.set_auto_mask(False)
                held = np.float32(netCDF4.default_fillvals["f4"] if prefill else 0)
                assert (file["a"][...] == held).all()


def test_a_folder_netcdf_cannot_address_is_refused(tmp_path):
    (tmp_path / "run#1").mkdir()
    with pytest.raises(ValueError, match="takes no #"):
        write_array(tmp_path / "run#1" / "a.zarr", np.zeros((6, 7)), Layout("nczarr"))
    assert list((tmp_path / "run#1").iterdir()) == []
