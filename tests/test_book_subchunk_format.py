"""The page on the index's format: its reader reads, and its names are those of the code."""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from hyperslab import subchunk
from hyperslab.subchunk.deflate import windows as packing
from hyperslab.subchunk.index.format import MAGIC, VERSION
from hyperslab.subchunk.index.points import POINT_ARRAYS

PAGE = (Path(__file__).parents[1] / "book/subchunk/format.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def read_value():
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    names = {}
    exec(code, names)
    return names["read_value"]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("dtype", "fletcher32"), [("<f4", False), (">i2", True), ("u1", False)])
@pytest.mark.parametrize("level", [1, 9])
def test_its_reader_reads(tmp_path, read_value, shuffle, dtype, fletcher32, level):
    rng = np.random.default_rng(level)
    values = np.cumsum(rng.integers(-3, 4, (3, 150, 170)), axis=2).astype(dtype)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        data = file.create_dataset(
            "group/x", shape=values.shape, dtype=dtype, chunks=(1, 150, 110), fillvalue=7,
            compression=level, shuffle=shuffle, fletcher32=fletcher32,
        )  # fmt: skip
        data[:2] = values[:2]
        truth = data[...]
    index = subchunk.build(path, spacing=65536 if level == 9 else 2048)
    for position in [*rng.integers(0, values.shape, (6, 3)).tolist(), [1, 149, 169], [2, 0, 0]]:
        assert read_value(path, index, "group/x", position) == truth[tuple(position)]


def test_it_also_reads_blocks_that_are_stored(tmp_path, read_value):
    """Such a block begins at a byte of the stream."""
    rng = np.random.default_rng(2)
    smooth = np.cumsum(rng.integers(-2, 3, 120_000)).astype("u1")
    values = np.concatenate([smooth, rng.integers(0, 256, 150_000).astype("u1"), smooth])
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=values.shape, compression=4)
    index = subchunk.build(path, spacing=4096)
    for position in [*rng.integers(0, len(values), 40).tolist(), len(values) - 1]:
        assert read_value(path, index, "x", [position]) == values[position]


def test_it_also_reads_windows_packed_by_lzma(tmp_path, read_value):
    seen = []
    rng = np.random.default_rng(1)
    values = rng.normal(250, 3, 400_000).astype("f4")
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=(200_000,), compression=4)
    index = subchunk.build(path, spacing=65536)
    file = subchunk.open(path)
    _, points = file.index.points(file.index.entries["x"])
    for number, kept in enumerate(file.index.kept(points, range(len(points)))):
        window = kept[(int(points.header_bits[number]) + 7) >> 3 :]
        seen.append(bool(len(window)) and window[0] & 7 == 7)
        assert len(packing.unpacked(window)) <= 32768
    assert any(seen)
    for position in (0, 123_456, 199_999, 399_999):
        assert read_value(path, index, "x", [position]) == values[position]


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
