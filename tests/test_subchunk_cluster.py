"""Many files indexed by a dask cluster, also when a worker dies meanwhile."""

import os
import signal
import threading
import time

import dask
import h5py
import numpy as np
import pytest
from distributed import LocalCluster

from hyperslab import subchunk
from hyperslab.cli import main
from hyperslab.subchunk.check import check
from hyperslab.subchunk.command import build_many

FILES = 80


def write(path, number):
    with h5py.File(path, "w") as file:
        values = np.arange(3000, dtype="f4").reshape(3, 1000) * number
        file.create_dataset("x", data=values, chunks=(1, 1000), compression=1, shuffle=True)


@pytest.fixture
def pairs(tmp_path, request):
    count = getattr(request, "param", 4)
    paths = [tmp_path / f"{number:03d}.h5" for number in range(count)]
    for number, path in enumerate(paths):
        write(path, number)
    return [(path, path.with_name(path.name + ".subchunk")) for path in paths]


@pytest.mark.parametrize("pairs", [FILES], indirect=True)
def test_a_worker_that_is_killed_costs_no_index(pairs, capsys):
    result = []
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        call = threading.Thread(
            target=lambda: result.append(build_many(pairs, scheduler=cluster.scheduler_address))
        )
        call.start()
        made = [target for _, target in pairs]
        until = time.monotonic() + 30
        while sum(target.exists() for target in made) < 10 and time.monotonic() < until:
            time.sleep(0.005)
        before = sum(target.exists() for target in made)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        call.join(60)
    assert before < FILES, "it was killed before all was done"
    assert result == [0]
    said = capsys.readouterr()
    assert said.out.count("% of ") == FILES and not said.err
    for number in (0, 7, 79):
        path = pairs[number][0]
        assert check(path) > 0
        with subchunk.open(path) as file:
            assert file["x"][2, 999] == 2999 * number


def test_files_that_fail_are_named_and_the_others_are_indexed(pairs, capsys):
    few = [str(path) for path, _ in pairs[:4]]
    pairs[1][0].write_text("no HDF5")
    pairs[2][0].unlink()
    assert main(["index", "--jobs", "2", *few]) == 1
    said = capsys.readouterr()
    assert said.out.count("% of ") == 2
    assert "001.h5 cannot be opened as HDF5" in said.err
    assert "002.h5" in said.err and "2 of 4 files failed" in said.err
    assert pairs[0][1].exists() and pairs[3][1].exists() and not pairs[1][1].exists()


def test_a_scheduler_that_is_not_there_is_named(pairs, capsys):
    few = [str(path) for path, _ in pairs[:2]]
    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
        assert main(["index", "--scheduler", "tcp://127.0.0.1:9", *few]) == 1
    assert "tcp://127.0.0.1:9" in capsys.readouterr().err
