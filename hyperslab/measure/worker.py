"""Run one sample in this process, or serve samples to a run."""

import errno
import gc
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from .case import Case, Stopwatch
from .cold import evict, resident_fraction, warm
from .counters import tree_cpu_s
from .machine import cores as cores
from .memory import touch, wanted_bytes
from .parent import die_with
from .sweep import Partners, filler, sweep
from .witness import Witness, witnessed

_CORE = Path("/sys/devices/system/cpu")
WARMINGS = 3
"""How often a file is read into memory: some hosts take memory back at that very moment."""
FULL = 4 * 2**20
"""Free bytes below which what goes wrong is taken for a full disk."""


@dataclass(frozen=True)
class Job:
    """A case to run once, and how long it may take."""

    case: Case
    timeout_s: float = 600.0  # after which the process is ended and the sample is lost
    sweeps: bool = True  # whether memory and the processor's last cache are made ready for a read
    scratch: Path | None = None  # what it writes to; a failure is asked whether that disk is full


@dataclass(frozen=True)
class Outcome:
    rows: list[dict[str, object]]  # record columns, one mapping a phase
    verified: bool  # whether what was read or written compared equal with the truth
    status: str  # "ok", or why the sample does not count
    cpu_s: float = 0.0  # that the run's own CPU time does not hold: of forks and of servers
    testimony: Witness = field(default_factory=Witness)
    modules: tuple[str, ...] = ()  # of this project, and packages, imported when it was done


def perform(job: Job, sweeping: Callable[[], None] = sweep) -> Outcome:
    case = job.case
    elsewhere_s = 0.0
    try:
        if case.prepare:
            case.prepare()
        try:
            _set_cache(job, sweeping)
            with witnessed(alone=case.pinned) as testimony:
                if isinstance(case.run, Sequence):
                    rows, value = _command(case.run, job.timeout_s), None
                else:
                    files = case.files if case.cache_state else ()
                    watch = Stopwatch(files, case.cache_state == "cold")
                    value = case.run(watch)
                    rows, elsewhere_s = watch.rows(), watch.elsewhere_s
            verified = case.check is None or bool(case.check(value))
        except Exception as error:
            if is_full(job.scratch):  # HDF5 does not say so, and the cleanup makes room again
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
            raise
        finally:
            gc.enable()
            if case.cleanup:
                case.cleanup()
    except Exception as error:  # the sample is lost, the run is not
        return Outcome([], False, f"{type(error).__name__}: {error}")
    status = "ok" if verified else "wrong values: what was read differs from the truth"
    ours = ("hyperslab", "data_gen")
    loaded = tuple(name for name in list(sys.modules) if "." not in name or name.startswith(ours))
    return Outcome(rows, verified, status, elsewhere_s, testimony(), loaded)


def is_full(folder: Path | None) -> bool:
    return folder is not None and folder.exists() and shutil.disk_usage(folder).free < FULL


def run_nothing(watch: Stopwatch) -> None:
    """Time an empty phase: the harness's own cost."""
    with watch("nothing"):
        pass


def _set_cache(job: Job, sweeping: Callable[[], None]) -> None:
    case = job.case
    if job.sweeps and (case.cache_state or case.memory_bytes):
        # A cold read waits for the disk, and seldom reads a large file whole.
        touch(wanted_bytes(case.files, case.memory_bytes, whole=case.cache_state != "cold"))
    if case.cache_state == "cold":
        evict(case.files)
    elif case.cache_state == "warm":
        for _ in range(WARMINGS):
            warm(case.files)
            left = resident_fraction(case.files)
            if not left < 0.999:  # where the system cannot tell, nothing speaks against it
                break
        else:
            raise OSError(
                f"only {left:.1%} of the file is in the page cache after it was read {WARMINGS} "
                "times: the system, or its host, took pages back while it was warmed; run again, "
                "or give a smaller file (file_mib) or more memory"
            )
        if job.sweeps:
            sweeping()


def _command(words: Sequence[str], timeout_s: float) -> list[dict[str, object]]:
    # A little under the process's own limit, so that the program is ended and not left behind.
    done = subprocess.run(list(words), capture_output=True, text=True, timeout=0.9 * timeout_s)
    if done.returncode:
        raise RuntimeError(
            f"{words[0]} ended with status {done.returncode}: {done.stderr.strip()[-300:]}"
        )
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def _fork(job: Job) -> Outcome:
    # From a server with the libraries, and no file or thread: all samples start from one state.
    before, server = tree_cpu_s(), os.getpid()
    receiving, sending = Pipe(duplex=False)
    partners = Partners() if _sweeps(job) and cores() > 1 else None
    child = os.fork()
    if child == 0:
        die_with(server)
        receiving.close()
        signal.setitimer(signal.ITIMER_REAL, job.timeout_s)  # by default it ends the process
        code = 1
        try:
            if job.case.pinned:
                _pin()
            sending.send(perform(job, partners.sweep if partners else sweep))
            code = 0
        finally:
            os._exit(code)
    sending.close()
    if partners:
        partners.help()
    outcome = None
    with receiving, suppress(EOFError):
        outcome = receiving.recv()
    _, status = os.waitpid(child, 0)
    if outcome is None:
        code = os.waitstatus_to_exitcode(status)
        ended = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        over = code == -signal.SIGALRM
        why = f"was stopped after {job.timeout_s:g} s" if over else f"ended early ({ended})"
        outcome = Outcome([], False, f"the process {why}")
    return replace(outcome, cpu_s=outcome.cpu_s + tree_cpu_s() - before)


def _sweeps(job: Job) -> bool:
    return job.case.cache_state == "warm" and job.sweeps


def _pin() -> None:
    """Keep this process on one core, of the fastest kind: moving is noise."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0), key=lambda n: (_most_khz(n), n))})


def _most_khz(core: int) -> int:
    try:
        return int(_CORE.joinpath(f"cpu{core}", "cpufreq/cpuinfo_max_freq").read_text())
    except (OSError, ValueError):
        return 0


def serve(pipe: int, owner: int, *, once: bool) -> None:
    """Answer what comes by a pipe, what to import and jobs, which it does itself if only `once`."""
    die_with(owner)
    jobs = Connection(pipe)
    with suppress(EOFError):
        while request := jobs.recv():
            if isinstance(request, Job):
                if once:
                    signal.setitimer(signal.ITIMER_REAL, request.timeout_s)
                elif _sweeps(request):
                    filler()  # one for all children; others are spared its memory
                jobs.send(perform(request) if once else _fork(request))
            else:
                sys.path[:], modules = request
                for name in modules:
                    importlib.import_module(name)
                gc.collect()
                gc.freeze()  # what was imported is not walked again in each child
                jobs.send("ready")
