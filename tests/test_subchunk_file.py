"""Whatever a file holds and however it is asked, the values are those h5py reads."""

import os
import pickle

import h5py
import numpy as np
import pytest
import subchunk_files as files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperslab import subchunk

SLOW = settings(
    max_examples=int(os.environ.get("HYPERSLAB_EXAMPLES", "60")),
    deadline=None,
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
