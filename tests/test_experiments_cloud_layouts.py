"""Layouts on a server: what is stored."""

import pytest
from made_layouts import in_layouts

from hyperslab.experiments import cloud_layouts as cloud
from hyperslab.io.layout import Layout
from hyperslab.measure.records import frame_of


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    layouts = {
        "netCDF-4": Layout("netcdf4", chunks=(1, 64, 64)),
        "HDF5 in pages": Layout("hdf5", chunks=(1, 64, 64), page_bytes=2**16),
        "Zarr 3": Layout("zarr3", chunks=(1, 64, 64)),
    }
    made = in_layouts(tmp_path_factory.mktemp("cloud"), cloud.Variables(3), layouts)
    cloud.put_beside([made["netCDF-4"]], referred=[])
    return made


def test_sizes_and_objects_are_of_each_store_and_of_what_lies_beside_it(files):
    rows = frame_of(cloud.stored({"many": files}), ["data", "layout", "part"])
    table = rows.set_index(["layout", "part"])
    # A group, three axes with a chunk each, and three variables with chunks of four tiles, twice.
    assert table["requests"]["Zarr 3", "values"] == 1 + 3 * 2 + 3 * (1 + 8)
    assert table["requests"]["netCDF-4", "values"] == 1
    assert table["file_bytes"]["HDF5 in pages", "values"] % 2**16 == 0
    assert 0 < table["file_bytes"]["netCDF-4", "index"] < table["file_bytes"]["netCDF-4", "values"]
