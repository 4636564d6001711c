"""What writers leave, seen by other libraries; readers on what only some files hold."""

import json
import subprocess
import sys

import h5py
import netCDF4
import numpy as np
import pytest
from contracts.readers import assert_same

from hyperslab.io import Layout, Variable, create, reader, write_array
from hyperslab.io.plain_binary import SPAN_BYTES, WIDE_STEP_BYTES

VALUES = np.arange(60 * 70, dtype="i4").reshape(60, 70)


def test_a_file_is_filled_paged_and_grows_as_asked(tmp_path):
    path = tmp_path / "a.h5"
    for prefill, time in ((True, h5py.h5d.FILL_TIME_IFSET), (False, h5py.h5d.FILL_TIME_NEVER)):
        write_array(path, VALUES, Layout("hdf5", prefill=prefill), overwrite=True)
        with h5py.File(path) as file:
            assert file["data"].id.get_create_plist().get_fill_time() == time
            # Without coordinates there is nothing but the array.
            assert list(file) == ["data"] and list(file["data"].attrs) == []
    write_array(path, VALUES, Layout("hdf5", page_bytes=8192), overwrite=True)
    with h5py.File(path) as file:
        assert file.id.get_create_plist().get_file_space_page_size() == 8192
    growing = Variable("a", ("t", "x"), (3, 5), "f4", unlimited=("t",))
    layout = Layout("hdf5", chunks=(4, 5))
    with create(path, [growing], layout, chunk_cache_bytes=7654321, overwrite=True) as writer:
        access = writer._handles["a"].id.get_access_plist()
        assert access.get_chunk_cache()[1] == 7654321
    with h5py.File(path) as file:
        assert (file["a"].shape, file["a"].maxshape) == ((3, 5), (None, 5))


def test_with_coordinates_netcdf_reads_every_dimension(tmp_path):
    """One scale and one bare dimension make netCDF-C lose the variable, so all get a scale."""
    path, names = tmp_path / "a.h5", ("field", "group/deep")
    level = Variable("y", ("y",), (60,), "f8", {"units": "m"})
    fields = [Variable(name, ("y", "x"), VALUES.shape, "i4") for name in names]
    create(path, fields, Layout("hdf5"), coordinates={"y": (level, np.arange(60.0))}).close()
    with netCDF4.Dataset(path) as file:
        assert {file[name].dimensions for name in names} == {("y", "x")}
        assert set(file.variables) == {"field", "y"}
        assert file["y"].units == "m"


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
    write_array(shuffled, VALUES, Layout("nczarr", (20, 35), "deflate", shuffle=True))
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
    with pytest.raises(ValueError, match="takes no #"):
        ones(tmp_path / "run#1" / "a.zarr", "a", "nczarr")
    assert list((tmp_path / "run#1").iterdir()) == []
    odd = ones(tmp_path / "run#1" / "a.zarr", "a", "zarr2")
    with pytest.raises(OSError, match="takes no #"):
        reader("nczarr").open(odd, "a")
    assert_same(read(odd, "a", "zarr"), np.ones(5, "f4"))
    # netCDF-C gives missing chunks the fill value with its bytes swapped.
    write_array(tmp_path / "a", VALUES, Layout("zarr2", chunks=(20, 35), byteorder="big"))
    with pytest.raises(OSError, match="it is big-endian"):
        reader("nczarr").open(tmp_path / "a", "data")


def test_stores_hold_what_others_expect(tmp_path):
    two, three = tmp_path / "2", tmp_path / "3"
    write_array(two, VALUES, Layout("zarr2", (20, 35), "deflate"))
    assert json.loads((two / "data" / ".zarray").read_text())["compressor"]["id"] == "zlib"
    assert "data/.zarray" in json.loads((two / ".zmetadata").read_text())["metadata"]
    write_array(three, VALUES, Layout("zarr3"))
    assert "consolidated_metadata" not in json.loads((three / "zarr.json").read_text())


def test_strides_across_spans_and_wide_ones_and_a_file_cut_off(tmp_path):
    path, values = tmp_path / "long.bin", np.arange(2**19, dtype="f8")
    write_array(path, values, Layout("binary"))
    assert values.nbytes > 2 * SPAN_BYTES
    with reader("plain").open(path, "data") as opened:
        for step in (2, 3, 1000, WIDE_STEP_BYTES // 8, WIDE_STEP_BYTES // 8 + 1, 2**18):
            assert_same(opened.read(slice(5, None, step)), values[5::step])
        with path.open("r+b") as file:
            file.truncate(800)
        assert_same(opened.read(slice(0, 100)), values[:100])
        with pytest.raises(OSError, match="data: the file ends at byte 800; it was cut off"):
            opened.read()
    with pytest.raises(OSError, match=r"it has 800 bytes where 'data'"):
        reader("plain").open(path, "data")


def test_a_file_made_elsewhere_is_read_by_its_description(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"head" + np.arange(6, dtype=">i2").tobytes())
    described = {"variables": {"x": {"dtype": ">i2", "shape": [2, 3], "offset": 4}}}
    (tmp_path / "a.bin.json").write_text(json.dumps(described))
    with reader("plain").open(tmp_path / "a.bin", "x") as opened:
        assert_same(opened.read((1, slice(None))), np.array([3, 4, 5], "i2"))
    (tmp_path / "a.bin.json").write_text("{}")
    with pytest.raises(OSError, match="cannot be read by plain"):
        reader("plain").open(tmp_path / "a.bin", "x")
    (tmp_path / "a.bin.json").unlink()
    with pytest.raises(OSError, match=r"there is no a\.bin\.json beside it; write"):
        reader("plain").open(tmp_path / "a.bin", "x")


def test_the_file_is_the_bytes_in_their_order_each_variable_at_a_multiple_of_eight(tmp_path):
    values = np.arange(12, dtype="f8").reshape(4, 3).T  # in its order, contiguous or not
    for order, sign in (("little", "<"), ("big", ">")):
        path = tmp_path / f"{order}.bin"
        assert write_array(path, values, Layout("binary", byteorder=order)) == values.nbytes
        assert path.read_bytes() == values.astype(f"{sign}f8").tobytes()
        described = json.loads((tmp_path / f"{order}.bin.json").read_text())["variables"]
        assert described == {"data": {"dtype": f"{sign}f8", "shape": [3, 4], "offset": 0}}

    first = Variable("a", ("x",), (3,), "i1")
    second = Variable("b", ("y",), (2,), "f8")
    with create(tmp_path / "a.bin", [first, second], Layout("binary")) as writer:
        writer.write("a", ..., np.array([1, 2, 3], "i1"))
        writer.write("b", ..., np.array([4.0, 5.0]))
    content = (tmp_path / "a.bin").read_bytes()
    assert content[:8] == b"\x01\x02\x03\0\0\0\0\0"
    assert np.frombuffer(content, "f8", offset=8).tolist() == [4, 5]
