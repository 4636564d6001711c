"""Types whose bytes in the file are not numpy's: read through HDF5, or left out by name."""

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from hyperslab import subchunk
from hyperslab.subchunk.errors import SubchunkError

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


def three():
    """Integers of three bytes, which numpy does not have."""
    made = h5t.STD_I32LE.copy()
    made.set_precision(24)
    made.set_size(3)
    return made


def write(path, kind, shuffle=True):
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
    write(path, kind(), shuffle)
    subchunk.build(path, spacing=4096)
    with subchunk.open(path) as file:
        assert "stored in another way" in file["d"].plain
        np.testing.assert_array_equal(file["d"][100:200], np.arange(100))
        assert not file["good"].plain


@pytest.mark.parametrize("indexed", [False, True])
def test_a_type_that_numpy_lacks_spoils_only_its_variable(tmp_path, indexed):
    path = tmp_path / "x.h5"
    write(path, three())
    if indexed:
        subchunk.build(path)
    with subchunk.open(path) as file:
        assert file["good"][7] == 7
        with pytest.raises(SubchunkError, match="cannot be read: numpy has no type"):
            file["d"]


@pytest.mark.parametrize("kind", ["bool", "i2", ">f4", "c8", "enum"])
def test_ordinary_types_are_still_read_inside_of_chunks(tmp_path, kind):
    path = tmp_path / "x.h5"
    dtype = h5py.enum_dtype({"b": 1, "a": 0}, ">i2") if kind == "enum" else kind
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=(np.arange(N) % 2).astype(dtype), chunks=(N,), compression=4)
    subchunk.build(path)
    with subchunk.open(path) as file:
        assert not file["d"].plain
        np.testing.assert_array_equal(file["d"][1:4], [1, 0, 1])
