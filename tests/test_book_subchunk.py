"""The page "Use it on your files": what it tells people to type works as it stands."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from range_server import serving

from hyperslab.cli import OK, main

PAGE = (Path(__file__).parents[1] / "book/subchunk.md").read_text(encoding="utf-8")
COMMANDS = [
    words
    for line in re.findall(r"`(hyperslab index [^`]+)`|^(hyperslab index .+)$", PAGE, re.MULTILINE)
    for words in line
    if words and "--scheduler" not in words
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the file that the page speaks of."""
    import xarray as xr

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


def test_the_page_has_commands():
    assert len(COMMANDS) > 7
