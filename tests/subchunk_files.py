"""Small files of every kind that HDF5 can hold, for the tests of hyperslab.subchunk."""

import h5py
import numpy as np
from hypothesis import strategies as st

DTYPES = ("<i1", "<u2", "<i4", ">i4", "<i8", "<f4", ">f4", "<f8", ">f8", "<f2")


@st.composite
def layouts(draw):
    """What one dataset is: shape, chunks, type, filters, fill, which chunks are written."""
    ndim = draw(st.integers(1, 4))
    most = {1: 3000, 2: 90, 3: 24, 4: 11}[ndim]
    shape = tuple(draw(st.integers(1, most)) for _ in range(ndim))
    chunks = tuple(draw(st.integers(1, n)) for n in shape)
    return {
        "shape": shape,
        "chunks": chunks,
        "dtype": draw(st.sampled_from(DTYPES)),
        "shuffle": draw(st.booleans()),
        "fletcher32": draw(st.booleans()),
        "level": draw(st.integers(0, 9)),
        "fill": draw(st.sampled_from([0, 1, 7])),
        "unlimited": draw(st.booleans()),
        "latest": draw(st.booleans()),
        "missing": draw(st.sampled_from([0.0, 0.0, 0.3, 1.0])),
        "texture": draw(st.sampled_from(["noise", "ramp", "steps", "same"])),
        "seed": draw(st.integers(0, 2**16)),
    }


def values(layout):
    """The values of a dataset, before chunks are left out."""
    rng = np.random.default_rng(layout["seed"])
    size = int(np.prod(layout["shape"]))
    found = {
        "noise": lambda: rng.integers(0, 120, size),
        "ramp": lambda: np.arange(size) % 120,
        "steps": lambda: np.repeat(rng.integers(0, 120, -(-size // 37)), 37)[:size],
        "same": lambda: np.full(size, 3),
    }[layout["texture"]]()
    return found.astype(layout["dtype"]).reshape(layout["shape"])


def write(path, layout, name="data"):
    """Write the dataset chunk by chunk, in a random order, some chunks left out."""
    rng = np.random.default_rng(layout["seed"] + 1)
    array = values(layout)
    with h5py.File(path, "w", libver="latest" if layout["latest"] else "earliest") as file:
        dataset = file.create_dataset(
            name,
            shape=layout["shape"],
            chunks=layout["chunks"],
            dtype=layout["dtype"],
            compression="gzip",
            compression_opts=layout["level"],
            shuffle=layout["shuffle"],
            fletcher32=layout["fletcher32"],
            fillvalue=layout["fill"],
            maxshape=(None, *layout["shape"][1:]) if layout["unlimited"] else None,
        )
        grid = [range(0, n, c) for n, c in zip(layout["shape"], layout["chunks"], strict=True)]
        corners = np.stack(np.meshgrid(*grid, indexing="ij"), -1).reshape(-1, len(grid))
        rng.shuffle(corners)
        for corner in corners:
            if rng.random() < layout["missing"]:
                continue
            cut = tuple(
                slice(a, min(a + c, n))
                for a, c, n in zip(corner, layout["chunks"], layout["shape"], strict=True)
            )
            dataset[cut] = array[cut]
    with h5py.File(path) as file:
        return file[name][...]


@st.composite
def keys(draw, shape):
    """A selection of an array of this shape."""
    found = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        kind = draw(st.sampled_from(["int", "slice", "slice", "list", "mask", "all"]))
        bound = st.none() | st.integers(-n - 2, n + 2)
        if kind == "int":
            found.append(draw(st.integers(-n, n - 1)))
        elif kind == "slice":
            step = draw(st.sampled_from([None, 1, 2, 3, 7, -1, -2, -5]))
            found.append(slice(draw(bound), draw(bound), step))
        elif kind == "list":
            found.append(draw(st.lists(st.integers(-n, n - 1), max_size=4)))
        elif kind == "mask":
            found.append(np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool))
        else:
            found.append(slice(None))
    if draw(st.booleans()):
        found.append(Ellipsis)
    return tuple(found)


def expected(array, key):
    """What a selection gives, lists selecting their product."""
    axis = 0
    for item in key:
        if item is Ellipsis:
            continue
        if isinstance(item, int):
            array = np.take(array, item, axis=axis)
            continue
        if isinstance(item, list):
            item = np.array(item, dtype=np.int64)
        array = array[(slice(None),) * axis + (item,)]
        axis += 1
    return array
