"""netCDF4 and the HDF5 libraries on what only some files hold."""

import subprocess
import sys

import h5py
import netCDF4
import numpy as np
import pytest
from contracts.readers import assert_same

from hyperslab.io import Layout, reader, write_array

READERS = ("netcdf4", "h5py", "h5netcdf", "xarray-netcdf4", "xarray-h5netcdf")


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
@pytest.mark.parametrize("variable", ["text", "letters"])
def test_what_holds_no_numbers_is_refused(mixed, name, variable):
    with pytest.raises(ValueError, match=f"'{variable}' holds .*; readers take integers and"):
        reader(name).open(mixed, variable)


@pytest.mark.parametrize("name", READERS)
def test_a_group_is_no_variable(mixed, name):
    with pytest.raises(KeyError, match="no variable 'group'; there are group/number, letters"):
        reader(name).open(mixed, "group")


@pytest.mark.parametrize("name", READERS)
def test_a_dimension_that_has_not_grown_is_empty(mixed, name):
    with reader(name).open(mixed, "nothing") as opened:
        assert opened.shape == (0, 3)
        assert_same(opened.read(), np.empty((0, 3), "f4"))
        with pytest.raises(IndexError, match="axis 0 of size 0; the axis is empty"):
            opened.read(0)


@pytest.mark.parametrize("name", READERS)
def test_a_truncated_file_is_named(tmp_path, name):
    path = tmp_path / "short.nc"
    write_array(path, np.arange(10000), Layout("netcdf4", chunks=(100,)))
    with path.open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(OSError, match=r"short\.nc cannot be read by"):
        reader(name).open(path, "data")


def test_strides_do_not_go_element_by_element(tmp_path):
    """netCDF4-python without nc_get_vars makes a C call for each element of a stride."""
    values = np.arange(300 * 300).reshape(300, 300)
    write_array(tmp_path / "a.nc", values, Layout("netcdf4"))
    with reader("netcdf4").open(tmp_path / "a.nc", "data") as opened:
        assert opened.variable._use_get_vars
        assert_same(opened.read((slice(0, 300, 7), slice(3, None, 5))), values[::7, 3::5])


def test_the_chunk_cache_reaches_the_library(tmp_path):
    path = tmp_path / "a.nc"
    write_array(path, np.arange(1000), Layout("netcdf4", chunks=(100,)))
    with reader("netcdf4").open(path, "data", chunk_cache_bytes=54321) as opened:
        assert opened.variable.get_var_chunk_cache()[0] == 54321
    with reader("h5py").open(path, "data", chunk_cache_bytes=54321) as opened:
        assert opened.variable.id.get_access_plist().get_chunk_cache()[1] == 54321
    with reader("h5netcdf").open(path, "data", chunk_cache_bytes=54321) as opened:
        assert opened.variable._root._h5file.id.get_access_plist().get_cache()[2] == 54321
    before = netCDF4.get_chunk_cache()
    reader("xarray-netcdf4").open(path, "data", chunk_cache_bytes=54321).close()
    assert netCDF4.get_chunk_cache() == before


@pytest.mark.parametrize("name", ["h5py", "h5netcdf"])
def test_plugins_are_found_without_importing_netcdf4(tmp_path, name):
    """zstd is no filter of HDF5's own: netCDF4's wheel brings the plugin."""
    values = np.arange(1000)
    write_array(tmp_path / "a.nc", values, Layout("netcdf4", chunks=(100,), codec="zstd"))
    program = """
import sys
from hyperslab.io import reader
with reader(sys.argv[1]).open(sys.argv[2], "data") as opened:
    print(opened.read().sum(), "netCDF4" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, name, tmp_path / "a.nc"], capture_output=True, text=True
    )
    assert done.stdout.split() == [str(values.sum()), "False"], done.stderr


def test_hdf5_that_holds_nothing_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["nothing"] = h5py.Empty("f4")
    with pytest.raises(ValueError, match="'nothing' holds nothing"):
        reader("h5py").open(tmp_path / "a.h5", "nothing")
