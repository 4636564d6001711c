"""The commands that a report prints, run where it says they run."""

import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
from forked_servers import forking
from made_advice import as_if_measured, maps

from hyperslab.cli import main
from hyperslab.network import serving
from hyperslab.tune.advice import explain
from hyperslab.tune.advice.command import advised
from hyperslab.tune.advice.recipes import commands, output_name

forked = pytest.fixture(scope="module", autouse=True)(forking)

ASKED = ["--rough", "--no-measure", "--budget", "any", "--codecs", "deflate"]
SHELL = ("hyperslab", "nccopy", "h5repack")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def url(tmp_path):
    (tmp_path / "there").mkdir()
    maps(tmp_path / "there" / "maps.nc")
    with serving(tmp_path / "there") as server:
        yield f"{server.url.rstrip('/')}/maps.nc"


def row_of(found, **wanted):
    return next(
        row for row in (*found.rows, *found.beyond)
        if all(getattr(row.candidate, name, None) == value
               or getattr(row.candidate.layout, name, None) == value
               for name, value in wanted.items())
    )  # fmt: skip


def run(code):
    """Run a piece of Python; return what it named."""
    names = {}
    with warnings.catch_warnings():  # of metadata that are not consolidated
        warnings.simplefilter("ignore")
        exec(compile(code, "recipe", "exec"), names)
    return names


def python(found, row):
    return [one for one in commands(found.subject, row) if one.split()[0] not in SHELL]


def test_what_is_printed_for_a_url_runs(url, tmp_path):
    truth = xr.open_dataset(tmp_path / "there" / "maps.nc", mask_and_scale=False)["sst"].values
    found = advised([url, *ASKED, "--calls", "3", "--library", "netcdf4"])
    values = run(python(found, row_of(found, remedy="h5py"))[0])["values"]
    assert np.array_equal(values[3], truth[3])
    file = run(python(found, row_of(found, remedy="cache"))[0])["file"]
    assert "#mode=bytes" in file.filepath()
    file.close()
    row = row_of(found, remedy="index")
    assert main(commands(found.subject, row)[0].split()[1:]) == 0
    with run(python(found, row)[0])["ds"] as ds:
        assert np.array_equal(ds["ice"].shape, truth.shape)
    shutil.copy(tmp_path / "there" / "maps.nc", ".")
    code = python(found, row_of(found, remedy="references"))[0]
    # In a process of its own: fsspec leaves the session of such a file system to its user.
    ends = "\nimport numpy\nnumpy.save('sst.npy', ds['sst'].fillna(-999).values)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code + ends], check=True)
    assert np.array_equal(np.load("sst.npy"), truth)
    for format in ("netcdf4", "zarr3"):
        made = commands(found.subject, row_of(found, format=format, kind="layout"))
        assert [one.split()[0] for one in made] == ["hyperslab", "import"]
        run(made[1])
    [copy] = Path().glob("maps-*.nc")
    with netCDF4.Dataset(copy) as nc:
        nc.set_auto_maskandscale(False)
        assert np.array_equal(nc["sst"][:], truth)
    [copy] = Path().glob("maps-*.zarr")
    with xr.open_zarr(copy, mask_and_scale=False) as ds:
        assert np.array_equal(ds["sst"].values, truth)


def test_a_file_that_is_read_elsewhere_is_opened_there(tmp_path):
    path = str(maps(tmp_path / "maps.nc"))
    words = [path, *ASKED, "--library", "netcdf4"]
    found = advised([*words, "--store", "s3"])
    for remedy in ("h5py", "index", "references"):
        said = python(found, row_of(found, remedy=remedy))[0]
        assert "url = 's3://bucket/maps.nc'  # its own address" in said
        assert f"File({path!r})" not in said
    known = advised([*words, "--store", "https://example.org/data/maps.nc"])
    said = python(known, row_of(known, remedy="h5py"))[0]
    assert "h5py.File(fsspec.open('https://example.org/data/maps.nc').open())" in said
    local = advised(words)
    assert f"h5py.File({path!r})" in python(local, row_of(local, remedy="h5py"))[0]


def test_dimensions_without_names_are_chunked(tmp_path):
    values = np.random.default_rng(0).normal(size=(20, 60, 60)).astype("f4")
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file.create_dataset("v", data=values, chunks=(1, 60, 60), compression="lzf")
    found = advised([
        str(tmp_path / "plain.h5"), *ASKED, "--formats", "zarr3", "--access", "row",
        "--access", "column",
    ])  # fmt: skip
    row = next(row for row in found.rows if row.candidate.layout.format == "zarr3")
    assert "nccopy" not in "".join(commands(found.subject, row))
    run(python(found, row)[0])
    [made] = Path().glob("plain-*")
    with xr.open_dataset(made, engine="zarr") as ds:
        assert np.array_equal(ds["v"].values, values)
        assert ds["v"].encoding["chunks"] == row.candidate.layout.chunks


def test_a_file_with_groups_and_text_is_left_to_what_copies_all_of_it(tmp_path):
    path = maps(tmp_path / "maps.nc")
    with netCDF4.Dataset(path, "a") as nc:
        nc.createGroup("stations").createVariable("names", str, ())[...] = "Vlissingen"
    found = advised([str(path), *ASKED, "--formats", "netcdf4"])
    itself, *others = commands(found.subject, row_of(found, format="netcdf4", kind="layout"))
    assert itself.startswith("hyperslab rechunk ")
    assert [one.split()[0] for one in others] == ["nccopy"]
    assert any("stations/names is left out: it holds text" in note for note in found.notes)


def test_an_index_opens_the_group_of_the_variable(tmp_path):
    with h5py.File(tmp_path / "groups.h5", "w") as file:
        values = np.arange(72000, dtype="f4").reshape(20, 60, 60)
        file.create_dataset("a/b/v", data=values, chunks=(1, 60, 60), compression="gzip")
    found = advised([str(tmp_path / "groups.h5"), *ASKED, "--access", "row"])
    row = row_of(found, remedy="index")
    assert main(commands(found.subject, row)[0].split()[1:]) == 0
    with run(python(found, row)[0])["ds"] as ds:
        assert np.array_equal(ds["v"].values, values)


def test_each_layout_has_a_name_of_its_own(tmp_path):
    every = ["--rough", "--no-measure", "--budget", "any", "--formats", "netcdf4,hdf5,zarr3"]
    found = advised([str(maps(tmp_path / "maps.nc")), *every])
    layouts = [row.candidate.layout for row in found.rows if row.candidate.rewrites]
    names = {(output_name("maps.nc", layout), layout.format) for layout in layouts}
    assert len(names) == len(layouts) > 50


def test_every_row_that_was_measured_has_its_commands(tmp_path):
    found = advised([str(maps(tmp_path / "maps.nc")), *ASKED, "--formats", "netcdf4"])
    known = as_if_measured(found, [9.0, 8.0, 0.5])
    remedies = [row for row in known.rows if row.candidate.remedy][:2]
    told = replace(remedies[0], measured=known.rows[0].measured,
                   measured_gain=known.rows[2].measured_gain)  # fmt: skip
    rows = [told if row is remedies[0] else row for row in known.rows]
    known = replace(known, rows=tuple(rows))
    said = "\n".join(explain.how(known))
    for number, row in enumerate(known.rows, 1):
        assert (f"To apply {number}" in said) == (row.measured_gain is not None)
        if row.measured_gain is not None and row.candidate.rewrites:
            assert output_name("maps.nc", row.candidate.layout) in said
    assert "one of" in said
    every = "\n".join(explain.how(found, rows=5))
    assert every.count("hyperslab rechunk") == sum(row.candidate.rewrites for row in found.rows[:5])
