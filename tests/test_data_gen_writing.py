"""Streamed writing to any layout, drawn once for many files, in constant memory."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

import data_gen
from data_gen.writing import write
from hyperslab.io import Layout, reader

SMALL = {"steps": 5, "nlat": 19, "nlon": 64}
FRAME = (1, 19, 64)
READERS = {"hdf5": "h5py", "zarr2": "zarr", "zarr3": "zarr"}
LAYOUTS = {
    **{format: Layout(format) for format in ("netcdf3", "netcdf4", "zarr2")},
    "three frames a chunk": Layout("netcdf4", chunks=(3, 19, 64), codec="deflate"),
    "tiles": Layout("hdf5", chunks=(2, 10, 10), codec="lzf"),
    "shards": Layout("zarr3", chunks=FRAME, shards=(2, 19, 64), codec="zstd"),
}


@pytest.fixture
def ocean():
    return data_gen.dataset("ocean", **SMALL)


def truth(source, name):
    return np.concatenate([source.draw(part)[name][1] for part in range(source.parts)])


def stored(path, layout, name):
    with reader(READERS.get(layout.format, "netcdf4")).open(path, name) as opened:
        return opened.read((slice(None),) * len(opened.shape))


@pytest.mark.parametrize("kind", LAYOUTS)
def test_every_layout_holds_what_was_drawn(ocean, tmp_path, kind):
    path = tmp_path / f"ocean{LAYOUTS[kind].suffix}"
    write(ocean, {path: LAYOUTS[kind]})
    for name in ("uo", "vo"):
        assert (stored(path, LAYOUTS[kind], name) == truth(ocean, name)).all()


def test_metadata_is_written(tmp_path):
    given = {"nlat": 150, "nlon": 200, "cells": 9}
    path = tmp_path / "tile.nc"
    write(data_gen.dataset("radar", **given), {path: Layout("netcdf4")})
    with xr.open_dataset(path) as found:
        xr.testing.assert_allclose(found.load(), expected := data_gen.open("radar", **given))
        for key in ("units", "long_name", "comment", "cell_methods"):
            assert found.cref.attrs[key] == expected.cref.attrs[key]
        assert found.attrs == expected.attrs


def test_many_files_are_drawn_once(ocean, tmp_path):
    drawn = []

    def draw(part):
        drawn.append(part)
        return ocean.draw(part)

    chunked = Layout("zarr3", chunks=(3, 19, 64))
    targets = {tmp_path / "b.h5": Layout("hdf5"), tmp_path / "c.zarr": chunked}
    write(dataclasses.replace(ocean, draw=draw), targets)
    assert drawn == list(range(5))
    for path, layout in targets.items():
        assert (stored(path, layout, "uo") == truth(ocean, "uo")).all()


def test_a_failure_half_way_leaves_nothing(ocean, tmp_path):
    def draw(part):
        if part == 3:
            raise RuntimeError("the sun set")
        return ocean.draw(part)

    with pytest.raises(RuntimeError, match="the sun set"):
        write(
            dataclasses.replace(ocean, draw=draw),
            {tmp_path / "a.nc": Layout("netcdf4"), tmp_path / "b.zarr": Layout("zarr2")},
        )
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_the_steps(tmp_path):
    """Sixty-four frames are 63 MB, sixteen are 16: the peak may not show the difference."""
    code = (
        "import resource, sys; from pathlib import Path; import data_gen\n"
        "from hyperslab.io import Layout\n"
        "for steps in (16, 64):\n"
        "    source = data_gen.dataset('ocean', steps=steps, nlat=190, nlon=644)\n"
        "    data_gen.write(source, {Path(sys.argv[1], f'{steps}.nc'): Layout('netcdf4')})\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    few, many = map(int, subprocess.check_output([sys.executable, "-c", code, tmp_path]).split())
    assert many - few < 12e6 / (1 if sys.platform == "darwin" else 1024)
