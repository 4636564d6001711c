"""What HDF5 stores otherwise than it says, and numbers that numpy has in another way."""

import ctypes
import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from hyperslab import subchunk
from hyperslab.subchunk.check import check

N = 20_000


def narrow():
    """Integers of 12 bits, 4 from the right."""
    made = h5t.STD_I32LE.copy()
    made.set_precision(12)
    made.set_offset(4)
    return made


def bfloat():
    """The upper half of a float32."""
    made = h5t.IEEE_F32LE.copy()
    made.set_fields(15, 7, 8, 0, 7)
    made.set_size(2)
    made.set_ebias(127)
    return made


def write_type(path, kind, shuffle=True):
    created = h5p.create(h5p.DATASET_CREATE)
    created.set_chunk((N // 2,))
    if shuffle:
        created.set_shuffle()
    created.set_deflate(4)
    with h5py.File(path, "w") as file:
        made = h5d.create(file.id, b"d", kind, h5s.create_simple((N,)), created)
        made.write(h5s.ALL, h5s.ALL, (np.arange(N) % 100).astype("<i4"), h5t.STD_I32LE)
        file.create_dataset("good", data=np.arange(N), chunks=(N // 2,), compression=4)


@pytest.mark.parametrize("kind", [narrow, bfloat])
@pytest.mark.parametrize("shuffle", [False, True])
def test_numbers_stored_in_another_way_are_read_through_hdf5(tmp_path, kind, shuffle):
    path = tmp_path / "x.h5"
    write_type(path, kind(), shuffle)
    subchunk.build(path, spacing=4096)
    with subchunk.open(path) as file:
        assert "stored in another way" in file["d"].plain
        np.testing.assert_array_equal(file["d"][100:200], np.arange(100))
        assert not file["good"].plain


CASES = [
    ((30, 50), (30, None), 1.0),
    ((30, 50), (None, 50), 0.6),
    ((30, 50, 20), (50, None, None), 0.6),
    ((30, 50), (70, 120), 0.6),
]


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize(("shape", "longest", "share"), CASES)
def test_any_dimension_may_be_the_unlimited_one(tmp_path, shape, longest, share, libver):
    """HDF5 lists some of these chunks at wrong places: they are read plainly."""
    rng = np.random.default_rng(0)
    with h5py.File(tmp_path / "x.h5", "w", libver=(libver, "latest")) as file:
        made = file.create_dataset(
            "d", shape, "i4", maxshape=longest, chunks=(10,) * len(shape), compression=4
        )
        for place in np.ndindex(*(n // 10 for n in shape)):
            if rng.random() < share:
                cut = tuple(slice(10 * at, 10 * at + 10) for at in place)
                made[cut] = rng.integers(0, 99, (10,) * len(shape))
        truth = made[...]
    subchunk.build(tmp_path / "x.h5")
    with subchunk.open(tmp_path / "x.h5") as file:
        if libver == "earliest" or longest[0] is None or None not in longest:
            assert not file["d"].plain
        np.testing.assert_array_equal(file["d"][...], truth)


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
@pytest.mark.parametrize("unlimited", [None, 0])
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
        assert "may have left partial ones unfiltered" in file["x"].plain
        assert np.array_equal(file["x"][...], values)
        assert np.array_equal(file["x"][:, 2345], values[:, 2345])
