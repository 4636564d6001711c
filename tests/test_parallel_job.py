"""What each library writes is right, and its requests are as many as they are."""

from contextlib import nullcontext

import h5py
import pytest
from made_parallel import EACH, FOUND, C, needs

from hyperslab.parallel.errors import ParallelError
from hyperslab.parallel.flash import flash
from hyperslab.parallel.found import Program
from hyperslab.parallel.job import RanksJob, run
from hyperslab.parallel.patterns import pattern
from hyperslab.parallel.verify import holds

# Write requests of 4 ranks from the file's creation to its end: interleaved columns of 64 × 8.
INTERLEAVED = {
    ("hdf5", "independent"): range(4 * 64, 4 * 64 + 12),
    ("hdf5", "collective"): range(1, 12),
    ("hdf5", "individual"): range(1, 4 * 2 + 12),  # a block read, changed and written, or two
    ("pnetcdf", "collective"): range(1, 4),
    ("mpiio", "collective"): range(1, 2),
}


@pytest.mark.parametrize(
    ("library", "mode"), [pytest.param(*key, marks=needs(key[0])) for key in INTERLEAVED]
)
def test_interleaved_columns_are_written_in_so_many_requests(library, mode, tmp_path):
    plan = pattern("interleaved", 64, 8, 4)
    report = run(RanksJob(library, plan, tmp_path / "a file", mode))
    assert report.total("writes") in INTERLEAVED[library, mode]
    assert holds(plan, tmp_path / "a file", library)
    assert report["write"].written_bytes == plan.nbytes or mode == "individual"


@pytest.mark.parametrize("library", C)
def test_the_files_of_flash_hold_what_was_packed(library, tmp_path):
    plan = flash("checkpoint", side=4, ranks=3, blocks=2)
    path = tmp_path / "chk"
    report = run(RanksJob(library, plan, path, "collective"))
    assert holds(plan, path, library)
    assert [phase.name for phase in report.phases] == ["pack", "create", "write", "close"]
    plan = flash("checkpoint", side=4, ranks=2, blocks=1, as_bytes=True)
    run(RanksJob(library, plan, path, "collective"))
    assert holds(plan, path, library)
    if library == "hdf5":
        run(RanksJob(library, plan, path, reads=True))


@needs("hdf5")
def test_ranks_read_back_a_chunk_that_overhangs_and_what_differs_does_not_pass(tmp_path):
    plan, path = pattern("overhang", 16, 8, 2), tmp_path / "x.h5"
    assert run(RanksJob("hdf5", plan, path)).total("writes") >= 32  # a request a row
    reads = RanksJob("hdf5", plan, path, "collective", reads=True, read_only=True, times=2)
    report = run(reads)
    assert report["read"].reads > 0 and report.total("writes") == 0
    assert holds(plan, path, "hdf5")
    with h5py.File(path, "r+") as file:
        file["data"][31, 23] += 1
    assert not holds(plan, path, "hdf5")
    with pytest.raises(ParallelError, match="differs"):
        run(reads)


@needs("mpiio")
def test_each_request_takes_longer_by_the_latency(tmp_path):
    plan = pattern("interleaved", 20, 2, 2)
    report = run(RanksJob("mpiio", plan, tmp_path / "x", "rowwise", latency_s=0.005))
    assert report["write"].writes == 40
    assert report["write"].busiest == 20
    assert report["write"].wall_s >= 20 * 0.005
    assert holds(plan, tmp_path / "x", "mpiio")


@needs("pnetcdf")
def test_a_hint_reaches_mpi_io(tmp_path):
    plan, path = pattern("interleaved", 64, 8, 2), tmp_path / "x"
    sieved, plain = (
        run(RanksJob("pnetcdf", plan, path, hints=hints)).total("writes")
        for hints in ({}, {"romio_ds_write": "disable"})
    )
    assert sieved < 16 < 128 <= plain
    assert holds(plan, path, "pnetcdf")


@pytest.mark.parametrize("library", EACH)
def test_a_full_disk_is_named(library, tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERSLAB_REQUESTS_ROOM", "1000")
    plan = pattern("interleaved", 64, 8, 2)
    with pytest.raises(ParallelError, match=r"rank \d of 2.*No space left on device: make room"):
        run(RanksJob(library, plan, tmp_path / "x", "collective"))


@needs("hdf5")
@pytest.mark.parametrize(
    ("harm", "says"),
    [("", ""), ("truncate -s 9 $report/rank-1.json; ", "of 2 was killed by SIGSEGV")],
)
def test_a_rank_that_crashes_once_it_has_told_all_is_no_loss(harm, says, tmp_path):
    """As Open MPI 4's threads do now and then; where a report is cut it is a failure."""
    script = (
        'for word; do case $word in report=*) report=${word#report=} ;; esac; done; "$0" "$@"; '
        f"{harm}kill -SEGV $$"
    )
    plan, mine = pattern("rows", 4, 8, 2), FOUND["hdf5"]
    program = Program("hdf5", ("/bin/sh", "-c", script, *mine.words), mine.launcher)
    with pytest.raises(ParallelError, match=says) if says else nullcontext():
        assert run(RanksJob("hdf5", plan, tmp_path / "x"), program).total("writes") > 0
        assert holds(plan, tmp_path / "x", "hdf5")


@pytest.mark.parametrize(
    ("library", "mode", "hints", "says"),
    [
        ("hdf5", "rowwise", {}, "of mpiio alone"),
        ("pnetcdf", "individual", {}, "individual of hdf5"),
        ("hdf5", "both", {}, "independent, collective"),
        ("hdf5", "collective", {"cb_node": "1"}, "no hint 'cb_node'.* cb_nodes"),
    ],
)
def test_what_a_job_cannot_do_is_refused_before_it_starts(library, mode, hints, says, tmp_path):
    with pytest.raises(ValueError, match=says):
        RanksJob(library, pattern("rows", 1, 1, 2), tmp_path / "x", mode, hints)
