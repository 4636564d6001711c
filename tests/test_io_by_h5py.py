"""The HDF5 writer, seen by h5py; test_io_source holds filters and byte orders."""

import h5py
import netCDF4
import numpy as np

from hyperslab.io import Layout, Variable, create, write_array

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
