"""Partial chunks that HDF5 left unfiltered without saying so."""

import ctypes
import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from hyperslab import subchunk
from hyperslab.subchunk.check import check
from hyperslab.subchunk.chunk_table import chunk_table

SHAPE, CHUNKS = (70, 3000), (40, 2000)


def unfiltered_edges(created):
    """Ask HDF5, by its C interface, to leave partial chunks unfiltered."""
    maps = Path("/proc/self/maps")
    loaded = maps.read_text() if maps.exists() else ""
    names = set(re.findall(r" (/.*/libhdf5[-.].*)", loaded))
    names = {name for name in names if "h5py" in name} or names  # netCDF4 has its own
    if len(names) != 1:
        pytest.skip("which HDF5 h5py has loaded cannot be told here")
    library = ctypes.CDLL(names.pop())
    library.H5Pset_chunk_opts.argtypes = (ctypes.c_int64, ctypes.c_uint)
    assert library.H5Pset_chunk_opts(created.id, 2) == 0


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("unlimited", [None, 0, 1])
def test_partial_chunks_may_be_unfiltered(tmp_path, guarded, unlimited):
    values = np.arange(70 * 3000.0).reshape(SHAPE)
    path = tmp_path / "x.h5"
    most = tuple(h5py.h5s.UNLIMITED if axis == unlimited else n for axis, n in enumerate(SHAPE))
    with h5py.File(path, "w", libver="latest") as file:
        created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        created.set_chunk(CHUNKS)
        created.set_shuffle()
        created.set_deflate(4)
        if guarded:
            created.set_fletcher32()
        unfiltered_edges(created)
        space = h5py.h5s.create_simple(SHAPE, most)
        data = h5py.Dataset(h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_DOUBLE, space, created))
        data[...] = values
        assert [data.id.get_chunk_info(place).filter_mask for place in range(4)] == [0] * 4
    subchunk.build(path, spacing=8192)
    check(path)
    with subchunk.open(path) as file:
        assert np.array_equal(file["x"][...], values)
        assert np.array_equal(file["x"][:, 2345], values[:, 2345])
        assert np.array_equal(file["x"][17], values[17])
        chunks, points = file.index.points(file.index.entries["x"])
        assert (chunks.mask > 0).tolist() == [False, True, True, True]
        assert (np.diff(points.first) > 0).tolist() == [True, False, False, False]


def test_a_damaged_partial_chunk_is_not_taken_for_an_unfiltered_one(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("x", (30, 3000), "u1", chunks=(20, 2000), compression=4)
        data[...] = 7
        data.id.write_direct_chunk((20, 0), bytes(range(250)) * 160)
        assert not chunk_table(data).mask.any()
    with pytest.warns(UserWarning, match="1 of 4 chunks of x have no points .* damaged"):
        subchunk.build(path)
    with subchunk.open(path) as file:
        assert file["x"][3, 2345] == 7
        with pytest.raises(subchunk.CorruptDataError, match=r"x\.h5"):
            file["x"][25, 3]
