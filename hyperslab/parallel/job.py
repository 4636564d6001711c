"""One write or read by several ranks, and what it cost."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..measure.parent import die_with
from .found import Program, find
from .launcher import OVERRIDE
from .mpi_errors import AbsentError, DiedError, ParallelError, RanksError
from .patterns import pattern
from .plan import WritePlan
from .program_build import requests_library
from .ranks import end, explain
from .report import Report, read_report
from .verify import holds

MODES = ("independent", "collective", "rowwise", "individual")
JOB = "job"  # the file of a job beside its plan, for a program in Python
TRIAL_S = 60.0  # a batch system's launcher may wait for a node for ever
_MODE_LIBRARY = {"rowwise": "mpiio", "individual": "hdf5"}  # see `experiments.chilan_patterns`
HINTS = (
    "romio_ds_write", "romio_ds_read", "romio_cb_write", "romio_cb_read", "cb_buffer_size",
    "cb_nodes", "cb_config_list", "ind_wr_buffer_size", "ind_rd_buffer_size", "striping_factor",
    "striping_unit",
)  # fmt: skip


@dataclass(frozen=True)
class RanksJob:
    library: str  #: one of `found.LIBRARIES`
    plan: WritePlan
    path: Path  #: the file
    mode: str = "independent"  #: one of `MODES`
    hints: Mapping[str, str] = field(default_factory=dict)  #: by their names, of `HINTS`
    latency_s: float = 0.0  #: seconds that each request to the file takes longer
    timeout_s: float = 300.0
    #: what the ranks run on; by default what this process may now run on
    cores: tuple[int, ...] = field(default_factory=lambda: _cores())
    # Of HDF5 alone:
    reads: bool = False  #: whether the file is read, and compared, instead of written
    read_only: bool = False  #: whether reading opens it for that alone
    times: int = 1  #: how often all is written or read
    serial: bool = False  #: whether it is opened without MPI, by one rank
    data: Path | None = None  #: plain file of the datasets' values, in place of made ones
    deflate: int = 0  #: level of the compression of chunks, 0 for none
    shuffle: bool = False  #: whether bytes are shuffled before

    def __post_init__(self) -> None:
        if self.mode not in MODES or _MODE_LIBRARY.get(self.mode, self.library) != self.library:
            raise ValueError(
                f"{self.library} has no mode {self.mode!r}: the modes are {', '.join(MODES)}, and "
                "rowwise is of mpiio alone, individual of hdf5"
            )
        types = {dataset.dtype for dataset in self.plan.datasets}
        if self.library != "hdf5" and (self.reads or types & {"i2", "i8"}):
            raise ValueError(
                f"{self.library} writes f8, f4, i4 and i1, and reads nothing: take hdf5"
            )
        for name in self.hints.keys() - set(HINTS):
            raise ValueError(
                f"no hint {name!r}: MPI would pass it over; it may be one of {', '.join(HINTS)}"
            )

    def words(self, folder: Path) -> list[str]:
        names = ("reads", "read_only", "times", "serial", "deflate", "shuffle")
        numbers = {"ranks": self.plan.ranks, **{name: getattr(self, name) for name in names}}
        numbers["datasets"] = len(self.plan.datasets)
        numbers["individual"] = self.mode == "individual"
        numbers["collective"] = self.mode in ("individual", "collective")
        texts = {"report": folder, "plan": folder / "plan", "file": self.path.absolute()}
        if self.data:
            texts["data"] = self.data.absolute()
        return [
            *(f"{name}={int(number)}" for name, number in numbers.items()),
            *(f"{name}={text}" for name, text in texts.items()),
            *(f"hint.{name}={value}" for name, value in self.hints.items()),
        ]


def run(job: RanksJob, program: Program | None = None) -> Report:
    program = program or find()[job.library]
    home = job.path.absolute().parent
    if not home.is_dir():
        raise ParallelError(f"the folder of the file, {home.name!r}, is missing: make it first")
    # Beside the file, because ranks on other machines see that folder.
    with tempfile.TemporaryDirectory(dir=home, prefix=".ranks-") as name:
        folder = Path(name)
        job.plan.table().tofile(folder / "plan")
        (folder / JOB).write_bytes(pickle.dumps(job))
        try:
            _run(job, program, folder)
        except DiedError as died:
            # A thread of Open MPI 4 may crash while MPI ends (seen once in a thousand jobs, on a
            # busy machine): by then each rank has closed the file and told what it did.
            try:
                return read_report(folder, job.plan.ranks)
            except (ValueError, RanksError):
                raise died from None
        return read_report(folder, job.plan.ranks)


def _run(job: RanksJob, program: Program, folder: Path) -> None:
    launcher, ranks, own_pid = program.launcher, job.plan.ranks, os.getpid()
    # The launcher itself stays without the library that counts: only the ranks are asked.
    settings = {
        "LD_PRELOAD": requests_library(),
        "HYPERSLAB_REQUESTS_FILE": job.path.absolute(),
        "HYPERSLAB_REQUESTS_NS": round(job.latency_s * 1e9),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "OMP_NUM_THREADS": 1,
        "OPENBLAS_NUM_THREADS": 1,
    }
    command = [*launcher.command(ranks), "/usr/bin/env", *(f"{n}={v}" for n, v in settings.items())]

    def prepare() -> None:
        die_with(own_pid, by=signal.SIGTERM)  # then the launcher ends its ranks too
        if job.cores:
            os.sched_setaffinity(0, job.cores)

    with (
        tempfile.TemporaryFile("w+") as output,
        tempfile.TemporaryDirectory(prefix="ranks-", ignore_cleanup_errors=True) as scratch,
    ):
        try:
            process = subprocess.Popen(
                [*command, *program.words, *job.words(folder)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=os.environ | launcher.environment(scratch),
                start_new_session=True,
                preexec_fn=prepare,
            )
        except OSError as error:
            raise AbsentError(
                f"the launcher {Path(command[0]).name} cannot be started ({error.strerror}): "
                f"install the MPI it belongs to, or name another in {OVERRIDE}"
            ) from error
        try:
            status = process.wait(job.timeout_s)
        except subprocess.TimeoutExpired as error:
            stopped = f"a job of {ranks} was stopped after {job.timeout_s:g} s"
            raise ParallelError(f"{stopped}: give it longer, or less to do") from error
        finally:
            end(process)
        output.seek(0)
        messages = [*(path.read_text() for path in folder.glob("failed-*")), output.read()]
    if status:
        raise explain("\n".join(messages), status, ranks, launcher)


def came_up(program: Program, folder: Path, ranks: int = 2) -> int:
    """Start a small job whose file is left in a folder, and return how many ranks came up: all."""
    plan = pattern("rows", rows=2, columns=4, ranks=ranks)
    path = folder / f"{program.library}.dat"
    run(RanksJob(program.library, plan, path, timeout_s=TRIAL_S), program)
    if not holds(plan, path, program.library):
        raise RanksError(
            f"a job of {ranks} was started, and the file is not what it was to write: choose a "
            "folder that all machines of the job see"
        )
    return ranks


def _cores() -> tuple[int, ...]:
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()
