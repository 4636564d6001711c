"""Several readers of files, by processes and by dask: wrong values, what each of them spent."""

import numpy as np
import pytest
from distributed import Client, default_client
from made_layouts import in_layouts

from data_gen.dataset_variable import variable
from data_gen.ocean import FILL
from hyperslab import subchunk
from hyperslab.experiments import scaling_dask as dask
from hyperslab.experiments import scaling_local as local
from hyperslab.io.layout import Layout
from hyperslab.measure.case import Stopwatch


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    oceans = [variable("ocean", "uo", seed=n, steps=3, nlat=120, nlon=390) for n in range(2)]
    layout = Layout("netcdf4", chunks=(1, 120, 390), codec="deflate", level=4, shuffle=True)
    files = [in_layouts(folder, ocean, {f"{n}": layout})[f"{n}"] for n, ocean in enumerate(oceans)]
    for file in files:
        subchunk.build(file.path, variables=["uo"])
    dask.save_mean(oceans, float(FILL), folder / "mean.npy")
    return files, folder / "mean.npy"


def test_what_processes_spend_is_counted(files):
    watch, shape = Stopwatch(), (3, 120, 390)
    local.ReadTogether(files[0][0].path, "h5py", "uo", shape, local.PROCESSES, 2)(watch)
    row = watch.rows()[-1]
    assert row["user_s"] + row["sys_s"] > 0


def test_only_the_chosen_workers_work(files):
    stored, truth = files
    with dask.offered("", 2) as workers, Client(workers.scheduler) as client:
        work = dask.Reduce(stored, workers, 1, "h5netcdf", {"time": 2}, truth)
        chosen, other = workers.addresses
        before = client.run(dask.spent)
        watch = Stopwatch()
        work.parts("warm")["run"](watch)
        after = client.run(dask.spent)
    compressed = sum(file.path.stat().st_size for file in stored) / 2  # of its two variables
    assert watch.rows()[-1]["rchar"] > 0.8 * compressed
    assert after[chosen][2] - before[chosen][2] > 0.8 * compressed
    assert after[other][2] - before[other][2] < 0.4 * compressed  # a little of the system


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere://x"])
def test_a_scheduler_that_does_not_answer(monkeypatch, address):
    monkeypatch.setattr(dask, "TIMEOUT_S", 1)
    message = rf"no dask scheduler answers at '{address}'.*empty"
    with pytest.raises(OSError, match=message), dask.offered(address, 2):
        pass
    with pytest.raises(ValueError, match="No clients found"):
        default_client()  # else what is computed next would wait for it


def test_other_means_and_sums_are_noticed(files):
    (file, _), truth = files
    mean = np.load(truth)
    assert dask.is_mean(truth, mean)
    assert not dask.is_mean(truth, mean * 1.001)
    assert np.isnan(mean).any(), "land is left out"
    parts = local.ReadMaps(file, "h5py").parts("warm")
    right = parts["run"](Stopwatch())
    assert parts["check"](right)
    assert not parts["check"](right + 1)
    assert not parts["check"](right[:1])
