"""Python, its packages, the compiler and the programs that the study uses."""

import importlib
import importlib.metadata
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hyperslab.kernels.build import INSTALL, KernelError, compiler, kernel
from hyperslab.measure import machine

from .finding import Finding

PYTHONS = ((3, 11), (3, 12), (3, 13))
SHOWN = (
    "netCDF4", "netcdf-c", "h5py", "hdf5 (h5py)", "zarr", "numcodecs", "xarray", "numpy",
)  # fmt: skip
FILTERS = ("zstd", "blosc", "bzip2", "szip")
WITHOUT_C = "what C programs get is left out (reader netcdf-c, claims lee-8*, jones-lang, jones-c)"


@dataclass(frozen=True)
class Tool:
    """Programs that a chapter needs and that pip cannot install."""

    subject: str
    programs: tuple[str, ...]
    without: str
    remedy: str


TOOLS = (
    Tool(
        "lighttpd",
        ("lighttpd",),
        "the chapter on remote reading serves files with its own, slower server (claims penard-9*)",
        "Debian: apt-get download lighttpd && dpkg -x lighttpd_*.deb unpacked, then "
        'PATH="$PWD/unpacked/usr/sbin:$PATH" (apt-get install starts a server on port 80 too); '
        "macOS: brew install lighttpd",
    ),
)


def python() -> Finding:
    """Look at the version of Python."""
    text = f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    if tuple(map(int, platform.python_version_tuple()[:2])) in PYTHONS:
        return Finding("Python", "ok", text)
    return Finding(
        "Python", "problem", f"{text}: the study needs 3.11 to 3.13", "make PYTHON=python3.12"
    )


def packages(name: str = "hyperslab", extra: str = "study") -> Iterator[Finding]:
    """Look at the installed packages against the bounds a distribution declares."""
    install = "make ready (or, in an environment of your own: pip install -e '.[study]')"
    try:
        declared = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        yield Finding("packages", "problem", f"{name} itself is not installed", install)
        return
    try:
        from packaging.requirements import Requirement
    except ModuleNotFoundError:
        yield Finding("packages", "problem", "packaging is not installed", install)
        return
    wrong = []
    for requirement in map(Requirement, declared):
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        try:
            found = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            # What only some systems have is done without, and said where it is missed.
            if "platform" not in str(requirement.marker):
                wrong.append(f"{requirement.name} is not installed")
            continue
        if not requirement.specifier.contains(found, prereleases=True):
            wrong.append(f"{requirement.name} is {found}, must be {requirement.specifier}")
    for text in wrong:
        yield Finding("packages", "problem", text, install)
    if not wrong:
        known = machine.versions()
        shown = ", ".join(f"{each} {known[each]}" for each in SHOWN if each in known)
        yield Finding("packages", "ok", shown)


def filters() -> Finding:
    """Look for the compression filters that netCDF-C loads as plugins."""
    try:
        netcdf4 = importlib.import_module("netCDF4")
    except ImportError:
        return Finding("filters", "problem", "netCDF4 cannot be imported", "make ready")
    # Diskless: nothing is written.
    with netcdf4.Dataset("filters.nc", "w", diskless=True) as dataset:
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


def tool(wanted: Tool, search: str | None = None) -> Finding:
    """Look for the programs of one tool."""
    missing = [each for each in wanted.programs if shutil.which(each, path=search) is None]
    if missing:
        text = f"no {' and no '.join(missing)}: {wanted.without}"
        return Finding(wanted.subject, "note", text, wanted.remedy)
    return Finding(wanted.subject, "ok", f"{' and '.join(wanted.programs)} found")
