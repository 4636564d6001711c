"""`hyperslab advise` as people call it: reports, messages, and the commands it prints."""

import html
import json
import shlex
import shutil
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
import xarray as xr
from forked_servers import forking
from made_advice import maps

from hyperslab.cli import main
from hyperslab.network import serving
from hyperslab.tune.advice.command import advised
from hyperslab.tune.advice.explain import commands

QUICK = ["--rough", "--no-measure", "--formats", "netcdf4", "--sample", "128KiB"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return maps(tmp_path_factory.mktemp("your files") / "maps.nc")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words):
    return main(["advise", *map(str, words)])


def test_a_report_says_what_and_how_also_as_json_and_a_picture(file, tmp_path, capsys):
    asked = [*QUICK, "--access", "time_series=0.7", "--access", "map=0.3"]
    assert run(file, *asked, "--json", "a.json", "--plot", "a.png", "--html", "a.html") == 0
    text = " ".join(capsys.readouterr().out.split())  # as wide as the terminal
    assert "time_series 70% 192 B 48 of 48" in text and "because a time series touches " in text
    command = f"hyperslab rechunk {shlex.quote(str(file))} maps-"
    assert command in text and command in html.unescape((tmp_path / "a.html").read_text())
    assert (tmp_path / "a.png").stat().st_size > 10_000
    assert run(file, *asked, "-q", "--json", "-") == 0
    said = capsys.readouterr()
    assert "Advice: rewrite it as netcdf4 in " in said.err
    found = json.loads(said.out)
    assert found == json.loads((tmp_path / "a.json").read_text())
    now, other, first, *_ = found["candidates"]
    assert [(now[key], other[key]) for key in ("pattern", "predicted_reads")] == [
        ("time_series", "map"), (48, 1),
    ]  # fmt: skip
    assert (first["order"], first["rank"], first["gain"]) == (1, 1, None)
    assert "hyperslab rechunk" in found["how"]


def test_the_commands_that_are_printed_work(file, monkeypatch):
    monkeypatch.setattr("hyperslab.tune.rechunk.resident_bytes", lambda: 80 * 2**20)
    found = advised([str(file), *QUICK, "--codecs", "deflate"])
    words = shlex.split(*commands(found.subject, found.rows[0].candidate))
    assert words[:3] == ["hyperslab", "rechunk", str(file)]
    assert main([*words[1:3], "by us.nc", *words[4:]]) == 0
    with xr.open_dataset(file) as a, xr.open_dataset("by us.nc") as b:
        assert a.identical(b)
        for made in (b["sst"], b["ice"]):
            assert made.encoding["chunksizes"] == found.rows[0].candidate.layout.chunks
            assert made.encoding["zlib"]


forked = pytest.fixture(scope="module", autouse=True)(forking)
ASKED = [*QUICK, "--budget", "any", "--codecs", "deflate"]


@pytest.fixture
def url(file):
    with serving(file.parent) as server:
        yield f"{server.url.rstrip('/')}/maps.nc"


def row_of(found, **wanted):
    every = (*found.rows, *found.beyond)
    facts = ((row, vars(row.candidate.layout) | vars(row.candidate)) for row in every)
    return next(row for row, known in facts if wanted.items() <= known.items())


def executed(code):
    """Run a piece of Python; return what it named."""
    names = {}
    exec(compile(code, "recipe", "exec"), names)
    return names


def python(found, row):
    return commands(found.subject, row.candidate)[-1]


def test_what_is_printed_for_a_url_runs(url, file):
    truth = xr.open_dataset(file, mask_and_scale=False)["sst"].values
    found = advised([url, *ASKED, "--calls", "3", "--library", "netcdf4"])
    values = executed(python(found, row_of(found, remedy="h5py")))["values"]
    assert np.array_equal(values[3], truth[3])
    with executed(python(found, row_of(found, remedy="cache")))["file"] as opened:
        assert "#mode=bytes" in opened.filepath()
    row = row_of(found, remedy="index")
    assert main(commands(found.subject, row.candidate)[0].split()[1:]) == 0
    with executed(python(found, row))["ds"] as ds:
        assert np.array_equal(ds["ice"].shape, truth.shape)
    shutil.copy(file, ".")
    code = python(found, row_of(found, remedy="references"))
    # In a process of its own: fsspec leaves the session of such a file system to its user.
    ends = "\nimport numpy\nnumpy.save('sst.npy', ds['sst'].fillna(-999).values)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code + ends], check=True)
    assert np.array_equal(np.load("sst.npy"), truth)


@pytest.mark.parametrize(
    ("store", "opened"),
    [
        ("s3", "fsspec.open('s3://bucket/maps.nc').open()"),
        ("https://example.org/maps.nc", "fsspec.open('https://example.org/maps.nc').open()"),
        ("local", "'maps.nc'"),
    ],
)
def test_a_file_that_is_read_elsewhere_is_opened_there(file, store, opened):
    shutil.copy(file, ".")
    found = advised(["maps.nc", *ASKED, "--library", "netcdf4", "--store", store])
    assert f"h5py.File({opened})" in python(found, row_of(found, remedy="h5py"))
    assert any("30 ms away, which is assumed" in note for note in found.notes) == (store != "local")


def test_a_variable_in_a_group_and_what_a_copy_would_lack():
    values = np.arange(72000, dtype="f4").reshape(20, 60, 60)
    with netCDF4.Dataset("groups.nc", "w") as nc:
        nc.createVariable("names", str, ())[...] = "Vlissingen"
        for name, n in zip("tyx", values.shape, strict=True):
            nc.createDimension(name, n)
        made = nc.createVariable("a/b/v", "f4", ("t", "y", "x"), zlib=True, chunksizes=(1, 60, 60))
        made[...] = values
    found = advised(["groups.nc", *ASKED, "--access", "row"])
    assert any("names is left out: it holds text" in note for note in found.notes)
    assert "--leave-out" in commands(found.subject, row_of(found, kind="layout").candidate)[0]
    row = row_of(found, remedy="index")
    assert main(commands(found.subject, row.candidate)[0].split()[1:]) == 0
    with executed(python(found, row))["ds"] as ds:
        assert np.array_equal(ds["v"].values, values)
