import platform
import sys
from pathlib import Path

import pytest

from hyperslab.cli import FAILED, OK, main
from hyperslab.measure import lock
from hyperslab.parallel.found import Found, Program
from hyperslab.parallel.launcher import Launcher
from hyperslab.parallel.mpi_errors import RanksError
from hyperslab.study import doctor
from hyperslab.study.doctor import Finding


def test_the_environment_has_what_the_study_needs_and_nobody_is_named(tmp_path):
    report = doctor.report(tmp_path / "not" / "there" / "yet")
    states = {found.subject: found.state for found in report}
    assert states["packages"] == "ok"
    assert list(tmp_path.iterdir()) == []
    text = doctor.render(report)
    for private in (str(tmp_path), str(Path.home()), sys.prefix):
        assert private not in text
    assert platform.node() not in text.split()


def test_a_package_out_of_bounds_is_named_and_one_of_another_system_is_not(tmp_path, monkeypatch):
    info = tmp_path / "toy-1.0.dist-info"
    info.mkdir()
    requires = ("numpy<1", "absent-toy", "other; extra == 'dev'")
    requires += ("elsewhere; sys_platform != 'none' and extra == 'study'",)
    lines = ["Metadata-Version: 2.1", "Name: toy", "Version: 1.0"]
    lines += [f"Requires-Dist: {one}" for one in requires]
    (info / "METADATA").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    bounded, absent = doctor.packages("toy", "study")
    assert "numpy is" in bounded.text and "must be <1" in bounded.text
    assert absent.text == "absent-toy is not installed"
    assert doctor.exit_status([absent]) == 1


def test_a_server_is_found_or_what_it_is_for_is_said_and_what_installs_it(tmp_path):
    found = doctor.lighttpd(search=str(tmp_path))
    assert (found.state, "claims penard-9*" in found.text) == ("note", True)
    assert "apt-get install" in found.remedy
    (tmp_path / "lighttpd").write_text("#!/bin/sh\n")
    (tmp_path / "lighttpd").chmod(0o755)
    assert doctor.lighttpd(search=str(tmp_path)).state == "ok"


def test_a_missing_compiler_says_what_is_left_out_and_what_installs_it(monkeypatch):
    assert doctor.c_kernel().state == "ok"
    monkeypatch.setenv("CC", "no-such-compiler")
    found = doctor.c_kernel()
    assert found.state == "note" and "lee-8" in found.text
    assert found.text.startswith("no C compiler: 'no-such-compiler' is not found")
    assert "apt-get install" in found.remedy


PROGRAMS = {
    name: Program(name, ("x",), Launcher(("mpiexec",), "MPICH")) for name in ("hdf5", "mpiio")
}


def test_what_can_write_in_parallel_is_tried_and_what_fails_stops_the_book(tmp_path):
    seen = []

    def start(program, folder, ranks):
        seen.append((program.library, folder.parent, folder.is_dir()))

    def fails(program, folder, ranks):
        if program.library == "hdf5":
            raise RanksError("2 ranks were asked for and srun started jobs of 1")
        return ranks

    one = "mpiexec of MPICH: 2 ranks came up"
    found = doctor.mpi(Found(PROGRAMS, {}), tmp_path / "build", start)
    assert found == Finding("MPI", "ok", f"hdf5 ({one}), mpiio ({one}) can write in parallel")
    assert seen == [("hdf5", tmp_path, True), ("mpiio", tmp_path, True)]
    assert list(tmp_path.iterdir()) == []
    found = doctor.mpi(Found(PROGRAMS, {}), tmp_path, fails)
    assert found.state == "problem"
    assert found.text.startswith("a job of 2 ranks fails: hdf5: 2 ranks were asked for and srun")
    assert f"mpiio ({one}) can write" in found.text
    assert found.remedy.endswith("HYPERSLAB_MPI_HIDDEN=hdf5")
    found = doctor.mpi(Found({}, {"hdf5": "mpicc: hdf5.h: No such file", "mpiio": "no mpi4py"}))
    assert found.state == "note"
    assert "hdf5: mpicc: hdf5.h: No such file" in found.text and "no mpi4py" in found.text
    assert "apt-get install gcc" in found.remedy and "pip install mpi4py" in found.remedy


@pytest.mark.skipif(not Path("/dev/shm").exists(), reason="/proc and /dev/shm are Linux's")
def test_where_nothing_can_be_written_it_stops_the_book_and_memory_is_never_cold():
    found = list(doctor.work_directory(Path("/proc/hyperslab")))
    assert doctor.exit_status(found) == 1
    assert "cannot be written" in found[0].text
    _disk, cold = doctor.work_directory(Path("/dev/shm/hyperslab"))
    assert cold.state == "note" and "cold reads are left out" in cold.text


def test_another_measuring_run_and_a_lock_that_cannot_be_taken_stop_the_book(tmp_path, monkeypatch):
    # The machine's own lock may be held by a run that is none of this test's business.
    path = tmp_path / "hyperslab-measuring.lock"
    monkeypatch.setattr("hyperslab.measure.lock.PATH", path)
    with lock.measuring():
        assert doctor.exit_status([doctor.busy()]) == 0
        with monkeypatch.context() as patch:  # what it puts back is gone before the lock is
            patch.delenv("HYPERSLAB_MEASURING")
            assert doctor.exit_status([doctor.busy()]) == 1
    path.unlink()
    path.mkdir()
    found = doctor.busy()
    assert found.state == "problem" and str(tmp_path) not in found.text


def test_the_report_ends_with_a_conclusion_and_fails_on_a_problem(monkeypatch, capsys):
    note, problem = Finding("a", "note", "x", "do y"), Finding("b", "problem", "z")
    for found, status, said in (
        ([], OK, "nothing is left out."),
        ([note], OK, "→ do y"),
        ([note, problem], FAILED, "1 problem must be mended before `make book`."),
    ):
        monkeypatch.setattr(doctor, "report", lambda work, found=found: found)
        assert main(["doctor"]) == status
        assert said in capsys.readouterr().out
