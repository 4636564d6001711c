"""Small files of every kind that HDF5 can hold, for the tests of hyperslab.subchunk."""

import importlib.util
import os

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

DTYPES = ("<i1", "<u2", "<i4", ">i4", "<i8", "<f4", ">f4", "<f8", ">f8", "<f2")
MANY = settings(
    max_examples=int(os.environ.get("HYPERSLAB_EXAMPLES", "25")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NO_OBSTORE = importlib.util.find_spec("obstore") is None
BACKENDS = [
    "fsspec",
    pytest.param("obstore", marks=pytest.mark.skipif(NO_OBSTORE, reason="needs obstore")),
]


def write_one(path, values, **how):
    """Write one compressed variable, "x", as one chunk if not told otherwise."""
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, **{"chunks": values.shape, "compression": 4} | how)
    return path


def write_far(path, offset=0.0):
    """Write a file whose size does not tell its content."""
    with h5py.File(path, "w") as file:
        values = np.arange(9e4).reshape(3, -1)
        data = file.create_dataset("data", data=values, chunks=(1, 30000), compression=4)
        data.attrs["scale"] = 1.0 + offset
        file["small"] = np.arange(5.0) + offset


@st.composite
def layouts(draw):
    """What one dataset is: shape, chunks, type, filters, fill, which chunks are written."""
    ndim = draw(st.integers(1, 4))
    most = {1: 3000, 2: 90, 3: 24, 4: 11}[ndim]
    shape = tuple(draw(st.integers(1, most)) for _ in range(ndim))
    how = {
        "chunks": tuple(draw(st.integers(1, n)) for n in shape),
        "dtype": draw(st.sampled_from(DTYPES)),
        "shuffle": draw(st.booleans()),
        "fletcher32": draw(st.booleans()),
        "compression": draw(st.integers(0, 9)),
        "fillvalue": draw(st.sampled_from([0, 1, 7])),
        "maxshape": draw(st.sampled_from([None, (None, *shape[1:])])),
    }
    libver = draw(st.sampled_from(["earliest", "latest"]))
    missing = draw(st.sampled_from([0.0, 0.0, 0.3, 1.0]))
    texture = draw(st.sampled_from(["noise", "ramp", "steps", "same"]))
    return shape, how, libver, missing, texture, draw(st.integers(0, 2**16))


def write(path, layout):
    """Write the dataset "data" chunk by chunk, in a random order, some chunks left out."""
    shape, how, libver, missing, texture, seed = layout
    rng, size = np.random.default_rng(seed), int(np.prod(shape))
    values = {
        "noise": rng.integers(0, 120, size),
        "ramp": np.arange(size) % 120,
        "steps": np.repeat(rng.integers(0, 120, -(-size // 37)), 37)[:size],
        "same": np.full(size, 3),
    }[texture]
    values = values.astype(how["dtype"]).reshape(shape)
    with h5py.File(path, "w", libver=libver) as file:
        dataset = file.create_dataset("data", shape, **how)
        cuts = list(dataset.iter_chunks())
        rng.shuffle(cuts)
        for cut in cuts:
            if rng.random() >= missing:
                dataset[cut] = values[cut]
    with h5py.File(path) as file:
        return file["data"][...]


@st.composite
def keys(draw, shape):
    """A selection of an array of this shape."""
    found = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        index, bound = st.integers(-n, n - 1), st.none() | st.integers(-n - 2, n + 2)
        cut = st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, 3, 7, -1, -2, -5]))
        mask = st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)
        some = st.lists(index, max_size=4)
        found.append(draw(index | cut | some | mask | st.just(slice(None))))
    return (*found, ...) if draw(st.booleans()) else tuple(found)


def expected(array, key):
    """What a selection gives, lists selecting their product."""
    axis = 0
    for item in key:
        if item is not Ellipsis:
            some = np.array(item, np.int64) if isinstance(item, list) else item
            array = array[(slice(None),) * axis + (some,)]
            axis += not isinstance(item, int)
    return array
