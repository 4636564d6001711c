"""Variables as arrays: what numpy and dask ask of one."""

import dask.array as da
import h5py
import numpy as np
import pytest

from hyperslab import subchunk

VALUES = np.arange(30_000.0).reshape(30, 1000)


@pytest.fixture(scope="module")
def variables(tmp_path_factory):
    path = tmp_path_factory.mktemp("variable") / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("v", data=VALUES, chunks=(10, 1000), compression=4)
        file["one"] = 4.5
    subchunk.build(path)
    with subchunk.open(path) as file:
        yield file


def test_it_is_an_array(variables):
    found = variables["v"]
    assert (found.ndim, found.size, found.nbytes, len(found)) == (2, 30_000, 240_000, 30)
    np.testing.assert_array_equal(np.asarray(found), VALUES)
    assert np.asarray(found, "f4").dtype == np.float32
    assert da.from_array(found, chunks=(7, 100))[3:9].sum().compute() == VALUES[3:9].sum()
    with pytest.raises(ValueError, match="the values of v are in a file"):
        np.asarray(found, copy=False)


def test_a_scalar_has_no_length(variables):
    assert (variables["one"].ndim, variables["one"].size) == (0, 1)
    assert float(np.asarray(variables["one"])) == 4.5
    with pytest.raises(TypeError, match="one is a scalar"):
        len(variables["one"])
