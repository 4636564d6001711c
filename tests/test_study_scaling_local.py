"""Several readers of one file: the same sums in every mode, speed-ups, words in each direction."""

import numpy as np
import pytest

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import frame_of
from hyperslab.measure.stats import Interval
from hyperslab.measure.worker import Job
from hyperslab.study.scaling import local, local_results, local_words
from hyperslab.study.scaling.local import ALONE, PROCESSES, THREADS
from hyperslab.study.scaling.local_files import SharedFiles


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("maps")
    made = SharedFiles(folder / "data", folder / "scratch", 2)
    made.make()
    return made


def test_every_way_and_mode_reads_the_maps(files):
    cases = local.cases(files, (2,))
    assert {case.columns["mode"] for case in cases} == {ALONE, THREADS, PROCESSES}
    with Processes(local.MODULES) as running:
        for case in cases:
            outcome = running.run(Job(case, 60))
            assert outcome.status == "ok", f"{case.name}: {outcome.status}"
            assert [row["phase"] for row in outcome.rows] == ["start", "read"]


def test_what_processes_spend_is_counted(files):
    path = files.path("netcdf")
    watch = Stopwatch()
    local.ReadMaps(path, "h5py", 2, PROCESSES, 2)(watch)
    row = watch.rows()[-1]
    assert row["user_s"] + row["sys_s"] > 0.005  # two maps take some ten milliseconds each
    assert row["useful_bytes"] == 2 * 4 * 380 * 1287


def test_wrong_sums_are_noticed(files):
    check = local.Sums(files.truth)
    right = np.load(files.truth)
    assert check(right)
    assert not check(right + 1)
    assert not check(right[:1])


@pytest.mark.parametrize("cores", [1, 2, 3, 8, 48])
def test_workers_end_with_the_cores(cores):
    several = local.workers(cores, beyond=False)
    assert several[-1] == max(cores, 2)
    assert list(several) == sorted(set(several))
    assert local.workers(cores, beyond=True)[-1] == max(2 * cores, 2)


def records(speedup):
    """Records of seven blocks, with these speed-ups and else none."""
    rows = []
    for way in local_results.NAMES:
        for mode, workers in ((ALONE, 1), (THREADS, 2), (PROCESSES, 2), (THREADS, 4)):
            gain = speedup.get((way, mode), 1.0)
            for block in range(7):
                common = {
                    "case": local.name(way, mode, workers), "mode": mode, "ranks": workers,
                    "block": block, "status": "ok", "cache_state": "warm",
                    "hints": local.BEYOND if workers > 2 else "", "predicted_reads": 12,
                }  # fmt: skip
                wall = (1 + 0.01 * block) / gain
                rows.append(common | {"phase": "start", "wall_s": 0.01})
                rows.append(
                    common
                    | {"phase": "read", "wall_s": wall, "user_s": 1.0, "sys_s": 0.0,
                       "useful_bytes": 1e6}
                )  # fmt: skip
    return frame_of(rows)


def test_speedups_are_paired_and_say_who_is_busy():
    table = local_results.speedups(records({("zarr", THREADS): 2.0, ("h5py", PROCESSES): 1.8}))
    found = local_results.one(table, "zarr", THREADS, 2)
    assert found.value == pytest.approx(2.0) and found.n == 7
    assert local_results.in_use(table, "h5py", PROCESSES, 2) == pytest.approx(1.8, rel=0.05)
    assert local_results.faster(table, "h5py", 2) == PROCESSES
    assert local_results.faster(table, "zarr", 2) == THREADS
    assert local_results.faster(table, "netcdf4", 2) == ""
    with pytest.raises(KeyError, match="no 3 threads of h5py"):
        local_results.one(table, "h5py", THREADS, 3)


def test_words_follow_the_records():
    table = local_results.speedups(records({("zarr", THREADS): 2.0, ("h5py", THREADS): 0.5}))
    said = local_words.summary(table)
    assert "Zarr, Blosc: 2× faster" in said and "h5py: 2× slower" in said
    assert "With 2 threads" in said, "more than cores is not what is told first"
    assert "Threads for Zarr, Blosc" in local_words.advice(table)
    assert "take turns" in local_words.why(table)
    busy = local_results.speedups(records({(way, THREADS): 2.0 for way in local_results.NAMES}))
    assert "No library made its threads take turns" in local_words.why(busy)
    assert local_words.rows(table)["efficiency"].iloc[0].endswith("%")


@pytest.mark.parametrize("way", list(local_results.NAMES))
def test_a_lock_is_named_only_where_there_is_one(way):
    fast = {(one, THREADS): 2.0 for one in local_results.NAMES if one != way}
    said = local_words.why(local_results.speedups(records(fast)))
    name, locked = local_results.NAMES[way], way in ("netcdf4", "h5py")
    assert (f"Threads of {name} take turns" in said) == locked
    assert (f"Threads of {name} kept fewer than 60%" in said) != locked


def test_one_block_is_no_verdict():
    several = records({("zarr", THREADS): 2.0, ("h5py", PROCESSES): 1.8})
    table = local_results.speedups(several[several["block"] == 0])
    assert "Zarr, Blosc: 2.00 times the speed of one, measured once" in local_words.summary(table)
    assert "take turns" not in local_words.why(table)
    assert "nothing is advised" in local_words.advice(table)
    assert "Threads for" not in local_words.advice(table)


def test_no_speedup_is_said_so():
    assert local_words.times(Interval(1.0, 0.9, 1.1, 7)).startswith("not told apart")


def test_samples_may_use_all_cores(files):
    """Threads of a sample that is kept on one core could gain nothing."""
    assert not any(case.pinned for case in local.cases(files, (2,)))
