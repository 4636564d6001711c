"""`hyperslab bench`: every option is heard, and what cannot be had is said in one line."""

import json
import sys

import h5py
import netCDF4
import numpy as np
import pandas as pd
import pytest
from made_bench import bench_frame

from hyperslab.cli import FAILED, OK, USAGE, main
from hyperslab.measure import records
from hyperslab.tune.bench import command as bench_command
from hyperslab.tune.bench import engine
from hyperslab.tune.copy_plan import MemoryLimitError


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "sst.nc"
    with netCDF4.Dataset(path, "w") as nc:
        for name, length in (("time", None), ("lat", 20), ("lon", 30)):
            nc.createDimension(name, length)
        days = nc.createVariable("time", "f8", ("time",))
        days.units = "days since 2000-01-01"
        days[:] = np.arange(12)
        sst = nc.createVariable(
            "sst", "f4", ("time", "lat", "lon"), zlib=True, chunksizes=(1, 20, 30)
        )
        sst[:] = np.arange(12 * 600).reshape(12, 20, 30)
        nc.createVariable("sst_error", "f4", ("lat", "lon"))[:] = 1
    return path


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Measure nothing: keep what was asked for, and give made-up records."""
    kept = []

    def measure(arguments, asked):
        kept.append((arguments, asked))
        return bench_frame(), ["a note"]

    monkeypatch.setattr(bench_command, "_measure", measure)
    monkeypatch.chdir(tmp_path)
    return kept


def test_with_a_file_alone_the_largest_variable_is_tried(file, asked, capsys):
    assert main(["bench", str(file)]) == OK
    ((_, found),) = asked
    assert found.names == ("sst",)
    assert found.targets[0].name == "copy"
    assert 3 <= len(found.targets) <= 6
    assert [pattern.name for pattern in found.patterns] == ["time_series", "map", "whole"]
    assert found.memory_bytes == 256 * 2**20
    out, err = capsys.readouterr()
    assert "1x72x144 is 4" in out or "1x72x144 is 3.96" in out
    assert "note: a note" in out
    assert "reads: time_series, map, whole" in err


def test_every_option_is_heard(file, asked):
    words = (
        "--variables sst,sst_error --chunks lat=10 --chunks default --codec zstd:3 -e 2 "
        "--cache 1MiB --no-shuffle --patterns map,row -s 3 -t sst:0:0:0 -u sst:1:20:30 "
        "-r sst:2:0:0 --memory 1MiB --repeats 3 --no-verify --seed 5 -q -v"
    )
    assert main(["bench", *words.split(), str(file)]) == OK
    ((arguments, found),) = asked
    assert found.names == ("sst", "sst_error")
    assert [target.name for target in found.targets] == [
        "copy", "lat=10", "default chunks",
    ]  # fmt: skip
    assert found.head.endswith("new layouts: zstd:3 no shuffle big-endian cache 1MiB")
    assert [pattern.name for pattern in found.patterns] == ["map", "row", "slabs/3", "boxes"]
    assert len(found.patterns[-1].selections([Sst])["sst"]) == 6
    assert (found.memory_bytes, arguments.repeats, arguments.seed) == (2**20, 3, 5)
    assert not arguments.verify


class Sst:
    name, dims, shape, dtype, unlimited = "sst", ("time", "lat", "lon"), (12, 20, 30), "f4", ()


def test_results_go_into_files(file, asked, tmp_path):
    words = [f"--{kind}={tmp_path}/a.{kind}" for kind in ("csv", "json", "parquet", "html")]
    assert main(["bench", *words, f"--plot={tmp_path}/a.png", "-q", str(file)]) == OK
    table = pd.read_csv(tmp_path / "a.csv")
    assert list(table.columns[1:4]) == ["input format", "output_format", "input size"]
    assert len(table) == 3
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["best_over_all"] == "1x72x144"
    assert found["notes"] == ["a note"]
    assert len(records.load(tmp_path / "a.parquet")) == len(bench_frame())
    assert (tmp_path / "a.png").stat().st_size > 1000
    assert "<li>a note</li>" in (tmp_path / "a.html").read_text()


def test_csv_may_be_piped(file, asked, capsys):
    assert main(["bench", "--csv", "-", "-q", str(file)]) == OK
    out, err = capsys.readouterr()
    assert out.startswith("target,input format,output_format,")
    assert "1x72x144 is" in err


@pytest.mark.parametrize(
    "status", ["OSError: no space left on device", "WrongValuesError: differs"]
)
def test_a_layout_that_failed_or_is_wrong_gives_exit_code_1(file, monkeypatch, tmp_path, status):
    frame = bench_frame()
    frame.loc[frame["case"] == "1x72x144", "status"] = status
    monkeypatch.setattr(bench_command, "_measure", lambda *_: (frame, []))
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "-q", str(file)]) == FAILED


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("none.nc", "does not exist"),
        ("FILE --variables u", "no variable 'u'"),
        ("FILE --chunks 1,21,30", "lat of sst has length 20, and a chunk of 21 is longer"),
        ("FILE --chunks depth=2", "no variable has a dimension depth"),
        ("FILE --chunks 1,2", "fit no variable"),
        ("FILE --memory lots", "give bytes"),
        ("FILE --repeats 0", "give at least 1"),
        ("FILE --plot a.nc", ".png, .svg or .pdf"),
        ("FILE --csv no/where.csv", "does not exist: make it first"),
        ("FILE --csv - --json -", "give one of them a file"),
        ("FILE --csv .", "is a folder: give the name of a file"),
        ("FILE -o FILE", "is the file itself"),
        ("FILE --csv a.txt --json ./a.txt", "--csv and --json are both"),
        ("FILE --workdir nowhere", "no such folder"),
        ("FILE --keep FILE", "is a file: give the name of a folder"),
        ("FILE --keep FILE/a", "cannot be made"),
        ("FILE --keep here", "copy.nc exists: remove it"),
        ("FILE --keep there -o there/copy.nc", "its folder does not exist"),
        ("FILE --keep here/a --csv here/b -o here/copy.nc", "exists"),
        ("FILE -o .", "exists"),
        ("FILE --patterns diagonal", "give some of time_series"),
        ("FILE --patterns profile", "has such a read"),
        ("FILE -s 0", "give at least 1"),
        ("FILE -t 1:0:0:0", "give -u and -r too"),
        ("FILE -t 0:0 -u 1:1:1:1 -r 1:1:1:1", "different variables"),
        ("FILE -t sst:0:0:0 -u sst:1:21:1 -r sst:1:1:1", "lat of length 20"),
        ("FILE -c 5:-1:0", "0 time, 1 sst, 2 sst_error"),
        ("FILE --codec zip", "give none"),
        ("FILE -f 9", "1 netcdf3"),
        ("FILE -f 1 --codec zstd", "it takes no codec"),
        ("FILE --grid colour=red", "NAME=VALUE"),
        ("FILE --codec zstd --grid codec=none/zstd", "together"),
        ("FILE -e 3", "1 or little"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_line(file, asked, capsys, tmp_path, words, said):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "copy.nc").touch()
    given = [word.replace("FILE", str(file)) for word in words.split()]
    assert main(["bench", *given]) == USAGE
    out, err = capsys.readouterr()
    assert said in err
    assert err.startswith("hyperslab bench: ")
    assert err.count("\n") == 1
    assert (out, asked) == ("", [])


def test_ctrl_c_ends_in_one_line(file, monkeypatch, tmp_path, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_command, "_measure", interrupted)
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "-q", str(file)]) == FAILED
    out, err = capsys.readouterr()
    assert (out, err.strip()) == ("", "interrupted: the copies are removed, the file is as it was")


def test_a_file_is_measured_and_the_winner_written(file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["--chunks", "12,5,6", "--repeats", "2", "--patterns", "map", "-o", "best.nc"]
    assert main(["bench", *words, "--keep", "kept", "--csv", "a.csv", str(file)]) == OK
    out, err = capsys.readouterr()
    assert "12x5x6: best.nc, with sst, time\n" in err
    assert "best.nc lacks sst_error: --variables says" in err
    assert "12x5x6" in out
    assert "map, cold" in out or "cold reads could not be measured" in out
    with netCDF4.Dataset("best.nc") as nc, netCDF4.Dataset(file) as source:
        assert nc["sst"].chunking() == [12, 5, 6]
        assert np.array_equal(nc["sst"][:], source["sst"][:])
        assert np.array_equal(nc["time"][:], source["time"][:])
        assert nc["time"].units == source["time"].units
        assert "sst_error" not in nc.variables
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["12x5x6.nc", "copy.nc"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "best.nc", "kept"]
    table = pd.read_csv("a.csv").set_index("target")
    assert 0 < table.loc["12x5x6", "output size"] < (tmp_path / "best.nc").stat().st_size
    assert table.loc["12x5x6", "verified"]
    assert (table["data reread time"] > 0).all()


def test_wrong_values_are_told_with_their_reason(tmp_path, monkeypatch, capsys):
    """GranularBitRound of netCDF-C makes NaN zero, also where it is the fill value."""
    monkeypatch.chdir(tmp_path)
    with netCDF4.Dataset("a.nc", "w") as nc:
        nc.createDimension("x", 100)
        nc.createVariable("v", "f4", ("x",), fill_value=np.nan)[:] = [np.nan] + [1] * 99
    words = ["--quantize", "granular_bitround:3", "--repeats", "1", "--patterns", "none", "a.nc"]
    assert main(["bench", "--chunks", "50", *words]) == FAILED
    out, err = capsys.readouterr()
    assert "granular_bitround makes the missing values of v" in err
    assert "\nWRONG VALUES: 50 granular_bitround:3: v of the copy is wrong in [0:100]: 1 of" in out
    assert "samples were lost" not in out  # said once
    why = "first at [0]: nan became -0.0, because netCDF-C's granular_bitround does not"
    assert why in " ".join(out.split())  # however wide the terminal is
    assert main(["bench", "--no-copy", "--chunks", "50", *words]) == FAILED  # none succeeded
    assert "v of the copy is wrong" in capsys.readouterr().err


def test_what_is_known_beforehand_is_said_beforehand(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "measure", lambda *_, **__: sys.exit("measuring"))
    with netCDF4.Dataset("a.nc", "w") as nc:
        nc.createDimension("x", None)
        nc.createDimension("y", None)
        nc.createVariable("v", "f4", ("x", "y"))[:] = np.ones((3, 4))
    words = ["bench", "--format", "1", "--no-copy", "--patterns", "none", "a.nc"]
    with pytest.raises(SystemExit, match="measuring"):
        main(words)
    assert "note: netcdf3: x, y are of fixed length in the copy" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="measuring"):
        main([*words, "-q"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("name", "said"), [("copy", "(--no-copy)"), ("a", "take smaller chunks")])
def test_a_copy_that_needs_too_much_memory_may_be_left_out(file, monkeypatch, capsys, name, said):
    def refuse(*_, **__):
        raise MemoryLimitError(f"{name}: allow at least 300 MiB, or take smaller chunks")

    monkeypatch.setattr(engine, "bench", refuse)
    assert main(["bench", "-q", str(file)]) == USAGE
    assert capsys.readouterr().err.endswith(f"{said}\n")


def test_a_notebook_gets_the_records(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["-c", "1:-1:0:12:5:6", "--no-copy", "--patterns", "none", "--repeats", "1", str(file)]
    frame = bench_command.measured(words)
    assert set(frame.loc[frame["experiment"] == "bench", "case"]) == {"12x5x6"}
    assert not list(tmp_path.iterdir())


def test_names_from_a_file_do_not_steer_the_terminal(tmp_path, capsys):
    path = tmp_path / "odd.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a\x1b[31mred\n\u202eb", data=np.ones((20, 20)), chunks=(5, 5))
    told = []
    for words in (["advise", "--rough", "--no-measure"], ["index"], ["index", "--info"]):
        assert main([*words, str(path)]) == OK
        told.append("".join(capsys.readouterr()))
    assert main(["bench", "--variables", "none", str(path)]) == USAGE
    told.append("".join(capsys.readouterr()))
    assert all("a [31mred" in told[n] for n in (0, 2, 3))
    assert {c for text in told for c in text if not c.isprintable()} <= {"\n"}
