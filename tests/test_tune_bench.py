"""`hyperslab bench`: every option is heard, what is measured is reported and put into files."""

import argparse
import json
import os
import re
import shlex
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pandas as pd
import pytest
from made_advice import maps
from made_bench import bench_frame

from hyperslab.cli import FAILED, OK, USAGE, main
from hyperslab.io import Layout, write_array
from hyperslab.measure.records import frame_of
from hyperslab.parallel.found import find
from hyperslab.tune.bench import bench_command
from hyperslab.tune.bench.bench_command import request_of
from hyperslab.tune.bench.bench_run import bench
from hyperslab.tune.specs.target import Choice, Target

PAGE = (Path(__file__).parents[1] / "book/bench.md").read_text()
FRAME = bench_frame(blocks=2, patterns=("map",))


def test_every_command_of_the_page_can_be_had(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with netCDF4.Dataset("sst.nc", "w") as nc:  # their values are not needed
        for name, length in (("time", None), ("depth", 4), ("lat", 180), ("lon", 360)):
            nc.createDimension(name, length)
        dims, chunks = ("time", "depth", "lat", "lon"), (1, 1, 180, 360)
        nc.createVariable("sst", "f4", dims, zlib=True, chunksizes=chunks)[239, 0, 0, 0] = 1
        nc.createVariable("ice", "f4", ("time", "lat", "lon"), chunksizes=chunks[1:])
    shapes = {f"shorts2_{n}D": (m,) * n for n, m in enumerate((10**5, 316, 46, 17, 10, 6), 1)}
    for name, shape in {**shapes, "elena_int_3D": (1024, 256, 256)}.items():
        write_array(f"tst_{name}.nc", np.zeros(shape, "i2"), Layout("netcdf3"))
    blocks = "\n".join(re.findall(r"```shell\n(.*?)```", PAGE, re.DOTALL)).replace("\\\n", " ")
    lines = [line for line in blocks.splitlines() if line.startswith("hyperslab bench ")]
    assert len(lines) > 5
    parser = bench_command.add(argparse.ArgumentParser().add_subparsers())
    for line in lines:
        assert request_of(parser.parse_args(shlex.split(line, comments=True)[2:])).targets


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return maps(tmp_path_factory.mktemp("bench") / "sst.nc", shape=(12, 60, 90))


@pytest.fixture
def requests(monkeypatch, tmp_path):
    """Measure nothing: keep what was asked for, and give made-up records."""
    calls = []

    def measure(arguments, request):
        calls.append((arguments, request))
        note = {"experiment": "note", "case": "", "phase": "note", "status": "a note"}
        return pd.concat([FRAME, frame_of([note])], ignore_index=True)

    monkeypatch.setattr(bench_command, "_measure", measure)
    monkeypatch.chdir(tmp_path)
    return calls


def test_with_a_file_alone_the_largest_variable_is_tried_and_results_go_into_files(
    file, requests, capsys
):
    names = {"csv": "a.csv", "json": "a.json", "html": "a.html"}
    words = [f"--{kind}={name}" for kind, name in names.items()]
    assert main(["bench", *words, "--plot=a.png", str(file)]) == OK
    ((_, request),) = requests
    assert request.names == ("sst",)
    assert request.targets[0].name == "copy" and 3 <= len(request.targets) <= 6
    assert list(request.reads) == ["time_series", "map", "whole"]
    assert request.memory_bytes == 256 * 2**20
    out, err = capsys.readouterr()
    assert re.search(r"1x72x144 is (4|3\.9)", out) and "note: a note" in out
    assert "reads: time_series, map, whole" in err
    assert len(pd.read_csv("a.csv")) == 3
    content = json.loads(Path("a.json").read_text())
    assert (content["best_over_all"], content["notes"]) == ("1x72x144", ["a note"])
    assert Path("a.png").stat().st_size > 1000
    assert "<li>a note</li>" in Path("a.html").read_text()


def test_every_option_is_heard(file, requests):
    words = (
        "--variables sst,ice --chunks lat=10 --grid chunks=default/lat=10 --codec zstd:3 "
        "--cache 1MiB --no-shuffle --patterns map,row --memory 1MiB --repeats 3 -q -v"
    )
    assert main(["bench", *words.split(), str(file)]) == OK
    ((arguments, request),) = requests
    assert request.names == ("sst", "ice")
    assert [target.name for target in request.targets] == ["copy", "lat=10", "default chunks"]
    assert request.head.endswith("new layouts: zstd:3 no shuffle cache 1MiB")
    assert list(request.reads) == ["map", "row"]
    assert (request.memory_bytes, arguments.repeats) == (2**20, 3)


def test_what_failed_or_is_wrong_gives_exit_code_1_and_so_does_ctrl_c(
    file, monkeypatch, tmp_path, capsys
):
    monkeypatch.chdir(tmp_path)
    frame = FRAME.copy()
    monkeypatch.setattr(bench_command, "_measure", lambda *_: frame)
    for status in ("OSError: no space left on device", "WrongValuesError: differs"):
        frame.loc[frame["case"] == "1x72x144", "status"] = status
        assert main(["bench", "-q", str(file)]) == FAILED
    frame.loc[frame.index[frame["case"] == "1x72x144"][1:], "status"] = "ok"  # one sample alone
    assert main(["bench", "-q", str(file)]) == FAILED

    def interrupted(*_):
        raise KeyboardInterrupt

    capsys.readouterr()
    monkeypatch.setattr(bench_command, "_measure", interrupted)
    assert main(["bench", "-q", str(file)]) == FAILED
    out, err = capsys.readouterr()
    assert (out, err.strip()) == ("", "interrupted: the copies are removed, the file is as it was")


def test_a_file_is_measured(file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = "--chunks 12,5,6 --quantize bitround:9 --repeats 1 --patterns map"
    assert main(["bench", *words.split(), "--csv", "a.csv", str(file)]) == OK
    out = capsys.readouterr().out
    assert "map, cold" in out or "cold reads could not be measured" in out
    table = pd.read_csv("a.csv").set_index("target")
    assert (table["data reread time"] > 0).all() and table["verified"].all()
    assert table.loc["12x5x6 bitround:9", "output size"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_names_from_a_file_do_not_steer_the_terminal(tmp_path, capsys):
    path = tmp_path / "odd.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a\x1b[31mred\n\u202eb", data=np.ones((20, 20)), chunks=(5, 5))
    outputs = []
    for words in (["advise", "--rough", "--no-measure"], ["index"], ["index", "--info"]):
        assert main([*words, str(path)]) == OK
        outputs.append("".join(capsys.readouterr()))
    assert main(["bench", "--variables", "none", str(path)]) == USAGE
    outputs.append("".join(capsys.readouterr()))
    assert all("a [31mred" in outputs[n] for n in (0, 2, 3))
    assert {c for text in outputs for c in text if not c.isprintable()} <= {"\n"}


HERE = pytest.mark.skipif("hdf5" in find().missing, reason="no parallel HDF5 here")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    path = tmp_path_factory.mktemp("ranks") / "a.nc"
    draw = np.random.default_rng(0).integers(-9, 9, (13, 6, 8))
    with netCDF4.Dataset(path, "w") as nc:
        for name, n in (("time", None), ("y", 6), ("x", 8)):
            nc.createDimension(name, n)
        packed = {"zlib": True, "shuffle": True, "chunksizes": (2, 6, 8)}
        nc.createVariable("sst", "f4", ("time", "y", "x"), fill_value=np.nan, **packed)[:] = draw
        nc["sst"][3, 2] = np.nan
        nc.createVariable("count", "u2", ("time", "y"))[:] = 60_000 + draw[:, :, 0]
    return path


@HERE
@pytest.mark.parametrize(
    ("variable", "chunks", "nbytes", "independent"),
    [("sst", (3, 6, 8), 13 * 6 * 8 * 4, False), ("count", (13, 6), 13 * 6 * 2, True)],
)
def test_ranks_write_and_compare_the_values_of_a_file(
    shared, tmp_path, variable, chunks, nbytes, independent
):
    target = Target("t", "netcdf4", Choice(chunks, "none" if independent else "deflate"))
    frame = bench(
        shared, [target], variables=[variable], repeats=1, workdir=tmp_path, ranks=3,
        independent=independent,
    )  # fmt: skip
    rows = frame[frame["experiment"] == "bench"]
    assert set(rows["status"]) <= {"ok", "discarded"}
    assert rows["verified"].all()
    by = rows.drop_duplicates("phase").set_index("phase")
    assert by.loc["data_write", "useful_bytes"] == by.loc["data_reread", "useful_bytes"] == nbytes
    assert by.loc["data_reread", "ranks"] == 3
    assert by.loc["close", "file_bytes"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_that_is_closed_early_stops_nothing(file, requests, monkeypatch):
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as closed, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", closed)
        assert main(["bench", "-q", "--json", "a.json", str(file)]) == OK
    assert Path("a.json").exists()
