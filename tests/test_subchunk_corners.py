"""Chunks of files of the newest format, which HDF5 lists at wrong places."""

import h5py
import numpy as np
import pytest

from hyperslab import subchunk

CASES = [
    ((30, 50), (30, None), 1.0),
    ((30, 50), (60, None), 0.6),
    ((30, 50), (None, 50), 0.6),
    ((30, 50), (10, None), 0.6),
    ((30, 50, 20), (30, None, 40), 0.6),
    ((30, 50, 20), (50, 70, None), 0.6),
    ((30, 50, 20), (50, None, None), 0.6),
    ((30, 50), (70, 120), 0.6),
]


def write(path, shape, longest, share, libver="latest"):
    shape = tuple(n if m is None else min(n, m) for n, m in zip(shape, longest, strict=True))
    rng = np.random.default_rng(0)
    with h5py.File(path, "w", libver=libver) as file:
        made = file.create_dataset(
            "d", shape, "i4", maxshape=longest, chunks=(10,) * len(shape), compression=4
        )
        for place in np.ndindex(*(n // 10 for n in shape)):
            if rng.random() < share:
                cut = tuple(slice(10 * at, 10 * at + 10) for at in place)
                made[cut] = rng.integers(0, 99, (10,) * len(shape))


def check(path):
    with h5py.File(path) as file:
        truth = file["d"][...]
    subchunk.build(path)
    with subchunk.open(path) as file:
        assert not file["d"].plain
        np.testing.assert_array_equal(file["d"][...], truth)


@pytest.mark.parametrize("libver", ["earliest", "v110", "latest"])
@pytest.mark.parametrize(("shape", "longest", "share"), CASES)
def test_any_dimension_may_be_the_unlimited_one(tmp_path, shape, longest, share, libver):
    write(tmp_path / "x.h5", shape, longest, share, (libver, "latest"))
    check(tmp_path / "x.h5")


@pytest.mark.parametrize("libver", ["earliest", "v110"])
@pytest.mark.parametrize("place", [(0, 0), (0, 1), (0, 2), (1, 0), (2, 4), None])
def test_one_chunk_is_found(tmp_path, place, libver):
    path = tmp_path / "x.h5"
    write(path, (30, 50), (30, None), 0, (libver, "latest"))
    if place:
        with h5py.File(path, "a") as file:
            file["d"][tuple(slice(10 * at, 10 * at + 10) for at in place)] = 5
    check(path)
