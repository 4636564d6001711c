"""`hyperslab advise` as people call it: reports and messages."""

import json
import shlex
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
import xarray as xr
from made_advice import maps

from hyperslab.cli import main
from hyperslab.tune.advice import calibrate
from hyperslab.tune.advice.command import advised, budget_of, link_of
from hyperslab.tune.advice.recipes import commands

QUICK = ["--rough", "--no-measure", "--formats", "netcdf4"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return maps(tmp_path_factory.mktemp("your files") / "maps.nc")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words):
    return main(["advise", *map(str, words)])


def test_the_report_says_what_and_why_and_how(file, capsys):
    assert run(file, *QUICK, "--access", "time_series=0.7", "--access", "map=30%") == 2
    assert run(file, *QUICK, "--access", "time_series=0.7", "--access", "map=0.3") == 0
    text = " ".join(capsys.readouterr().out.split())  # as wide as the terminal
    assert "it touches 48 of 48 chunks (1x60x90, 21.6 kB each)" in text
    assert "time_series (70% of reads) asks for 192 B" in text
    assert "as it is" in text
    assert "Advice: rewrite it as netcdf4 in " in text
    assert "because a time series touches " in text
    assert f"hyperslab rechunk {shlex.quote(str(file))} maps-" in text


def test_json_and_a_picture(file, tmp_path, capsys):
    assert run(file, *QUICK, "-q", "--json", "-", "--plot", "a.png") == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["now"]["chunks_touched"] == {"time_series": 48, "map": 1}
    assert found["candidates"][0]["number"] == 1
    assert found["candidates"][0]["gain_measured"] is None
    assert found["candidates"][0]["commands"]
    assert "Advice: " in said.err
    assert (tmp_path / "a.png").stat().st_size > 10_000
    assert run(file, *QUICK, "-q", "--json", "b.json", "--plot", "a.svg") == 0
    assert json.loads((tmp_path / "b.json").read_text()) == found


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--access", "series=1"], "no access 'series'"),
        (["--access", "map=0.5", "--access", "whole=0.2"], "sum to 0.7"),
        (["--access", "profile"], "no such read: take time_series, map, row, column, whole, or"),
        (["--variable", "none"], "has no variable 'none'"),
        (["--variable", "mask", "--access", "time_series"], "has no such read"),
        (["--dims", "time=n"], "has no dimension n"),
        (["--budget", "much"], "--budget much: give a multiple"),
        (["--store", "moon"], "--store moon: give local"),
        (["--cache", "hot"], "--cache hot: give warm, cold or auto"),
        (["--formats", "tiff"], "format 'tiff': give one of"),
        (["--codecs", "rar"], "codec 'rar': give none"),
        (["--formats", "netcdf3"], "--formats netcdf3: no layout has chunks and these"),
        (["--codecs", "lzf", "--formats", "netcdf4"], "--codecs lzf: no layout has chunks"),
        (["--access", "map=70%", "--access", "time_series=0.3"], "some shares are in percent"),
        (["--access", "map=1%"], "the shares do not sum to 1"),
        (["--library", "none"], "--library none: give one of"),
        (
            ["--library", "zarr"],
            "--library zarr: it does not read sst, netcdf4: give one of netcdf4",
        ),
        (["--library", "netcdf-c", "--store", "s3"], "netcdf4 over a network: give one of"),
        (["--measure", "-1"], "--measure -1: give 0"),
        (["--rows", "0"], "--rows 0"),
        (["--calls", "0"], "--calls 0"),
        (["--workdir", "no"], "samples cannot be made in no"),
        (["--plot", "a.gif"], "--plot a.gif"),
        (["--json", "no/a.json"], "its folder does not exist"),
        (["--access", "map=0.7"], "give map without a share"),
        (["--repeats", "0"], "--repeats 0: give at least 1"),
        (["--sample", "0"], "--sample 0: give at least 64 KiB"),
        (["--disk", "0"], "--disk 0: give at least 64 KiB"),
        (["--budget", "0"], "--budget 0: give a multiple above 0"),
        (["--budget", "0x"], "--budget 0x: give a multiple above 0"),
        (["--store", "0MB/s,80ms"], "--store 0MB/s,80ms: give local"),
        (["--store", "much/s,80ms"], "--store much/s,80ms: give local"),
        (["--calls", "61", "--access", "row"], "has 48 such reads of row"),
    ],
)
def test_what_cannot_be_had_is_said_before_anything_is_done(file, words, says, capsys, tmp_path):
    assert run(file, *words) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_calibration_is_made_where_it_is_asked_for(tmp_path, monkeypatch):
    asked = {}

    def fails(**options):
        asked.update(options)
        raise OSError("not now")

    monkeypatch.setattr(calibrate, "calibrate", fails)
    (tmp_path / "disk").mkdir()
    assert run("--calibrate", "--workdir", tmp_path / "disk") == 1
    assert asked["workdir"] == tmp_path / "disk"
    assert run("--calibrate", "--workdir", "no") == 2


def test_files_without_numbers(tmp_path, capsys):
    with netCDF4.Dataset("text.nc", "w") as nc:
        nc.createDimension("x", 3)
        nc.createVariable("names", str, ("x",))[:] = np.array(["a", "b", "c"], dtype=object)
    assert run("text.nc") == 2
    assert "holds no array of numbers (names: " in capsys.readouterr().err
    with netCDF4.Dataset("empty.nc", "w"):
        pass
    assert run("empty.nc") == 2
    assert "empty.nc holds no array of numbers" in capsys.readouterr().err
    with netCDF4.Dataset("both.nc", "w") as nc:
        nc.createDimension("x", 3)
        nc.createVariable("names", str, ("x",))[:] = np.array(["a", "b", "c"], dtype=object)
        nc.createVariable("v", "f4", ("x",))[:] = 1
    assert run("both.nc", "--variable", "names") == 2
    assert "names cannot be copied: it holds text" in capsys.readouterr().err
    with netCDF4.Dataset("scalar.nc", "w") as nc:
        nc.createVariable("s", "f4", ())[:] = 1
    assert run("scalar.nc") == 2
    assert "no array with values" in capsys.readouterr().err
    assert run() == 2
    assert "no FILE is named" in capsys.readouterr().err


def test_the_commands_that_are_printed_work(file, tmp_path):
    found = advised([str(file), *QUICK, "--codecs", "deflate"])
    row = found.rows[0]
    itself, *others = commands(found.subject, row)
    words = shlex.split(itself)
    assert words[:3] == ["hyperslab", "rechunk", str(file)]
    words[3] = "by us.nc"  # as a command: this process holds more than it leaves for a copy
    subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, check=True)
    assert others[0].startswith("nccopy -k nc4 -c sst:")
    assert "-c ice:" in others[0]
    exec(compile(others[-1], "recipe", "exec"), {})
    (theirs,) = tmp_path.glob("maps-*.nc")
    with xr.open_dataset(file) as a, xr.open_dataset("by us.nc") as b, xr.open_dataset(theirs) as c:
        assert a.identical(b)
        assert a.equals(c)
        for name in ("sst", "ice"):
            for copy in (b, c):
                assert copy[name].encoding["chunksizes"] == row.candidate.layout.chunks
                assert copy[name].encoding["zlib"]


def test_budgets_and_stores():
    assert budget_of("1.5x") == (None, 1.5)
    assert budget_of("2GB") == (2e9, 1.0)
    link = link_of("1.5MB/s,100ms", "a.nc")
    assert (link.bytes_per_s, link.round_trip_s) == (1.5e6, 0.1)
    assert link_of("s3", "a.nc") is not None
    assert link_of("local", "https://example.org/a.nc") is None


def test_a_far_store_is_predicted_with_pages_shards_and_references(file):
    words = [str(file), "--rough", "--no-measure", "--store", "10MB/s,50ms", "--budget", "any"]
    found = advised(words)
    assert found.subject.question.link.round_trip_s == 0.05
    [said] = [note for note in found.notes if "nothing was measured over the network" in note]
    assert "for a store 10 MB/s and 50 ms away; --store RATE,DELAY" in said
    layouts = [row.candidate.layout for row in found.rows]
    assert any(layout.page_bytes for layout in layouts)
    assert {row.candidate.remedy for row in found.rows} >= {"references", "index"}


def test_several_calls_bring_the_chunk_cache_in(file):
    found = advised([str(file), *QUICK, "--calls", "4", "--access", "time_series"])
    assert {row.candidate.remedy for row in found.rows} >= {"cache", "h5py", "index"}
    assert found.present.counts["time_series"].calls == 4
    assert found.present.counts["time_series"].fetched == 48
