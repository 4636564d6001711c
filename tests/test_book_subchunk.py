"""The pages on the index: what they tell people to type works, and their names are the code's."""

import re
import shlex
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
from range_server import serving

from hyperslab import subchunk
from hyperslab.cli import OK, main
from hyperslab.subchunk.index.format import MAGIC, VERSION
from hyperslab.subchunk.index.points import POINT_ARRAYS

BOOK = Path(__file__).parents[1] / "book"
PAGE = (BOOK / "subchunk.md").read_text(encoding="utf-8")
FORMAT = (BOOK / "subchunk/format.md").read_text(encoding="utf-8")
COMMANDS = [
    words
    for line in re.findall(r"`(hyperslab index [^`]+)`|^(hyperslab index .+)$", PAGE, re.MULTILINE)
    for words in line
    if words and "--scheduler" not in words
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the file that the page speaks of."""
    values = np.random.default_rng(0).integers(0, 900, (3, 2, 300, 600)).astype("f4")
    dims = ("time", "level", "latitude", "longitude")
    how = {"zlib": True, "chunksizes": (1, 2, 300, 600)}
    data = xr.Dataset(dict.fromkeys(("air_temperature", "humidity"), (dims, values)))
    encoding = dict.fromkeys(data, how)
    data.to_netcdf(tmp_path / "air.nc", engine="netcdf4", encoding=encoding)
    (tmp_path / "indexes").mkdir()
    monkeypatch.chdir(tmp_path)
    return values


@pytest.fixture
def address(folder, tmp_path):
    """Where that folder is served: what the page calls https://host."""
    with serving(tmp_path) as (address, _):
        yield address


def test_the_python_of_the_page_runs(folder, address):
    assert len(COMMANDS) > 7, "the page has commands too"
    assert main(["index", "air.nc"]) == OK
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block.replace("https://host", address), names)
    assert "tag" in names["file"].index.data
    names["data"].close()
    assert np.array_equal(names["series"], folder[:, 0, 280, 506])
    assert np.array_equal(names["column"], folder[:, :, 280, 506])
    assert np.array_equal(names["box"], folder[::2, 0, 100:90:-1][..., [3, 5, 8]])
    assert np.array_equal(names["tile"], folder[0, 0, :90, :90])


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page_run(command, folder, address):
    assert main(["index", "air.nc", "--jobs", "1"]) == OK
    words = command.replace("*.nc", "air.nc").replace("https://host", address)
    assert main(shlex.split(words)[1:]) == OK


@pytest.fixture(scope="module")
def read_value():
    (code,) = re.findall(r"^```python\n(.*?)^```$", FORMAT, flags=re.MULTILINE | re.DOTALL)
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
def test_the_reader_of_the_format_s_page_reads(tmp_path, read_value, values, spacing, how):
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


def test_the_names_of_the_format_s_page_are_those_of_the_code(tmp_path):
    assert f"This is version {VERSION};" in FORMAT
    assert MAGIC.hex(" ").upper() in FORMAT
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(9000), chunks=(3000,), compression=4)
    index = subchunk.Index(subchunk.build(path))
    for name in (*POINT_ARRAYS, "number", "offset", "size", "mask"):
        assert f"`{name}`" in FORMAT and f"0/{name}" in index.head.tables
    assert len(index.head.tables) == len(POINT_ARRAYS) + 4
    for key in (*index.head.content, *index.head.content["variables"][0], *index.data):
        assert f"`{key}`" in FORMAT, key
