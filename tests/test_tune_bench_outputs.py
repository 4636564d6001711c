"""What is written beside the report has names of its own, and a closed pipe stops nothing."""

import os
import subprocess
import sys

import netCDF4
import pytest

from hyperslab.cli import OK, USAGE, main
from hyperslab.tune.bench import outputs as bench_outputs
from hyperslab.tune.specs.target import Target


@pytest.fixture
def file(tmp_path):
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as nc:
        nc.createDimension("x", 4)
        nc.createVariable("v", "f4", ("x",))[:] = 1
    return tmp_path / "a.nc"


def test_kept_layouts_have_names_of_their_own(file, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept").mkdir()
    words = ["--keep", "kept", "-o", "kept/copy.nc"]
    assert main(["bench", *words, str(file)]) == USAGE
    assert "is to be written twice" in capsys.readouterr().err
    paths = bench_outputs._kept_paths(tmp_path, [Target("a b"), Target("a/b"), Target("c", "hdf5")])
    assert [path.name for path in paths.values()] == ["a-b.nc", "a-b-2.nc", "c.h5"]


def test_a_pipe_that_is_closed_early_stops_nothing(file, tmp_path):
    code = (
        "import sys\n"
        "from made_bench import bench_frame\n"
        "from hyperslab.tune.bench import command\n"
        "from hyperslab.cli import main\n"
        "command._measure = lambda *_: (bench_frame(), [])\n"
        "sys.exit(main(['bench', '-q', '--json', 'a.json', *sys.argv[1:]]))\n"
    )
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)], stdout=write_end, stderr=subprocess.PIPE,
        text=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    os.close(write_end)
    assert (done.returncode, done.stderr) == (OK, "")
    assert (tmp_path / "a.json").exists()
