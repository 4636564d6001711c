"""What is not here is told with its reason and what installs it."""

import os
import shlex
import sys
from pathlib import Path

import pytest
from made_parallel import FOUND, needs

from hyperslab.parallel import build, found, launcher
from hyperslab.parallel.errors import AbsentError
from hyperslab.parallel.found import find

OPEN_MPI = "mpiexec (OpenRTE) 4.1.4"


@pytest.fixture
def fresh():
    """Nothing is remembered from before, nor afterwards."""
    _forget()
    yield
    _forget()


def _forget():
    for function in (found._look, build.program, build.requests_library):
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
    assert build.compilers() == [(fake, "-O3", "-Wno-unused")]
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
