"""What this machine has for the study, what it lacks, and what is left out without it."""

import importlib.metadata
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import parallel
from ..kernels.build import INSTALL, KernelError, compiler, kernel
from ..measure import cold, counters, lock, machine

GIB = 2**30
DISK_STOPS_GIB, DISK_SCARCE_GIB, MEMORY_SCARCE_GIB = 1, 5, 4
BUSY = 0.10  # of the machine's CPU used by others: runs are marked above it
WATCH_S = 0.5
ELSEWHERE = "choose another: hyperslab run --workdir FOLDER"
RANKS = 2
_CLAIMS = "of the chapter on parallel writing (claims chilan-*)"
SHOWN = (
    "netCDF4", "netcdf-c", "h5py", "hdf5 (h5py)", "zarr", "numcodecs", "xarray", "numpy",
)  # fmt: skip
FILTERS = ("zstd", "blosc", "bzip2", "szip")
WITHOUT_C = "what C programs get is left out (reader netcdf-c, claims lee-8*, jones-lang, jones-c)"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    subject: str  # what was looked at
    # "ok", "note" (something is left out or will be noisy) or "problem" (it stops `make book`)
    state: str
    text: str  # what was found, and what it means
    remedy: str = ""  # what to do, as a command where there is one; "" when there is nothing to do


def report(work: Path = Path("build")) -> list[Finding]:
    """Look at everything the study uses."""
    return [
        python(),
        *packages(),
        filters(),
        *work_directory(work),
        memory(),
        *processor(),
        c_kernel(),
        mpi(work=work),
        lighttpd(),
    ]


def render(findings: Iterable[Finding]) -> str:
    """Return findings as lines for a terminal, with one line of conclusion."""
    lines, states = [], []
    for found in findings:
        states.append(found.state)
        lines.append(f"{found.state:<8} {found.subject:<11} {found.text}")
        if found.remedy:
            lines.append(f"{'':<20} → {found.remedy}")
    problems, notes = states.count("problem"), states.count("note")
    if problems:
        end = f"{problems} problem{'s' * (problems > 1)} must be mended before `make book`."
    elif notes:
        say = "note says" if notes == 1 else "notes say"
        end = f"`make book` can run; {notes} {say} what is left out or may be noisy."
    else:
        end = "`make book` can run; nothing is left out."
    return "\n".join([*lines, end])


def exit_status(findings: Iterable[Finding]) -> int:
    """Return 1 if something stops `make book`, else 0; notes do not count."""
    return int(any(found.state == "problem" for found in findings))


def python() -> Finding:
    """Look at the version of Python."""
    text = f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    return Finding("Python", "ok", text)


def packages(name: str = "hyperslab", extra: str = "study") -> Iterator[Finding]:
    """Look at the installed packages against the bounds a distribution declares."""
    try:
        from packaging.requirements import Requirement

        wrong = [
            text
            for requirement in map(Requirement, importlib.metadata.requires(name) or [])
            if not requirement.marker or requirement.marker.evaluate({"extra": extra})
            for text in _amiss(requirement)
        ]
    except ModuleNotFoundError as error:  # also of the distribution itself
        wrong = [f"{error.name} is not installed"]
    install = "make ready (or, in an environment of your own: pip install -e '.[study]')"
    yield from (Finding("packages", "problem", text, install) for text in wrong)
    if not wrong:
        known = machine.versions()
        shown = ", ".join(f"{each} {known[each]}" for each in SHOWN if each in known)
        yield Finding("packages", "ok", shown)


def _amiss(requirement: Any) -> Iterator[str]:
    """Say in what an installed package is not what a requirement asks for."""
    try:
        found = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        # What only some systems have is done without, and said where it is missed.
        if "platform" not in str(requirement.marker):
            yield f"{requirement.name} is not installed"
    else:
        if not requirement.specifier.contains(found, prereleases=True):
            yield f"{requirement.name} is {found}, must be {requirement.specifier}"


def filters() -> Finding:
    """Look for the compression filters that netCDF-C loads as plugins."""
    try:
        import netCDF4
    except ImportError:
        return Finding("filters", "problem", "netCDF4 cannot be imported", "make ready")
    # Diskless: nothing is written.
    with netCDF4.Dataset("filters.nc", "w", diskless=True) as dataset:
        missing = [each for each in FILTERS if not getattr(dataset, f"has_{each}_filter")()]
    if not missing:
        return Finding("filters", "ok", f"netCDF-C finds {', '.join(FILTERS)}")
    text = f"netCDF-C does not find {', '.join(missing)}: what is written with them is left out"
    return Finding("filters", "note", text, "the netCDF4 of requirements.lock brings them")


def c_kernel() -> Finding:
    """Look for a C compiler that makes the kernel, which it compiles."""
    try:
        name = compiler()[0]
        kernel()
    except KernelError as error:
        said, _, remedy = str(error).partition("; ")
        return Finding("C compiler", "note", f"{said}: {WITHOUT_C}", remedy or INSTALL)
    return Finding("C compiler", "ok", f"{Path(name).name} compiles the C kernel")


def lighttpd(search: str | None = None) -> Finding:
    """Look for the server of the chapter on remote reading, which pip cannot install."""
    if shutil.which("lighttpd", path=search):
        return Finding("lighttpd", "ok", "lighttpd found")
    return Finding(
        "lighttpd",
        "note",
        "no lighttpd: the chapter on remote reading serves files with its own, slower server "
        "(claims penard-9*)",
        "Debian: apt-get download lighttpd && dpkg -x lighttpd_*.deb unpacked, then "
        'PATH="$PWD/unpacked/usr/sbin:$PATH" (apt-get install starts a server on port 80 too); '
        "macOS: brew install lighttpd",
    )


def _existing(work: Path) -> Path:
    """Return the folder that is, or will hold, the work directory."""
    folder = work.resolve()
    return next(each for each in (folder, *folder.parents) if each.exists())


def work_directory(work: Path) -> Iterator[Finding]:
    """Look at where data will go: room, and whether reads from it can be made cold."""
    folder = _existing(work)
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as probe:
            probe.write(bytes(1 << 20))
            probe.flush()
            yield _disk(folder)
            yield _cold(Path(probe.name))
    except OSError as error:
        text = f"the work directory cannot be written: {error.strerror}"
        yield Finding("disk", "problem", text, ELSEWHERE)


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free / GIB
    kind = machine.file_system(folder)
    text = f"{free:,.1f} GiB free in the work directory{f', {kind}' * bool(kind)}"
    if free >= DISK_SCARCE_GIB:
        return Finding("disk", "ok", text)
    state = "problem" if free < DISK_STOPS_GIB else "note"
    text += ": too little" + " for the larger profiles" * (state == "note")
    return Finding("disk", state, text, f"make room, or {ELSEWHERE}")


def _cold(probe: Path) -> Finding:
    try:
        cold.evict([probe])
    except OSError as error:
        reason = str(error).replace(probe.name, "a file in the work directory")
        return Finding("cold cache", "note", f"cold reads are left out: {reason}")
    with probe.open("rb") as file:
        means = "mincore" if cold._cachestat(file.fileno()) is None else "cachestat"
    return Finding("cold cache", "ok", f"files can be evicted, verified by {means}")


def memory() -> Finding:
    """Look at the memory of the machine."""
    total = machine.memory_bytes() / GIB
    if total >= MEMORY_SCARCE_GIB:
        return Finding("memory", "ok", f"{total:.1f} GiB")
    return Finding("memory", "note", f"{total:.1f} GiB: the larger profiles may not fit")


def processor() -> Iterator[Finding]:
    """Look at the cores, at what else runs on them, and for another measuring run."""
    cores = machine.cores()
    text = f"{cores} of {machine.cpu_model()}"
    if cores == 1:
        text += ": the harness shares its core with what it measures, times will be noisy"
    yield Finding("cores", "note" if cores == 1 else "ok", text)
    try:
        with lock.measuring():
            pass
    except lock.BusyError as error:
        yield Finding("busy", "problem", str(error))
        return
    except OSError as error:
        text = f"the lock of measuring runs cannot be taken: {error.strerror}"
        yield Finding("busy", "problem", text, "another user left it: remove it as root")
        return
    began, busy_s = time.perf_counter(), counters.machine_cpu_s()
    time.sleep(WATCH_S)  # in which this process uses nothing
    busy_s, elapsed = counters.machine_cpu_s() - busy_s, time.perf_counter() - began
    used = busy_s / elapsed if busy_s == busy_s else os.getloadavg()[0]
    share = min(1.0, used / cores)
    text = f"other programs use {share:.0%} of the CPU"
    if share > BUSY:
        text += ": what is measured now will be marked or void"
    yield Finding("busy", "note" if share > BUSY else "ok", text)


def mpi(
    found: parallel.Found | None = None,
    work: Path = Path("build"),
    start: Callable[[parallel.Program, Path, int], int] = parallel.came_up,
) -> Finding:
    """Look for what writes in parallel: compile its programs, start a job of two ranks of each."""
    found = found or parallel.find()
    here, broken = [], {}
    for name, program in found.programs.items():
        try:
            with tempfile.TemporaryDirectory(dir=_existing(work), prefix=".doctor-") as folder:
                up = start(program, Path(folder), RANKS)
        except parallel.ParallelError as error:
            broken[name] = str(error)
        except ModuleNotFoundError as error:
            here.append(f"{name} (not tried: {error.name} is not installed)")
        except OSError:
            here.append(f"{name} (not tried: the work directory cannot be written)")
        else:
            here.append(f"{name} ({program.launcher.name}: {up} of {RANKS} ranks came up)")
    able = f"{', '.join(here)} can write in parallel"
    if not (broken or found.missing):
        return Finding("MPI", "ok", able)
    others = f"; {able}" if here else ""
    why = "; ".join(f"{name}: {reason}" for name, reason in (broken or found.missing).items())
    if broken:
        text = f"a job of {RANKS} ranks fails: {why}{others}"
        hide = f"export HYPERSLAB_MPI_HIDDEN={','.join(broken)}"
        return Finding("MPI", "problem", text, f"mend that, or leave it out: {hide}")
    rows = "its rows are" if len(found.missing) == 1 else "their rows are"
    text = f"{why}: {rows} left out {_CLAIMS}{others}"
    return Finding("MPI", "note", text, found.what_to_install())
