"""One write or read by several ranks, and what it cost."""

import os
import pickle
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .build import requests_library
from .errors import DiedError, ParallelError, RanksError
from .found import LIBRARIES, Program, find
from .patterns import pattern
from .plan import WritePlan
from .ranks import run as run_ranks
from .report import Report, read_report
from .verify import holds

MODES = ("independent", "collective", "rowwise", "individual")
"""Each rank for itself; all together; through MPI-IO alone, a call for each contiguous run; through
HDF5 alone, collective calls in which each rank hands its whole selection to MPI-IO for itself."""
JOB = "job"
"""The file of a job beside its plan, for a program in Python."""
TRIAL_S = 60.0  # a batch system's launcher may wait for a node for ever
_OF_ONE = {"rowwise": "mpiio", "individual": "hdf5"}
HINTS = (
    "romio_ds_write", "romio_ds_read", "romio_cb_write", "romio_cb_read", "cb_buffer_size",
    "cb_nodes", "cb_config_list", "ind_wr_buffer_size", "ind_rd_buffer_size", "striping_factor",
    "striping_unit",
)  # fmt: skip
"""What MPI-IO may be asked for; it says nothing of a name that it does not know."""


@dataclass(frozen=True)
class RanksJob:
    """What several ranks do with one file.

    Parameters
    ----------
    library : str
        One of `LIBRARIES`.
    plan : WritePlan
    path : Path
        The file.
    mode : str
        One of `MODES`.
    hints : mapping
        Of `HINTS`.
    latency_s : float
        Seconds that each request to the file takes longer.
    timeout_s : float
    cores : tuple of int
        What the ranks run on; by default what this process may now run on.
    reads, read_only : bool
        Whether HDF5 reads the file, and compares it, instead of writing; and opens it for that
        alone.
    times : int
        How often HDF5 reads or writes all.
    serial : bool
        Whether HDF5 opens it without MPI (one rank).
    data : Path
        Plain file of the values that HDF5 writes and compares, the datasets one after another, in
        place of made ones.
    deflate, shuffle : int, bool
        Level of HDF5's compression of chunks, 0 for none; whether bytes are shuffled before.

    Raises
    ------
    ValueError
        For an unknown library, mode or hint, or a mode that the library lacks.

    Examples
    --------
    >>> from hyperslab.parallel import pattern
    >>> plan = pattern("rows", rows=2, columns=4, ranks=2)
    >>> RanksJob("hdf5", plan, Path("x.h5"), "collective", {"romio_ds_writ": "disable"})
    Traceback (most recent call last):
    ...
    ValueError: no hint 'romio_ds_writ': MPI would pass it over; it may be one of ...
    """

    library: str
    plan: WritePlan
    path: Path
    mode: str = "independent"
    hints: Mapping[str, str] = field(default_factory=dict)
    latency_s: float = 0.0
    timeout_s: float = 300.0
    cores: tuple[int, ...] = field(default_factory=lambda: _cores())
    reads: bool = False
    read_only: bool = False
    times: int = 1
    serial: bool = False
    data: Path | None = None
    deflate: int = 0
    shuffle: bool = False

    def __post_init__(self) -> None:
        if self.library not in LIBRARIES:
            raise ValueError(f"the library is {self.library!r}, not one of {', '.join(LIBRARIES)}")
        if self.mode not in MODES or _OF_ONE.get(self.mode, self.library) != self.library:
            raise ValueError(
                f"{self.library} has no mode {self.mode!r}: the modes are {', '.join(MODES)}, and "
                "rowwise is of mpiio alone, individual of hdf5"
            )
        for name in self.hints:
            if name not in HINTS:
                raise ValueError(
                    f"no hint {name!r}: MPI would pass it over; it may be one of {', '.join(HINTS)}"
                )
        if self.serial and self.plan.ranks != 1:
            raise ValueError("serial is for one rank")
        alone = (self.reads, self.times > 1, self.serial, self.data, self.deflate, self.shuffle)
        if self.library != "hdf5" and any(alone):
            raise ValueError(
                f"{self.library} writes made values, once: hdf5 alone takes reads, times, serial, "
                "data, deflate and shuffle"
            )

    def words(self, folder: Path) -> list[str]:
        """Return what its program is told, whose plan and report lie in a folder."""
        numbers = {
            "ranks": self.plan.ranks,
            "reads": self.reads,
            "collective": self.mode in ("collective", "individual"),
            "individual": self.mode == "individual",
            "serial": self.serial,
            "read_only": self.read_only,
            "times": self.times,
            "deflate": self.deflate,
            "shuffle": self.shuffle,
        }
        texts: dict[str, object] = {
            "report": folder,
            "plan": folder / "plan",
            "file": self.path.absolute(),
        }
        texts |= {"data": self.data.absolute()} if self.data else {}
        texts |= {f"hint.{name}": value for name, value in self.hints.items()}
        return [
            *(f"{name}={int(number)}" for name, number in numbers.items()),
            *(f"{name}={text}" for name, text in texts.items()),
        ]


def run(job: RanksJob, program: Program | None = None) -> Report:
    """Run a job and return what it cost."""
    program = program or find()[job.library]
    home = job.path.absolute().parent
    if not home.is_dir():
        raise ParallelError(f"the folder of the file, {home.name!r}, is missing: make it first")
    # Beside the file, because ranks on other machines see that folder.
    with tempfile.TemporaryDirectory(dir=home, prefix=".ranks-") as place:
        folder = Path(place)
        (folder / "plan").write_text(job.plan.text() + "\n")
        (folder / JOB).write_bytes(pickle.dumps(job))
        try:
            run_ranks(
                program.launcher,
                job.plan.ranks,
                [*program.words, *job.words(folder)],
                environment={
                    "LD_PRELOAD": str(requests_library()),
                    "HYPERSLAB_REQUESTS_FILE": str(job.path.absolute()),
                    "HYPERSLAB_REQUESTS_NS": str(round(job.latency_s * 1e9)),
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                    "OMP_NUM_THREADS": "1",
                    "OPENBLAS_NUM_THREADS": "1",
                },
                timeout_s=job.timeout_s,
                cores=job.cores,
                failures=folder,
            )
        except DiedError as died:
            # A thread of Open MPI 4 may crash while MPI ends (seen once in a thousand jobs, on a
            # busy machine): by then each rank has closed the file and told what it did.
            try:
                return read_report(folder, job.plan.ranks)
            except (ValueError, RanksError):
                raise died from None
        return read_report(folder, job.plan.ranks)


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
