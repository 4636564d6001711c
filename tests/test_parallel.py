"""What ranks write, how often they ask, and what is said of jobs that fail or are not here."""

import json
import os
import shlex
import signal
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_parallel import EACH, FOUND, C, needs
from samples import living, until

from hyperslab.parallel import found, launcher, program_build
from hyperslab.parallel.flash import flash
from hyperslab.parallel.found import Program, find
from hyperslab.parallel.job import RanksJob, run
from hyperslab.parallel.launcher import Launcher
from hyperslab.parallel.mpi_errors import AbsentError, DiedError, ParallelError, RanksError
from hyperslab.parallel.mpiio import runs
from hyperslab.parallel.patterns import pattern
from hyperslab.parallel.plan import Part, SharedArray, WritePlan
from hyperslab.parallel.ranks import explain
from hyperslab.parallel.report import read_report
from hyperslab.parallel.verify import holds

PATTERNS = ("interleaved", "rows", "overhang", "within", "spanning")


@given(st.sampled_from(PATTERNS), st.integers(1, 5), st.integers(1, 5), st.integers(1, 9))
def test_each_rank_writes_as_much_in_contiguous_runs_and_no_cell_twice(name, rows, columns, ranks):
    plan = pattern(name, rows, columns, ranks)
    (dataset,) = plan.datasets
    flat, times = np.full(int(np.prod(dataset.shape)), -1.0), np.zeros(dataset.shape, dtype=int)
    for part in dataset.parts:
        times[part.region] += 1
        for at, cells in runs(dataset, part, plan.values(0, part)):
            flat[at // 8 : at // 8 + cells.size] = cells.ravel()
    whole = plan.values(0, Part((0,) * 2, dataset.shape))
    assert times.max() == 1
    assert np.array_equal(flat.reshape(dataset.shape), np.where(times, whole, -1.0))
    assert plan.nbytes == 8 * rows * columns * ranks
    assert {plan.rank_bytes(rank) for rank in range(ranks)} == {8 * rows * columns}


def test_the_document_s_chunks_overhang_or_fit():
    overhang, within = (pattern(name, 16, 8, 8).datasets[0] for name in ("overhang", "within"))
    assert {part.start[1] // overhang.chunks[1] for part in overhang.parts} == {1}
    assert [part.start[1] // within.chunks[1] for part in within.parts] == [0] * 4 + [1] * 4
    spanning = pattern("spanning", 16, 8, 3).datasets[0]  # half of each of two chunks
    assert spanning.shape == (48, 16) and spanning.chunks == (48, 8)
    assert {(part.start[1], part.count[1]) for part in spanning.parts} == {(4, 8)}


def test_flash_writes_the_document_s_bytes_in_blocks_one_after_the_other():
    for file in ("checkpoint", "centres", "corners"):
        for dataset in flash(file, side=2, ranks=5, blocks=3).datasets:
            firsts = [(part.start[0], part.count[0]) for part in dataset.parts]
            assert firsts == [(0, 3), (3, 4), (7, 5), (12, 3), (15, 4)]
            assert all(part.count[1:] == dataset.shape[1:] for part in dataset.parts)
            assert dataset.shape[0] == 19
    for file, side, mb in (("checkpoint", 8, 31.8), ("centres", 16, 21), ("corners", 16, 25.4)):
        assert flash(file, side, ranks=4).nbytes / 1e6 == pytest.approx(mb, rel=0.02)
    assert flash("checkpoint", 16, 4).rank_bytes(0) / 1e6 == pytest.approx(60, rel=0.06)


@pytest.mark.parametrize("dtype", ["i1", "f4"])
@pytest.mark.parametrize(
    ("start", "count"), [((7, 0), (290, 200)), ((7, 3), (100, 50)), ((300, 0), (0, 200))]
)
def test_values_are_those_of_their_places(dtype, start, count):
    shape = (300, 200)
    plan = WritePlan((SharedArray("a", dtype, shape, (Part(start, count),)),))
    whole = (np.arange(300 * 200).reshape(shape) * 31) % (127 if dtype == "i1" else 16_777_213)
    (part,) = plan.datasets[0].parts
    found = plan.values(0, part)
    assert found.dtype == dtype and np.array_equal(found, whole[part.region])


def test_values_are_whole_in_each_type():
    plan = flash("checkpoint", side=2, ranks=1, blocks=1, as_bytes=True)
    values = plan.values(29, plan.datasets[29].parts[0])
    assert values.dtype == "i1" and values.min() >= 0 and len(np.unique(values)) > 60
    part = Part((990, 0), (5, 3000))
    plan = WritePlan(tuple(SharedArray(t, t, (1000, 3000), (part,)) for t in ("f8", "f4", "i4")))
    f8, f4, i4 = (plan.values(0, part).astype(t) for t in ("f8", "f4", "i4"))
    assert np.array_equal(f8, f4) and np.array_equal(f8, i4)
    assert len(np.unique(f8)) == f8.size
    assert f8[1, 2] == (991 * 3000 + 2) * 31 % 16_777_213
    with pytest.raises(ValueError, match="'f2', not one of"):
        SharedArray("x", "f2", (1000, 3000), (part,))


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


def test_what_only_hdf5_can_do_is_refused_of_others(tmp_path):
    plan = pattern("interleaved", 64, 8, 4)
    plan = replace(plan, datasets=tuple(replace(one, dtype="i8") for one in plan.datasets))
    with pytest.raises(ValueError, match="writes f8, f4, i4 and i1, and reads nothing: take hdf5"):
        RanksJob("pnetcdf", plan, tmp_path / "x")


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


PLAN = pattern("rows", 2, 2, 2)
NUMBER = "int(os.environ.get('PMI_RANK') or os.environ['OMPI_COMM_WORLD_RANK'])"
LAUNCHERS = [pytest.param(name, marks=needs(name)) for name in ("hdf5", "mpiio")]


def left(marker):
    """Processes whose command line holds a marker."""
    return [words for words in living().values() if marker in words]


@pytest.mark.parametrize("library", LAUNCHERS)
@pytest.mark.parametrize(
    ("code", "timeout_s", "told"),
    [
        (f"{NUMBER} == 1 and os.kill(os.getpid(), 9)", 30, "of 2 was killed by SIGKILL"),
        ("0", 0.5, "a job of 2 was stopped after 0.5 s"),
    ],
)
def test_a_job_whose_rank_dies_or_that_takes_too_long_is_ended(
    library, code, timeout_s, told, tmp_path
):
    words = (sys.executable, "-c", f"import os, time; {code}; time.sleep(60)", str(tmp_path))
    job = RanksJob(library, PLAN, tmp_path / "x", timeout_s=timeout_s)
    with pytest.raises(ParallelError, match=told):
        run(job, Program(library, words, FOUND[library].launcher))
    assert left(str(tmp_path)) == []


@needs("mpiio")
def test_ranks_end_with_the_process_that_started_them(tmp_path):
    marker = str(tmp_path / "rank")
    code = (
        "import sys; from pathlib import Path; from hyperslab.parallel.job import *; "
        "words = (sys.executable, '-c', 'import time; time.sleep(60)', sys.argv[1]); "
        "job = RanksJob('mpiio', pattern('rows', 2, 2, 2), Path(sys.argv[1])); "
        "run(job, Program('mpiio', words, find()['mpiio'].launcher))"
    )
    with subprocess.Popen([sys.executable, "-c", code, marker]) as parent:
        ranks = f"{sys.executable} -c import time;"
        until(lambda: sum(line.startswith(ranks) for line in left(marker)) == 2)
        parent.send_signal(signal.SIGKILL)
    until(lambda: not left(marker))


@needs("mpiio")
@needs("hdf5")
def test_a_program_started_by_another_mpi_is_refused(tmp_path):
    mine, its = FOUND["hdf5"], FOUND["mpiio"]
    if mine.launcher.kind == its.launcher.kind:
        pytest.skip("both are of one MPI")
    job = RanksJob("hdf5", PLAN, tmp_path / "x")
    with pytest.raises(RanksError, match=r"2 ranks were asked for .* another MPI than the program"):
        run(job, Program("hdf5", mine.words, its.launcher))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("told", "status", "kind", "text"),
    [
        ("hyperslab: a job of 1 where ranks=4 were asked for", 64, RanksError, "jobs of 1"),
        ("… unsupported PMI version PMIx. Aborting.", 16, RanksError, "no common job"),
        ("There are not enough slots available", 1, ParallelError, "slots for a job of 4"),
        ("srun: error: More processors requested than permitted", 1, ParallelError, "slots for"),
        ("hyperslab: rank 3: unk01: bad", 1, ParallelError, "rank 3 of 4: unk01: bad"),
        ("rank 2 with PID 0 on node x exited on signal 11 (Se", 139, DiedError, "SIGSEGV; whether"),
        ("EXIT CODE: 9\nYOUR APPLICATION … KILLED BY SIGNAL: 9", 9, DiedError, "SIGKILL: the mem"),
        ("=   EXIT CODE: 9", 9, ParallelError, "doctor"),  # a status, and no signal
        ("", -9, DiedError, "fewer ranks or give them less to write"),
        ("it just would not", 7, ParallelError, "status 7: it just would not; whether"),
    ],
)
def test_what_a_launcher_says_is_put_into_words_with_what_to_do(told, status, kind, text):
    error = explain(told, status, 4, Launcher(("/opt/bin/mpiexec",)))
    assert type(error) is kind
    assert text in str(error)
    assert "/opt" not in str(error) and "node x" not in str(error)


def test_what_is_missing_and_ranks_that_told_or_counted_nothing_are_named(tmp_path):
    program = Program("mpiio", ("true",), Launcher(("/no/mpiexec",)))
    with pytest.raises(AbsentError, match=r"launcher mpiexec cannot be started.*HYPERSLAB_MPI"):
        run(RanksJob("mpiio", PLAN, tmp_path / "x"), program)
    with pytest.raises(ParallelError, match=r"'gone', is missing: make it"):
        run(RanksJob("mpiio", PLAN, tmp_path / "gone" / "x"), program)
    with pytest.raises(ParallelError, match="a job of 2 was started and 0 told"):
        read_report(tmp_path, 2)
    for rank in range(2):
        told = {"rank": rank, "ranks": 2, "counted": rank == 0, "phases": []}
        (tmp_path / f"rank-{rank}.json").write_text(json.dumps(told))
    with pytest.raises(RanksError, match=r"all machines see .* XDG_CACHE_HOME"):
        read_report(tmp_path, 2)


OPEN_MPI = "mpiexec (OpenRTE) 4.1.4"


@pytest.fixture
def fresh():
    """Nothing is remembered from before, nor afterwards."""
    _forget()
    yield
    _forget()


def _forget():
    for function in (found._look, program_build.program, program_build.requests_library):
        function.cache_clear()


def made(program, said):
    """Make a program that says something."""
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    return str(program)


def test_a_compiler_that_is_missing_or_was_named_wrongly_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(found, "requests_library", lambda: tmp_path)
    monkeypatch.setenv("MPICC", "mpicc 'x")
    assert "MPICC is no command: No closing quotation" in find().missing["pnetcdf"]
    monkeypatch.setenv("MPICC", "/no/such/folder/mpicz -O3")
    why = find().missing["pnetcdf"]
    assert "'mpicz' of the environment variable MPICC is not found" in why
    fake = made(tmp_path / "mpicc", "")
    monkeypatch.setenv("MPICC", f"{shlex.quote(fake)} -O3 -Wno-unused")
    assert program_build.compilers() == [(fake, "-O3", "-Wno-unused")]
    monkeypatch.delenv("MPICC")
    monkeypatch.setenv("PATH", "")
    assert "no MPI compiler" in find().missing["pnetcdf"]


@needs("hdf5")
def test_a_library_of_another_mpi_is_not_taken(fresh, monkeypatch):
    """As in an active environment, whose mpicc comes first and finds the system's HDF5."""
    wheel = Path(sys.executable).with_name("mpicc")
    if wheel.samefile(FOUND["hdf5"].launcher.words[0].replace("mpiexec", "mpicc")):
        pytest.skip("HDF5 is of the same environment")
    monkeypatch.setenv(found.HIDDEN, "pnetcdf, mpiio")
    monkeypatch.setenv("MPICC", shlex.quote(str(wheel)))
    why = find().missing["hdf5"]
    # The wheel's compiler cannot say where its headers are in a folder with spaces.
    assert "another MPI (libmpi.so." in why or " " in str(wheel)
    monkeypatch.delenv("MPICC")
    monkeypatch.setenv("PATH", str(wheel.parent), prepend=os.pathsep)
    assert find()["hdf5"] == FOUND["hdf5"]


@needs("hdf5")
def test_a_program_is_compiled_once(fresh, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))
    monkeypatch.setenv(found.HIDDEN, "pnetcdf, mpiio")
    first = find()["hdf5"].words[0]
    assert first.startswith(str(tmp_path))
    before = Path(first).stat().st_mtime_ns
    _forget()
    assert find()["hdf5"].words[0] == first
    assert Path(first).stat().st_mtime_ns == before
    assert not list((tmp_path / "a cache" / "hyperslab").glob(".*"))


def test_a_site_s_launcher_is_used_with_its_options_and_refused_where_it_is_of_another_mpi(
    tmp_path, monkeypatch
):
    monkeypatch.setenv(launcher.OVERRIDE, f"{shlex.quote(sys.executable)} --mpi=pmix")
    chosen = launcher.beside("/no/such/mpicc")
    assert chosen.command(32) == (sys.executable, "--mpi=pmix", "-n", "32")
    assert launcher.of_mpi4py("MPICH") == chosen  # of an unknown kind, as a batch system's
    monkeypatch.setenv(launcher.OVERRIDE, made(tmp_path / "mpiexec", OPEN_MPI))
    assert launcher.of_mpi4py("Open MPI v5").kind == launcher.OPEN_MPI
    with pytest.raises(AbsentError, match=r"mpi4py uses MPICH, and .* names Open MPI's launcher"):
        launcher.of_mpi4py("MPICH Version: 5.0.2")
    monkeypatch.setenv(launcher.OVERRIDE, "no-such-launcher -x")
    (why,) = set(find().missing.values())
    assert "'no-such-launcher' of the environment variable HYPERSLAB_MPIEXEC is not found" in why


def test_open_mpi_is_asked_for_romio_and_the_user_comes_first(tmp_path, monkeypatch):
    made(tmp_path / "ompi_info", "mca:io:ompio:version\nmca:io:romio341:version:x")
    mpiexec = launcher.Launcher.of((made(tmp_path / "mpiexec", OPEN_MPI),))
    told = mpiexec.environment("a folder")
    assert told["OMPI_MCA_io"] == "romio341"
    assert told["OMPI_MCA_orte_tmpdir_base"] == "a folder"
    assert "--oversubscribe" in mpiexec.command(8)
    monkeypatch.setenv("OMPI_MCA_io", "ompio")
    assert "OMPI_MCA_io" not in mpiexec.environment("a folder")
