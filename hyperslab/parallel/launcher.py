"""The program that starts ranks, and what it has to be told."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from .mpi_errors import AbsentError

OPEN_MPI, MPICH = "Open MPI", "MPICH"
OVERRIDE = "HYPERSLAB_MPIEXEC"  # environment variable: as "srun --mpi=pmix"


@dataclass(frozen=True)
class Launcher:
    words: tuple[str, ...]  #: without the number of ranks, which it takes as -n
    kind: str = ""  #: OPEN_MPI, MPICH, or "" for one that is not known, as a batch system's
    of_site: bool = False  #: whether the user named it: it then gets no options but its own
    romio: str = ""  #: the component of Open MPI that is ROMIO: asking takes as long as a small job

    @classmethod
    def of(cls, words: tuple[str, ...], *, of_site: bool = False) -> "Launcher":
        kind = kind_of(words[0])
        return cls(words, kind, of_site, _romio(words[0]) if kind == OPEN_MPI else "")

    @property
    def name(self) -> str:
        program = Path(self.words[0]).name
        if self.of_site:
            return f"{shlex.join((program, *self.words[1:]))}, of {OVERRIDE}"
        return f"{program} of {self.kind}" if self.kind else self.words[0]

    def command(self, ranks: int) -> tuple[str, ...]:
        # Ranks that wait for one another need no core each, and requests that wait need none.
        plain = self.kind != OPEN_MPI or self.of_site
        options = () if plain else ("--oversubscribe", "--bind-to", "none")
        return (*self.words, *options, "-n", str(ranks))

    def environment(self, folder: str) -> dict[str, str]:
        """Return what this launcher's MPI needs to be told; settings of the user come first."""
        if self.kind != OPEN_MPI:
            return {}
        settings = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}  # refused in containers
        if self.romio:
            settings["OMPI_MCA_io"] = self.romio
        if not self.of_site:
            # Open MPI 4's jobs of one user share a folder otherwise, which one that ends removes
            # while another starts in it (one start of 200, with two at a time).
            settings["OMPI_MCA_orte_tmpdir_base"] = folder
            # No network is looked for, which takes longer than the job; ranks that wait for one
            # another leave the cores to those that work.
            settings |= {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "^tcp,openib,uct,usnic,ofi"}
            settings |= {"OMPI_MCA_mpi_yield_when_idle": "1"}
        if os.geteuid() == 0:
            settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return {name: value for name, value in settings.items() if name not in os.environ}


def beside(compiler: str) -> Launcher:
    path = Path(compiler)
    names = (f"mpiexec{path.suffix}", "mpiexec", "mpirun")
    if launcher := given():
        return launcher
    for mpiexec in programs(names, [str(path.parent)]):
        return Launcher.of((mpiexec,))
    raise AbsentError(f"no mpiexec beside {path.name}")


def of_mpi4py(version: str) -> Launcher:
    kind = OPEN_MPI if OPEN_MPI in version else MPICH
    if site := given():
        if site.kind and site.kind != kind:
            raise AbsentError(f"mpi4py uses {kind}, and {OVERRIDE} names {site.kind}'s launcher")
        return site
    names = ("mpiexec", "mpiexec.openmpi", "mpiexec.mpich", "mpirun")
    for mpiexec in programs(names, [str(Path(sys.executable).parent), *os.get_exec_path()]):
        if kind_of(mpiexec) == kind:
            return Launcher.of((mpiexec,))
    raise AbsentError(f"mpi4py uses {kind}, and no mpiexec of that is found")


def given() -> Launcher | None:
    words = named(OVERRIDE)
    return Launcher.of(words, of_site=True) if words else None


def named(variable: str) -> tuple[str, ...]:
    """Return the command in an environment variable, () where there is none."""
    try:
        words = shlex.split(os.environ.get(variable, ""))
    except ValueError as error:
        raise AbsentError(f"the environment variable {variable} is no command: {error}") from error
    if not words:
        return ()
    if program := shutil.which(words[0]):
        return (program, *words[1:])
    name = Path(words[0]).name
    raise AbsentError(f"{name!r} of the environment variable {variable} is not found")


@cache
def kind_of(launcher: str) -> str:
    output = _output(launcher, "--version")
    if re.search(r"Open ?MPI|OpenRTE|PRRTE|prterun", output):
        return OPEN_MPI
    return MPICH if re.search(r"HYDRA|MPICH|Intel\(R\) MPI", output) else ""


@cache
def _romio(launcher: str) -> str:
    """Return the name of ROMIO's component: Open MPI's own MPI-IO heeds none of its hints."""
    output = _output(str(Path(launcher).with_name("ompi_info")), "--parsable")
    match = re.search(r"mca:io:(romio\w+):", output)
    return match[1] if match else ""


def programs(names: Iterable[str], folders: Iterable[str]) -> Iterator[str]:
    for folder, name in product(folders, names):
        if path := shutil.which(name, path=folder):
            yield path


def _output(*words: str) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
