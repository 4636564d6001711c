"""Which libraries write in parallel here, and why others do not."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ..kernels.kernel_build import KernelError
from .launcher import Launcher, beside, given, of_mpi4py
from .mpi_errors import AbsentError
from .program_build import compilers, program, requests_library

LIBRARIES = ("hdf5", "pnetcdf", "mpiio")  # the last is MPI-IO itself, through mpi4py
HIDDEN = "HYPERSLAB_MPI_HIDDEN"  # environment variable: libraries to leave out, with commas
INSTALL = (
    "Debian: apt-get install gcc libc6-dev openmpi-bin libopenmpi-dev libhdf5-openmpi-dev "
    "libpnetcdf-dev; "
    "conda: conda env create -f environment-mpi.yml"
)
INSTALL_PYTHON = "pip install mpi4py mpich"


@dataclass(frozen=True)
class Program:
    library: str  #: one of `LIBRARIES`
    words: tuple[str, ...]  #: the program that each rank runs
    launcher: Launcher  #: of the MPI it was built with


@dataclass(frozen=True)
class Found:
    programs: Mapping[str, Program]
    missing: Mapping[str, str]  #: why the others cannot be used

    def __getitem__(self, library: str) -> Program:
        if library in self.programs:
            return self.programs[library]
        why, remedy = self.missing[library], INSTALL_PYTHON if library == "mpiio" else INSTALL
        raise AbsentError(f"{library} cannot write in parallel here: {why} ({remedy})")

    def what_to_install(self) -> str:
        needed = {INSTALL_PYTHON if name == "mpiio" else INSTALL for name in self.missing}
        return "; ".join(sorted(needed, reverse=True))


def find() -> Found:
    """Look for each library, and compile its program where that was not done before."""
    hidden = frozenset(re.split(r"[ ,]+", os.environ.get(HIDDEN, "")))
    watched = tuple(os.environ.get(name, "") for name in ("PATH", "MPICC", "HYPERSLAB_MPIEXEC"))
    programs, missing = {}, {}
    for library in LIBRARIES:
        try:
            if library in hidden:
                raise AbsentError(f"hidden by {HIDDEN}")
            programs[library] = _look(library, watched)
        except (AbsentError, KernelError) as error:
            missing[library] = str(error)
    return Found(programs, missing)


@cache
def _look(library: str, _environment: tuple[str, ...]) -> Program:
    if sys.platform != "linux":
        raise AbsentError(f"requests are counted on Linux alone, this is {sys.platform}")
    given()
    requests_library()
    if library == "mpiio":
        return _mpi4py()
    errors = []
    for compiler in compilers():
        try:
            return Program(library, (str(program(library, compiler)),), beside(compiler[0]))
        except AbsentError as error:
            errors.append(str(error))
    raise AbsentError("; ".join(dict.fromkeys(errors)) or "no MPI compiler (mpicc)")


def _mpi4py() -> Program:
    code = (
        "import mpi4py; mpi4py.rc.initialize = False\n"
        "from mpi4py import MPI; print(MPI.Get_library_version())"
    )
    command = [sys.executable, "-c", code]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired as error:
        raise AbsentError("mpi4py does not answer within a minute") from error
    if done.returncode:
        message = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise AbsentError(f"mpi4py cannot be used: {message}")
    words = (sys.executable, "-m", "hyperslab.parallel.mpiio")
    return Program("mpiio", words, of_mpi4py(done.stdout))
