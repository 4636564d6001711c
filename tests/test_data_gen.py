"""Datasets by name: their parts, metadata, files, and the command line."""

import dataclasses
import hashlib
import math
import re
import subprocess
import sys
from itertools import product

import netCDF4
import numpy as np
import pytest
import xarray as xr

import data_gen
from data_gen.__main__ import main
from data_gen.many_files import write
from data_gen.physics import checks
from hyperslab.io import Layout, reader

SMALL = {
    "ocean": {"steps": 3, "nlat": 38, "nlon": 128},
    "gfs": {"steps": 2, "nlat": 37, "nlon": 72},
    "radar": {"nlat": 150, "nlon": 200, "cells": 9},
    "array": {"shape": (7, 5)},
}


def digest(part):
    return hashlib.sha256(b"".join(part[name][1].tobytes() for name in sorted(part))).hexdigest()


def test_shapes_are_the_documents():
    for name, shape in {"ocean": (72, 380, 1287), "gfs": (13, 13, 721, 1440)}.items():
        assert {v.shape for v in data_gen.dataset(name).description.variables} == {shape}


@pytest.mark.parametrize(
    ("name", "given", "parts"),
    [
        ("ocean", SMALL["ocean"], 3),
        ("gfs", SMALL["gfs"], 2),
        ("radar", SMALL["radar"], 1),
        ("array", {"shape": (5000, 1000), "dtype": "f8"}, 3),
    ],
)
def test_parts_cover_each_variable_once(name, given, parts):
    source = data_gen.dataset(name, **given)
    assert source.parts == parts
    seen = {v.name: np.zeros(v.shape, "i1") for v in source.description.variables}
    for number in range(parts):
        for variable, (selection, values) in source.draw(number).items():
            assert seen[variable][selection].shape == values.shape
            seen[variable][selection] += 1
    assert all((count == 1).all() for count in seen.values())
    assert source.nbytes == sum(
        math.prod(v.shape) * np.dtype(v.dtype).itemsize for v in source.description.variables
    )


def test_parts_are_the_same_anywhere_in_any_order_and_differ_by_step_and_seed():
    lasts, synthetic = [], {name: SMALL[name] for name in ("ocean", "gfs", "radar")}
    for name, given in synthetic.items():
        source, other = data_gen.dataset(name, **given), data_gen.dataset(name, seed=1, **given)
        last = source.parts - 1
        first, later = digest(source.draw(0)), digest(source.draw(last))
        assert (first != later) == (last > 0) and digest(other.draw(last)) != later
        lasts.append(later)
    code = (
        "import hashlib, data_gen\n"
        f"for name, given in {synthetic}.items():\n"
        "    source = data_gen.dataset(name, **given)\n"
        "    part = source.draw(source.parts - 1)\n"
        "    drawn = b''.join(part[n][1].tobytes() for n in sorted(part))\n"
        "    print(hashlib.sha256(drawn).hexdigest())"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == lasts


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("oceans", {}, "no dataset 'oceans'; give one of ocean, gfs, radar, array"),
        ("ocean", {"steps": 0}, "steps=0; give a whole number of at least 1"),
        ("gfs", {"seed": -1}, "seed=-1; give a whole number of at least 0"),
        ("gfs", {"meso": float("nan")}, "meso=nan; give a number of at least 0"),
        ("radar", {"tile": "tile3"}, "tile='tile3': give one of tile1, tile2, tile4"),
        ("array", {"shape": (3, 0)}, "give one or more lengths of at least 1"),
        ("array", {"dtype": "c8"}, "dtype='c8': give i2, i4"),
    ],
)
def test_impossible_parameters_are_named(name, given, says):
    with pytest.raises(ValueError, match=says):
        data_gen.dataset(name, **given)


def test_the_physics_hold():
    assert [check for check in checks(1) if not check.low <= check.value <= check.high] == []


def raw(name):
    return data_gen.open(name, decode=False, **SMALL[name])


@pytest.mark.parametrize("name", data_gen.NAMES)
def test_the_whole_and_its_variables_and_axes_are_described(name):
    opened = raw(name)
    assert opened.attrs["Conventions"] == "CF-1.11"
    attributes = {"title", "source", "history", "references", "institution", "comment"}
    assert attributes <= set(opened.attrs) and opened.attrs["source"].startswith("synthetic")
    for text in opened.attrs.values():
        assert not re.search(r"/(home|work|root|tmp|Users)|\d{4}-\d\d-\d\d|@", text)
    if name == "array":
        return
    for variable in opened.data_vars.values():
        assert variable.attrs["units"] and variable.attrs["long_name"]
        assert variable.attrs["cell_methods"].startswith("time: point")
        assert variable.attrs["_FillValue"].dtype == variable.dtype
    letters = [c.attrs["axis"] for c in opened.coords.values() if "axis" in c.attrs]
    assert len(letters) == len(set(letters)) and {"Y", "X"} <= set(letters)


def test_values_are_decoded():
    ocean = data_gen.open("ocean", **SMALL["ocean"])
    assert ocean.uo.attrs["standard_name"] == "eastward_sea_water_velocity"
    assert np.diff(ocean.time.values).tolist() == [3_600_000_000_000] * 2
    values = ocean.uo.isel(time=0).values
    assert np.isnan(values).any() and np.nanmax(np.abs(values)) < 3
    stored, decoded = raw("radar").cref.values, data_gen.open("radar", **SMALL["radar"]).cref
    echo = stored > 0
    assert decoded.values[echo] == pytest.approx(stored[echo] / 100, rel=1e-6)
    assert np.isnan(decoded.values[stored == -9990]).all()


def test_what_is_opened_can_be_written_and_read_by_xarray(tmp_path):
    gfs = data_gen.open("gfs", **SMALL["gfs"])
    gfs.to_netcdf(tmp_path / "gfs.nc")
    with xr.open_dataset(tmp_path / "gfs.nc") as again:
        xr.testing.assert_identical(again.load(), gfs.compute())


@pytest.fixture
def ocean():
    return data_gen.dataset("ocean", steps=5, nlat=19, nlon=64)


def test_metadata_is_written(tmp_path):
    path = tmp_path / "tile.nc"
    write(data_gen.dataset("radar", **SMALL["radar"]), {path: Layout("netcdf4")})
    with xr.open_dataset(path) as opened:
        expected = data_gen.open("radar", **SMALL["radar"])
        xr.testing.assert_allclose(opened.load(), expected)
        for key in ("units", "long_name", "comment", "cell_methods"):
            assert opened.cref.attrs[key] == expected.cref.attrs[key]
        assert opened.attrs == expected.attrs


def test_files_in_every_layout_are_drawn_once_and_hold_what_was_drawn(ocean, tmp_path):
    readers = {"hdf5": "h5py", "zarr2": "zarr", "zarr3": "zarr"}
    layouts = {
        **{format: Layout(format) for format in ("netcdf3", "netcdf4", "hdf5", "zarr2")},
        "three frames a chunk": Layout("netcdf4", chunks=(3, 19, 64), codec="deflate"),
        "tiles": Layout("hdf5", chunks=(2, 10, 10), codec="lzf"),
        "shards": Layout("zarr3", chunks=(1, 19, 64), shards=(2, 19, 64), codec="zstd"),
    }
    drawn = []

    def draw(part):
        drawn.append(ocean.draw(part))
        return drawn[-1]

    files = {tmp_path / f"{kind}{layout.suffix}": layout for kind, layout in layouts.items()}
    write(dataclasses.replace(ocean, draw=draw), files)
    assert len(drawn) == ocean.parts == 5
    for (path, layout), name in product(files.items(), ("uo", "vo")):
        truth = np.concatenate([ocean.draw(part)[name][1] for part in range(5)])
        with reader(readers.get(layout.format, "netcdf4")).open(path, name) as opened:
            assert (opened.read(np.s_[:, :, :]) == truth).all(), path.name


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


def run(*words):
    return main([*words, "--quiet"])


def test_a_file_is_written_with_the_layout_asked_for(tmp_path):
    out = tmp_path / "currents.nc"
    grid = ["--steps", "2", "--set", "nlat=38", "--set", "nlon=128"]
    how = ["--codec", "deflate", "--level", "4", "--shuffle"]
    assert run("ocean", "--out", str(out), *grid, *how) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["currents.nc"]
    with netCDF4.Dataset(out) as dataset:
        assert dataset["uo"].shape == (2, 38, 128)
        assert dataset["uo"].chunking() == [1, 38, 128]
        filters = dataset["uo"].filters()
        assert filters["shuffle"] and filters["complevel"] == 4


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["oceans"], "invalid choice: 'oceans'"),
        (["ocean", "--tile", "tile1"], "ocean has no parameter 'tile'"),
        (["ocean", "--set", "speed"], "give NAME=VALUE, NAME one of steps"),
        (["ocean", "--set", "speed=fast"], "--set speed=fast: give a number, such as 0.21"),
        (["array", "--shape", "3by4"], "give lengths such as 3162x3162"),
        (["array", "--chunks", "a"], "--chunks 'a': give lengths"),
        (["array", "--format", "netcdf3", "--codec", "deflate"], "netcdf3"),
    ],
)
def test_bad_words_are_errors_before_any_work(tmp_path, capsys, words, says):
    with pytest.raises(SystemExit) as stopped:
        run(*words, "--out", str(tmp_path / "a.nc"))
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_unasked(tmp_path, capsys):
    out = tmp_path / "a.nc"
    out.write_text("mine")
    with pytest.raises(SystemExit):
        run("array", "--out", str(out), "--shape", "9")
    assert "--force" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert main(["array", "--out", str(out), "--shape", "9", "--force"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "" and "100%" in printed.err
    with netCDF4.Dataset(out) as dataset:
        assert np.asarray(dataset["values"][:]).tolist() == list(range(9))


def test_a_folder_is_not_replaced_and_no_room_is_an_error_by_name(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/kept").touch()
    for name, format, says in (
        ("mine", "netcdf4", "it is a directory"),
        ("mine", "zarr2", "left alone"),
        ("mine/no/a.nc", "netcdf4", "is not a directory; make it first"),
    ):
        out = ["--out", str(tmp_path / name), "--format", format]
        with pytest.raises(SystemExit):
            run("array", *out, "--shape", "9", "--force")
        assert says in capsys.readouterr().err
    assert run("array", "--out", str(tmp_path / "a.nc"), "--shape", "1000000000x1000000") == 1
    assert "make room there" in capsys.readouterr().err
    assert {path.name for path in tmp_path.rglob("*")} == {"mine", "kept"}
