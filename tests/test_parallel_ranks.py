"""Jobs that fail are named, and leave no process behind."""

import json
import signal
import subprocess
import sys

import pytest
from made_parallel import FOUND, needs
from samples import until

from hyperslab.parallel.errors import AbsentError, DiedError, ParallelError, RanksError
from hyperslab.parallel.found import Program
from hyperslab.parallel.job import RanksJob, run
from hyperslab.parallel.launcher import Launcher
from hyperslab.parallel.patterns import pattern
from hyperslab.parallel.ranks import explain
from hyperslab.parallel.report import read_report

PLAN = pattern("rows", 2, 2, 2)
NUMBER = "int(os.environ.get('PMI_RANK') or os.environ['OMPI_COMM_WORLD_RANK'])"
LAUNCHERS = [
    pytest.param(name, marks=needs(name), id=FOUND[name].launcher.kind if here else name)
    for name in ("hdf5", "mpiio")
    for here in [name in FOUND.programs]
]


def left(marker):
    """Processes whose command line holds a marker."""
    said = subprocess.run(["ps", "axww", "-o", "args="], capture_output=True, text=True).stdout
    return [line for line in said.splitlines() if marker in line]


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
