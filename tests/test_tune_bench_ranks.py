"""`hyperslab bench --ranks`: a netCDF-4 file through MPI, and one message where MPI is missing."""

import netCDF4
import numpy as np
import pytest

from hyperslab.cli import OK, USAGE, main
from hyperslab.measure.case import Stopwatch
from hyperslab.parallel import find
from hyperslab.tune.bench import ranks
from hyperslab.tune.bench.engine import bench
from hyperslab.tune.report.compare import WrongValuesError
from hyperslab.tune.source import open_source
from hyperslab.tune.specs.target import Choice, Target

HERE = pytest.mark.skipif("hdf5" in find().missing, reason="no parallel HDF5 here")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("ranks") / "a.nc"
    draw = np.random.default_rng(0).integers(-9, 9, (13, 6, 8))
    with netCDF4.Dataset(path, "w") as nc:
        for name, n in (("time", None), ("y", 6), ("x", 8), ("z", 2), ("w", 1)):
            nc.createDimension(name, n)
        packed = {"zlib": True, "shuffle": True, "chunksizes": (2, 6, 8)}
        nc.createVariable("sst", "f4", ("time", "y", "x"), fill_value=np.nan, **packed)[:] = draw
        nc["sst"][3, 2] = np.nan
        nc.createVariable("count", "u2", ("time", "y"))[:] = 60_000 + draw[:, :, 0]
        nc.createVariable("many", "f4", ("time", "y", "x", "z", "w"))
    return path


@HERE
@pytest.mark.parametrize(("variable", "independent"), [("sst", False), ("count", True)])
def test_ranks_write_and_compare_the_values_of_a_file(file, tmp_path, variable, independent):
    codec = "none" if independent else "deflate"
    shape = (3, 6, 8) if variable == "sst" else (13, 6)
    target = Target("t", "netcdf4", Choice(shape, codec))
    frame = bench(
        file, [target], variables=[variable], repeats=1, workdir=tmp_path, ranks=3,
        independent=independent,
    )  # fmt: skip
    rows = frame[frame["experiment"] == "bench"]
    assert set(rows["status"]) == {"ok"}
    assert rows["verified"].all()
    by = rows.drop_duplicates("phase").set_index("phase")
    nbytes = 13 * 6 * 8 * 4 if variable == "sst" else 13 * 6 * 2
    assert by.loc["data_write", "useful_bytes"] == by.loc["data_reread", "useful_bytes"] == nbytes
    assert by.loc["data_reread", "ranks"] == 3
    assert by.loc["close", "file_bytes"] > 0
    assert list(tmp_path.iterdir()) == []


@HERE
def test_a_value_that_differs_is_found(file, tmp_path):
    with open_source(file) as source:
        variable = source.variables["sst"]
        ranks.put_values(source, variable, tmp_path / "values", 2**20)
        layout = Target("t", "netcdf4", Choice(codec="none")).layouts([variable])["sst"]
    sample = ranks.trial(variable, layout, 2, tmp_path / "values", independent=False)
    object.__setattr__(sample.job, "path", tmp_path / "copy.nc")
    sample(Stopwatch())
    values = np.fromfile(tmp_path / "values", "f4")
    values[100] += 1
    values.tofile(tmp_path / "values")
    with pytest.raises(WrongValuesError, match="differs"):
        sample._read()


@HERE
def test_the_table_is_printed_for_a_real_file(file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "--ranks", "4", "--repeats", "1", "--variables", "sst", str(file)]) == OK
    out = capsys.readouterr().out
    assert "written and read through MPI by 4 ranks, collective" in out
    assert [line for line in out.splitlines() if line.startswith("copy ")]


@HERE
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--ranks 0", "give at least 1"),
        ("--ranks 14", "give at most 13"),
        ("--ranks 2 --variables sst,count", "name one with --variables"),
        ("--ranks 2 --variables many", "has 5 dimensions"),
        ("--ranks 2 --patterns map", "--ranks with --patterns"),
        ("--ranks 2 --no-verify", "--ranks with --no-verify"),
        ("--ranks 2 -f zarr3", "not zarr3"),
        ("--ranks 2 --codec zstd", "not zstd"),
        ("--ranks 2 --independent", "collective calls only"),
        ("--independent", "give --ranks N too"),
    ],
)
def test_what_ranks_cannot_do_is_said_in_one_line(file, tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    given = words.split() + ([] if "--variables" in words else ["--variables", "sst"])
    assert main(["bench", "-q", *given, str(file)]) == USAGE
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_without_mpi_one_message_says_what_installs_it(file, monkeypatch, capsys):
    monkeypatch.setenv("HYPERSLAB_MPI_HIDDEN", "hdf5")
    assert main(["bench", "--ranks", "4", str(file)]) == USAGE
    err = capsys.readouterr().err
    assert "apt-get install" in err
    assert err.count("\n") == 1
