"""The page on the index's format: its reader reads, and its names are those of the code."""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from hyperslab import subchunk
from hyperslab.subchunk.index.format import MAGIC, VERSION
from hyperslab.subchunk.index.points import POINT_ARRAYS

PAGE = (Path(__file__).parents[1] / "book/subchunk/format.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def read_value():
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    names = {}
    exec(code, names)
    return names["read_value"]


def smooth(*shape):
    return np.cumsum(np.random.default_rng(1).integers(-3, 4, shape), axis=-1)


NOISE = np.random.default_rng(2).integers(0, 256, 150_000)
STORED = np.concatenate([smooth(120_000), NOISE, smooth(120_000)]).astype("u1")
FLOATS = np.random.default_rng(3).normal(250, 3, 400_000).astype("f4")
CUBE, IN_PARTS = smooth(3, 150, 170), {"chunks": (1, 150, 110), "compression": 1}


@pytest.mark.parametrize(
    ("values", "spacing", "how"),
    [
        (CUBE.astype("<f4"), 2048, IN_PARTS),
        (CUBE.astype("<f4"), 65536, IN_PARTS | {"compression": 9, "shuffle": True}),
        (CUBE.astype(">i2"), 2048, IN_PARTS | {"shuffle": True, "fletcher32": True}),
        (CUBE.astype("u1"), 65536, IN_PARTS | {"compression": 9}),
        (STORED, 4096, {"chunks": STORED.shape, "compression": 4}),  # a point at a byte
        (FLOATS, 65536, {"chunks": (200_000,), "compression": 4}),  # windows packed by lzma
    ],
)
def test_its_reader_reads(tmp_path, read_value, values, spacing, how):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("group/x", values.shape, values.dtype, fillvalue=7, **how)
        written = values[:2] if values.ndim > 1 else values
        data[: len(written)] = written
        truth = data[...]
    index = subchunk.build(path, spacing=spacing)
    tried = np.random.default_rng(0).integers(0, values.shape, (20, values.ndim)).tolist()
    for position in [*tried, [n - 1 for n in values.shape], [0] * values.ndim]:
        assert read_value(path, index, "group/x", position) == truth[tuple(position)]
    if values is FLOATS:
        file = subchunk.open(path)
        _, points = file.index.points(file.index.entries["group/x"])
        kept = file.index.kept(points, range(len(points)))
        windows = [w[(int(b) + 7) >> 3 :] for w, b in zip(kept, points.header_bits, strict=True)]
        assert any(len(window) and window[0] & 7 == 7 for window in windows)


def test_its_names_are_those_of_the_code(tmp_path):
    assert f"This is version {VERSION};" in PAGE
    assert MAGIC.hex(" ").upper() in PAGE
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(9000), chunks=(3000,), compression=4)
    index = subchunk.Index(subchunk.build(path))
    for name in (*POINT_ARRAYS, "number", "offset", "size", "mask"):
        assert f"`{name}`" in PAGE and f"0/{name}" in index.head.tables
    assert len(index.head.tables) == len(POINT_ARRAYS) + 4
    for key in (*index.head.content, *index.head.content["variables"][0], *index.data):
        assert f"`{key}`" in PAGE, key
