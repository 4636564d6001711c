"""What this machine has for the study, what it lacks, and what is left out without it."""

import importlib.metadata
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..kernels.kernel_build import INSTALL, KernelError, compiler, kernel
from ..measure import cold, lock, machine
from ..parallel.found import Found, Program, find
from ..parallel.job import came_up

GIB = 2**30
DISK_STOPS_GIB, DISK_SCARCE_GIB, MEMORY_SCARCE_GIB = 1, 5, 4
BUSY = 0.5  # so many programs on average: what is measured beside them is marked
ELSEWHERE = "choose another: hyperslab run --workdir FOLDER"
RANKS = 2
_CLAIMS = "of the chapter on parallel writing (claims chilan-*)"
SHOWN = (
    "python", "netCDF4", "netcdf-c", "h5py", "hdf5 (h5py)", "zarr", "numcodecs", "xarray", "numpy",
)  # fmt: skip
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
    findings = [*packages(), *work_directory(work), processor(), busy(), c_kernel()]
    return [*findings, mpi(work=work), lighttpd()]


def render(findings: Iterable[Finding]) -> str:
    """Return findings as lines for a terminal, with one line of conclusion."""
    lines, states = [], []
    for finding in findings:
        states.append(finding.state)
        lines.append(f"{finding.state:<8} {finding.subject:<11} {finding.text}")
        if finding.remedy:
            lines.append(f"{'':<20} → {finding.remedy}")
    conclusion = "`make book` can run; nothing is left out."
    if "note" in states:
        conclusion = "`make book` can run; the notes say what is left out or may be noisy."
    if problems := states.count("problem"):
        conclusion = f"{problems} problem{'s' * (problems > 1)} must be mended before `make book`."
    return "\n".join([*lines, conclusion])


def exit_status(findings: Iterable[Finding]) -> int:
    """Return 1 if something stops `make book`, else 0; notes do not count."""
    return int(any(finding.state == "problem" for finding in findings))


def packages(name: str = "hyperslab", extra: str = "study") -> Iterator[Finding]:
    """Look at the installed packages against the bounds a distribution declares."""
    try:
        from packaging.requirements import Requirement

        needs = map(Requirement, importlib.metadata.requires(name) or [])
        here = [each for each in needs if not each.marker or each.marker.evaluate({"extra": extra})]
        wrong = list(filter(None, map(_amiss, here)))
    except ModuleNotFoundError as error:  # also of the distribution itself
        wrong = [f"{error.name} is not installed"]
    install = "make ready (or, in an environment of your own: pip install -e '.[study]')"
    yield from (Finding("packages", "problem", text, install) for text in wrong)
    if not wrong:
        versions = machine.versions()
        shown = ", ".join(f"{each} {versions[each]}" for each in SHOWN if each in versions)
        yield Finding("packages", "ok", shown)


def _amiss(requirement: Any) -> str:
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        # What only some systems have is done without, and said where it is missed.
        somewhere = "platform" in str(requirement.marker)
        return "" if somewhere else f"{requirement.name} is not installed"
    fits = requirement.specifier.contains(version, prereleases=True)
    return "" if fits else f"{requirement.name} is {version}, must be {requirement.specifier}"


def c_kernel() -> Finding:
    """Look for a C compiler that makes the kernel, which it compiles."""
    try:
        name = compiler()[0]
        kernel()
    except KernelError as error:
        reason, _, remedy = str(error).partition("; ")
        return Finding("C compiler", "note", f"{reason}: {WITHOUT_C}", remedy or INSTALL)
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
    folder = work.resolve()
    return next(each for each in (folder, *folder.parents) if each.exists())


def work_directory(work: Path) -> Iterator[Finding]:
    """Look at where data will go: room, and whether reads from it can be made cold."""
    folder = _existing(work)
    free = shutil.disk_usage(folder).free / GIB
    text = f"{free:,.1f} GiB free in the work directory, {machine.file_system(folder)}"
    state, remedy = "ok", ""
    if free < DISK_SCARCE_GIB:
        state = "note" if free >= DISK_STOPS_GIB else "problem"
        remedy = f"the larger profiles need more: make room, or {ELSEWHERE}"
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as probe:
            probe.write(bytes(1 << 20))
            probe.flush()
            yield Finding("disk", state, text.rstrip(", "), remedy)
            yield _cold(Path(probe.name))
    except OSError as error:
        text = f"the work directory cannot be written: {error.strerror}"
        yield Finding("disk", "problem", text, ELSEWHERE)


def _cold(probe: Path) -> Finding:
    try:
        cold.evict([probe])
    except OSError as error:
        reason = str(error).replace(probe.name, "a file in the work directory")
        return Finding("cold cache", "note", f"cold reads are left out: {reason}")
    return Finding("cold cache", "ok", "files can be evicted, and whether they were is verified")


def processor() -> Finding:
    cores, memory = machine.cores(), machine.memory_bytes() / GIB
    text = f"{cores} of {machine.cpu_model()}, {memory:.1f} GiB"
    if cores == 1:
        text += ": the harness shares its core with what it measures, times will be noisy"
    if memory < MEMORY_SCARCE_GIB:
        text += ": the larger profiles may not fit"
    scarce = cores == 1 or memory < MEMORY_SCARCE_GIB
    return Finding("cores", "note" if scarce else "ok", text)


def busy() -> Finding:
    """Look for another measuring run, and for other programs."""
    try:
        with lock.measuring():
            load = os.getloadavg()[0]
    except lock.BusyError as error:
        return Finding("busy", "problem", str(error))
    except OSError as error:
        text = f"the lock of measuring runs cannot be taken: {error.strerror}"
        return Finding("busy", "problem", text, "another user left it: remove it as root")
    text = f"{load:.1f} programs ran at a time in the last minute"
    if load > BUSY:
        return Finding("busy", "note", f"{text}: what is measured beside them is marked or void")
    return Finding("busy", "ok", text)


def mpi(
    libraries: Found | None = None,
    work: Path = Path("build"),
    start: Callable[[Program, Path, int], object] = came_up,
) -> Finding:
    """Look for what writes in parallel: compile its programs, start a job of two ranks of each."""
    libraries = libraries or find()
    ready, broken = [], {}
    for name, program in libraries.programs.items():
        try:
            with tempfile.TemporaryDirectory(dir=_existing(work), prefix=".doctor-") as folder:
                start(program, Path(folder), RANKS)
        except RuntimeError as error:
            broken[name] = str(error)
        except (ModuleNotFoundError, OSError) as error:
            ready.append(f"{name} (not tried: {getattr(error, 'strerror', error)})")
        else:
            ready.append(f"{name} ({program.launcher.name}: {RANKS} ranks came up)")
    able = f"{', '.join(ready)} can write in parallel"
    if not (broken or libraries.missing):
        return Finding("MPI", "ok", able)
    others = f"; {able}" if ready else ""
    why = "; ".join(f"{name}: {reason}" for name, reason in (broken or libraries.missing).items())
    if broken:
        text = f"a job of {RANKS} ranks fails: {why}{others}"
        hide = f"export HYPERSLAB_MPI_HIDDEN={','.join(broken)}"
        return Finding("MPI", "problem", text, f"mend that, or leave it out: {hide}")
    text = f"{why}: what they write is left out {_CLAIMS}{others}"
    return Finding("MPI", "note", text, libraries.what_to_install())
