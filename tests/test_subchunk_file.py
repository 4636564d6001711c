"""Whatever a file holds and however it is asked, the values are those h5py reads."""

import os

import h5py
import numpy as np
import pytest
import subchunk_files as files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperslab import subchunk
from hyperslab.subchunk.read import decode as tasks

SLOW = settings(
    max_examples=int(os.environ.get("HYPERSLAB_EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@SLOW
@given(data=st.data(), layout=files.layouts(), spacing=st.sampled_from([1024, 2000, 65536]))
def test_every_layout_and_selection(tmp_path, data, layout, spacing):
    path = tmp_path / "file.h5"
    truth = files.write(path, layout)
    subchunk.build(path, spacing=spacing, threads=1)
    with subchunk.open(path) as file:
        reader = file["data"]
        assert (reader.shape, reader.dtype) == (truth.shape, truth.dtype)
        assert not reader.plain
        for _ in range(5):
            key = data.draw(files.keys(truth.shape))
            found = reader[key]
            wanted = files.expected(truth, key)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape
            assert np.array_equal(found, wanted)


@pytest.mark.parametrize("batch", [1, 7, 64])
@pytest.mark.parametrize("held", [1, 2**20])
def test_stretches_side_by_side(tmp_path, monkeypatch, batch, held):
    monkeypatch.setattr(tasks, "_BATCH", batch)
    monkeypatch.setattr(tasks, "_HELD", held)
    monkeypatch.setattr(tasks, "_THREADED", 1)
    values = np.cumsum(np.random.default_rng(1).normal(size=(40, 3000)), axis=1)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(1, 3000), compression=4, shuffle=True)
    subchunk.build(tmp_path / "x.h5", spacing=2048)
    for threads in (1, 2, 5):
        with subchunk.open(tmp_path / "x.h5", threads=threads) as file:
            assert np.array_equal(file["x"][:, 1500], values[:, 1500])
            assert np.array_equal(file["x"][::7, 9:2900:400], values[::7, 9:2900:400])


def test_the_end_of_a_chunk_with_a_checksum(tmp_path):
    """HDF5's checksum lies behind the compressed data, and is none of them."""
    values = np.cumsum(np.random.default_rng(1).integers(-3, 4, (2, 30_000)), axis=1).astype("<i2")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(1, 30_000), compression=4, fletcher32=True)
    subchunk.build(tmp_path / "x.h5", spacing=4096)
    with subchunk.open(tmp_path / "x.h5") as file:
        assert np.array_equal(file["x"][:, -3:], values[:, -3:])
