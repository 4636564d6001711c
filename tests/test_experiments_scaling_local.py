"""Several readers of one file: the same sums in every mode, and what each of them spent."""

import pytest

from data_gen.variable import variable
from hyperslab import subchunk
from hyperslab.experiments import scaling_local as local
from hyperslab.io.experiment import Case, File
from hyperslab.io.layout import Layout
from hyperslab.measure.case import Stopwatch
from hyperslab.measure.worker import Job, perform


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    ocean = variable("ocean", "uo", steps=2, nlat=40, nlon=130)
    folder = tmp_path_factory.mktemp("maps")
    made = {}
    for format in ("netcdf4", "zarr2"):
        layout = Layout(format, chunks=ocean.step_shape, codec="deflate", level=4, shuffle=True)
        made[format] = File(folder / f"maps{layout.suffix}", ocean, layout)
    ocean.write({file.path: file.layout for file in made.values()}, folder / "data")
    subchunk.build(made["netcdf4"].path, variables=["uo"])
    return made


def test_what_processes_spend_is_counted(files):
    watch = Stopwatch()
    path, shape = files["netcdf4"].path, (2, 40, 130)
    local.ReadTogether(path, "h5py", "uo", shape, local.PROCESSES, 2)(watch)
    row = watch.rows()[-1]
    assert row["user_s"] + row["sys_s"] > 0


def test_other_values_are_noticed(files):
    parts = local.ReadMaps(files["netcdf4"], "h5py").parts("warm")
    right = parts["run"](Stopwatch())
    assert parts["check"](right)
    assert not parts["check"](right + 1)
    assert not parts["check"](right[:1])


def test_a_reader_that_fails_loses_its_sample(files):
    path = files["netcdf4"].path.with_name("nothing.nc")
    work = local.ReadMaps(File(path, files["netcdf4"].array, files["netcdf4"].layout), "h5py")
    assert "nothing.nc" in perform(Job(Case({"reader": "h5py"}, work).ready())).status


@pytest.mark.parametrize("cores", [1, 2, 3, 8, 48])
def test_workers_double_up_to_the_cores(monkeypatch, cores):
    monkeypatch.setattr(local, "cores", lambda: cores)
    several = local.workers(beyond=False)
    assert several[-1] == max(cores, 2)
    assert several == sorted(set(several))
    assert local.workers(beyond=True) == [*several, 2 * several[-1]]
