"""A mean by dask's workers: right with every chunking and without a worker, words from records."""

import os
import signal
import time

import numpy as np
import pytest
from distributed import default_client

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import frame_of
from hyperslab.measure.worker import Job
from hyperslab.study.scaling import reduce, reduce_results, reduce_words, workers
from hyperslab.study.scaling.reduce import ALIGNED, CACHED, INDEXED, MISALIGNED, TASKS
from hyperslab.study.scaling.reduce_files import FileSet


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    made = FileSet(folder / "data", folder / "scratch", 2, 3)
    made.make()
    return made


@pytest.fixture(scope="module")
def offered():
    with workers.offered("", 2) as found:
        yield found


def test_every_chunking_gives_the_mean(files, offered):
    assert len(offered.addresses) == 2
    cases = reduce.cases(files, offered, (1, 2), 10)
    assert len({case.name for case in cases}) == len(cases) == 10
    with Processes(reduce.MODULES) as running:
        for case in cases:
            outcome = running.run(Job(case, 60))
            assert outcome.status == "ok", f"{case.name}: {outcome.status}"
            assert outcome.cpu_s > 0
            assert outcome.rows[-1]["tasks"] > 0


def test_only_the_chosen_workers_work(files, offered):
    from distributed import Client

    chosen, other = offered.addresses
    with Client(offered.scheduler) as client:
        before = client.run(reduce.spent, workers=[other])[other]
        watch = Stopwatch()
        reduce.Reduce(files.paths, offered.scheduler, (chosen,), reduce.CHUNKINGS[ALIGNED])(watch)
        after = client.run(reduce.spent, workers=[other])[other]
    compressed = sum(path.stat().st_size for path in files.paths) / 2  # of its two variables
    assert watch.rows()[-1]["rchar"] > 0.8 * compressed
    assert after[2] - before[2] < 0.1 * compressed


def test_a_worker_that_is_killed_is_made_up_for(files, tmp_path):
    from distributed import Client

    with workers.offered("", 2) as found, Client(found.scheduler) as client:
        pids = client.run(os.getpid)
        slow = client.map(_slowly, range(6), pure=False)  # so that it dies with work in hand
        job = reduce.Reduce(files.paths, found.scheduler, (), reduce.CHUNKINGS[MISALIGNED])
        data = job.opened()
        future = client.compute(data.astype("f8").mean("time"))
        end = time.monotonic() + 30
        while not all(client.processing().values()) and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(pids[found.addresses[0]], signal.SIGKILL)
        assert reduce.IsMean(files.truth)(future.result(timeout=60).values)
        assert client.gather(slow) == list(range(6))
        client.wait_for_workers(2, timeout=60)
        assert pids[found.addresses[0]] not in client.run(os.getpid).values()
        data.close()


def _slowly(number):
    time.sleep(0.3)
    return number


def test_a_scheduler_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(workers, "TIMEOUT_S", 1)
    with (
        pytest.raises(OSError, match=r"no dask scheduler answers at 'tcp://127.0.0.1:9'.*empty"),
        workers.offered("tcp://127.0.0.1:9", 2),
    ):
        pass


def test_an_address_that_is_none(monkeypatch):
    with (
        pytest.raises(OSError, match="no dask scheduler answers at 'nowhere://x'"),
        workers.offered("nowhere://x", 2),
    ):
        pass
    with pytest.raises(ValueError, match="No clients found"):
        default_client()  # else what is computed next would wait for it


def test_nothing_starts_when_drawing():
    with workers.offered("", 2, drawing=True) as found:
        assert found == workers.Workers()


def test_other_values_are_noticed(files):
    truth = np.load(files.truth)
    assert reduce.IsMean(files.truth)(truth)
    assert not reduce.IsMean(files.truth)(truth * 1.001)
    assert np.isnan(truth).any(), "land is left out"


def records(slower):
    rows = []
    for mode in (ALIGNED, MISALIGNED, CACHED, INDEXED, TASKS):
        for count in (1, 2):
            for block in range(7):
                wall = slower.get(mode, 1.0) * (1 + 0.01 * block) / slower.get(count, 1)
                common = {
                    "case": f"{mode}/workers-{count}", "mode": mode, "ranks": count,
                    "block": block, "status": "ok", "tasks": 10, "predicted_reads": 6,
                }  # fmt: skip
                rows.append(common | {"phase": "compute", "wall_s": wall, "user_s": wall,
                                      "sys_s": 0.0, "rchar": 1e6})  # fmt: skip
                if mode != TASKS:
                    rows.append(common | {"phase": "open", "wall_s": 0.1})
    return frame_of(rows)


def test_words_follow_the_records():
    found = records({MISALIGNED: 4.0, INDEXED: 1.5, 2: 1.9, TASKS: 0.005})
    table = reduce_results.times(found)
    said = reduce_words.summary(found, table)
    assert "1.9× faster than by one, an efficiency of 95%" in said
    assert "into 4 bands were 4× slower; such bands through netCDF4" in said
    assert "index beside the files, 1.5×" in said or "50 % slower" in said
    assert "Give dask the files' chunks" in reduce_words.advice(found, table)
    assert "index the files" in reduce_words.advice(found, table)
    assert len(reduce_words.rows(table)) == 8
    even = records({2: 1.0})
    table = reduce_results.times(even)
    assert "not told apart from one worker's" in reduce_words.summary(even, table)
    assert "were no slower here" in reduce_words.advice(even, table)
    assert "index the files" not in reduce_words.advice(even, table)
    with pytest.raises(KeyError, match="no aligned by 3 workers"):
        reduce_results.one(table, ALIGNED, 3)
