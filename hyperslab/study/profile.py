"""The list of experiments and what a profile changes in each."""

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

PROFILES = ("smoke", "quick", "full", "paper")
TOYS = PROFILES[0]
"""Whose times nobody judges."""
# In C where PyYAML was built with it: each notebook reads the list.
LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OWN = ("book", "data_gen", "hyperslab", "notebooks", "results", "tests", "tools")
_MARKS = ("_config.yml", "notebooks/study.yml")


@dataclass(frozen=True)
class Entry:
    """One notebook of the study."""

    name: str  # of the file in notebooks/, without its ending
    title: str
    # by profile, numbers such as the blocks to measure
    settings: Mapping[str, Mapping[str, object]]


def root() -> Path:
    """Return the repository: the first folder upwards that holds the study."""
    start = Path.cwd().resolve()
    for folder in (start, *start.parents):
        if all((folder / mark).exists() for mark in _MARKS):
            return folder
    raise FileNotFoundError(
        "this is not a checkout of the study: no folder upwards holds notebooks/study.yml; "
        "run the command from the repository (git clone it first)"
    )


def entries(folder: Path | None = None) -> tuple[Entry, ...]:
    """Return the notebooks of the study in the order they run."""
    study = yaml.load(((folder or root()) / "notebooks/study.yml").read_text(), LOADER)
    shared = study.get("all", {})  # settings of all notebooks
    return tuple(
        Entry(
            item["name"],
            item["title"],
            {name: shared.get(name, {}) | own for name, own in item["profiles"].items()},
        )
        for item in study["notebooks"]
    )


def entry(name: str, folder: Path | None = None) -> Entry:
    by_name = {item.name: item for item in entries(folder)}
    if name not in by_name:
        raise ValueError(f"no notebook {name!r} in the study: choose from {', '.join(by_name)}")
    return by_name[name]


def check_profile(profile: str) -> str:
    """Return a profile's name, or say which there are."""
    if profile not in PROFILES:
        raise ValueError(f"no profile {profile!r}: choose from {', '.join(PROFILES)}")
    return profile


def drawn_between(profile: str, workdir: str, records: str) -> tuple[Path, Path]:
    """Return where what is drawn of a profile goes, and the folder of its records."""
    top = root()
    results = (top / workdir).resolve() / "results" / check_profile(profile)
    folder = (top / records).resolve() if records else results
    if records and not folder.is_dir():
        raise ValueError(f"records is {records!r}: no such folder of records")
    return results, folder


def full(folder: Path) -> OSError:
    """Return the error of a disk that is full: which, and what is free there."""
    free = shutil.disk_usage(folder).free / 2**20
    return OSError(
        errno.ENOSPC,
        f"the disk of the work directory is full, {free:,.1f} MiB are free in {folder}: make room, "
        "or choose another with --workdir",
    )


def require_writable(folder: Path, given: str) -> None:
    """Make a work directory, or say that it cannot be written."""
    inside = folder.relative_to(root()).parts if folder.is_relative_to(root()) else ("",)
    if not given.strip() or not inside or inside[0] in _OWN:
        raise ValueError(
            f"the work directory is {given!r}: name a folder for data and results, such as build"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise ValueError(
            f"the work directory {given!r} cannot be written ({error.strerror}): choose another "
            "with --workdir (the parameter workdir of a notebook)"
        ) from error


@contextlib.contextmanager
def locked(folder: Path, what: str) -> Iterator[None]:
    """Hold a folder's lock, of one thing that processes do there in turns."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{what}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def put_in_place(new: Path, old: Path) -> None:
    """Put a folder in another's place; when that fails the other is as it was."""
    aside = new.with_name(f"{new.name}.old")
    if old.exists():
        old.rename(aside)
    try:
        new.rename(old)
    except BaseException:
        if aside.exists():
            aside.rename(old)
        raise
    shutil.rmtree(aside, ignore_errors=True)
