"""The HDF5 writer, seen by h5py."""

import subprocess
import sys

import h5py
import netCDF4
import numpy as np
import pytest

from hyperslab.io import Layout, Variable, create, write_array

VALUES = np.arange(60 * 70, dtype="i4").reshape(60, 70)
FIELD = Variable("field", ("y", "x"), VALUES.shape, "i4")


def test_a_file_is_laid_out_as_asked(tmp_path):
    path = tmp_path / "a.h5"

    def written(layout):
        write_array(path, VALUES, layout, overwrite=True)
        return h5py.File(path)

    layout = Layout("hdf5", (20, 35), "deflate", 6, shuffle=True, fletcher32=True, byteorder="big")
    with written(layout) as file:
        data = file["data"]
        assert (data.chunks, data.compression, data.compression_opts) == ((20, 35), "gzip", 6)
        assert data.shuffle and data.fletcher32 and data.dtype.str == ">i4"
    for codec in ("lzf", "szip"):
        with written(Layout("hdf5", (20, 35), codec)) as file:
            assert file["data"].compression == codec
    with written(Layout("hdf5")) as file:  # without coordinates there is nothing but the array
        assert list(file) == ["data"] and list(file["data"].attrs) == []
    for prefill, name in ((True, "IFSET"), (False, "NEVER")):
        with written(Layout("hdf5", prefill=prefill)) as file:
            plan = file["data"].id.get_create_plist()
            assert plan.get_fill_time() == getattr(h5py.h5d, f"FILL_TIME_{name}")
    with written(Layout("hdf5", (20, 35), "deflate", page_bytes=8192)) as file:
        assert path.stat().st_size % 8192 == 0
        plan = file.id.get_create_plist()
        assert plan.get_file_space_strategy()[0] == h5py.h5f.FSPACE_STRATEGY_PAGE
        assert plan.get_file_space_page_size() == 8192
        assert np.array_equal(file["data"][...], VALUES)
    growing = Variable("a", ("t", "x"), (3, 5), "f4", unlimited=("t",))
    layout = Layout("hdf5", chunks=(4, 5))
    with create(path, [growing], layout, chunk_cache_bytes=7654321, overwrite=True) as writer:
        access = writer._handles["a"].id.get_access_plist()
        assert access.get_chunk_cache()[1] == 7654321
    with h5py.File(path) as file:
        assert (file["a"].shape, file["a"].maxshape) == ((3, 5), (None, 5))


def test_with_coordinates_netcdf_reads_every_dimension(tmp_path):
    """One scale and one bare dimension make netCDF-C lose the variable, so all get a scale."""
    level = Variable("y", ("y",), (60,), "f8", {"units": "m"})
    deep = Variable("group/deep", ("y", "x"), VALUES.shape, "i4")
    coordinates = {"y": (level, np.arange(60.0))}
    with create(
        tmp_path / "a.h5", [FIELD, deep], Layout("hdf5"), coordinates=coordinates
    ) as writer:
        writer.write("field", ..., VALUES)
    with netCDF4.Dataset(tmp_path / "a.h5") as file:
        assert file["field"].dimensions == ("y", "x")
        assert file["group/deep"].dimensions == ("y", "x")
        assert set(file.variables) == {"field", "y"}
        assert file["y"].units == "m"


LIMITED = """
import os, resource, sys
import numpy as np
from hyperslab.io import Layout, Variable, create
resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, resource.RLIM_INFINITY))
noise = np.random.default_rng(0).integers(0, 2**31, (90, 90), "i4")
for where in ("finish", "sync", "close"):
    try:
        with create(sys.argv[1], [Variable("a", ("y", "x"), noise.shape, "i4")],
                    Layout("hdf5", (30, 30), "deflate")) as writer:
            writer.write("a", ..., noise)
            {"finish": lambda: writer.finish("a"), "sync": writer.sync}.get(where, int)()
    except OSError:
        print(where, not os.path.exists(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits are Linux's")
def test_what_cannot_be_written_is_an_error_wherever_it_shows(tmp_path):
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "a.h5")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("finish True\nsync True\nclose True\n", "")
