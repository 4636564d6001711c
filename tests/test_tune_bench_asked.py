"""What is asked of a file: every command of the documentation can be had, and says the same."""

import argparse
import re
import shlex
from pathlib import Path

import netCDF4
import pytest

from hyperslab.tune.bench import command as bench_options
from hyperslab.tune.bench.command import asked_for
from hyperslab.tune.report.summary import BM_COLUMNS

PAGE = (Path(__file__).parents[1] / "book/bench.md").read_text()


def commands():
    """Return the commands that stand on the page."""
    blocks = re.findall(r"```shell\n(.*?)```", PAGE, re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("hyperslab bench ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the page speaks of; their values are not needed."""
    place = tmp_path_factory.mktemp("page")
    with netCDF4.Dataset(place / "sst.nc", "w") as nc:
        for name, length in (("time", None), ("depth", 4), ("lat", 180), ("lon", 360)):
            nc.createDimension(name, length)
        chunks = (1, 1, 180, 360)
        made = nc.createVariable(
            "sst", "f4", ("time", "depth", "lat", "lon"), zlib=True, chunksizes=chunks
        )
        made[239, 0, 0, 0] = 1
        nc.createVariable("ice", "f4", ("time", "lat", "lon"), chunksizes=chunks[1:])
    shapes = {f"tst_shorts2_{n}D": (m,) * n for n, m in enumerate((10**5, 316, 46, 17, 10, 6), 1)}
    for name, shape in {**shapes, "tst_elena_int_3D": (1024, 256, 256)}.items():
        with netCDF4.Dataset(place / f"{name}.nc", "w") as nc:
            dims = [f"d{axis}" for axis in range(len(shape))]
            for dim, length in zip(dims, shape, strict=True):
                nc.createDimension(dim, length)
            nc.createVariable("data", "i2" if "shorts" in name else "i4", dims)
    return place


def resolved(words, folder, monkeypatch):
    monkeypatch.chdir(folder)
    subparsers = argparse.ArgumentParser().add_subparsers()
    return asked_for(bench_options.add(subparsers).parse_args(words))


@pytest.mark.parametrize("line", commands())
def test_every_command_of_the_page_can_be_had(line, folder, monkeypatch):
    words = shlex.split(line, comments=True)[2:]
    asked = resolved(words, folder, monkeypatch)
    assert asked.targets
    with netCDF4.Dataset(next(word for word in words if word.endswith(".nc"))) as nc:
        assert set(asked.names) <= set(nc.variables)
    if "elena" in line:
        assert [target.name for target in asked.targets] == [
            "copy", "1024x16x256", "1024x256x256", "512x64x256", "512x256x256", "256x64x256",
            "256x256x256",
        ]  # fmt: skip


def test_every_option_is_on_the_page():
    subparsers = argparse.ArgumentParser().add_subparsers()
    for action in bench_options.add(subparsers)._actions:
        if action.option_strings and action.dest not in ("help", "seed", "quiet", "keep"):
            assert any(f"`{o}" in PAGE or f" {o} " in PAGE for o in action.option_strings), action
    for column in BM_COLUMNS:
        assert column in PAGE or column.startswith("chunksize")


def test_variables_that_an_option_names_are_copied(folder, monkeypatch):
    asked = resolved(["-c", "ice:-1:0:1:90:90", "sst.nc"], folder, monkeypatch)
    assert asked.names == ("ice",)
    boxes = ["-t", "1:0:0:0", "-u", "1:1:9:9", "-r", "1:0:0:0", "sst.nc"]
    asked = resolved(boxes, folder, monkeypatch)
    assert asked.names == ("ice",)
    assert [pattern.name for pattern in asked.patterns] == ["boxes"]
    assert "4 layouts" in asked.words() or "5 layouts" in asked.words()


def test_what_all_new_layouts_share_stands_above(folder, monkeypatch):
    words = ["--chunks", "auto", "--codec", "zstd:3", "sst.nc"]
    asked = resolved(words, folder, monkeypatch)
    assert asked.head.endswith("\nnew layouts: zstd:3")
    assert {target.choice.codec for target in asked.targets[1:]} == {"zstd"}
