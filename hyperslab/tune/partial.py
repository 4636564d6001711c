"""Files that appear under their name only when they are whole, and room for them on the disk."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import resource
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hyperslab.io.creation import STORE_MARKS
from hyperslab.io.source import SourceError
from hyperslab.io.writing import remove
from hyperslab.measure.parent import alive
from hyperslab.tune.process_memory import mib

_MARK = re.compile(r"^\.(?P<name>.+)\.(?P<host>[0-9a-f]{8})-(?P<pid>\d+)\.(?P<end>part|old)$")
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def part_name(name: str, pid: int | None = None, end: str = "part") -> str:
    """Return the name that a file has until it is whole: it carries this machine and process."""
    return f".{name}.{_host()}-{os.getpid() if pid is None else pid}.{end}"


@contextmanager
def whole_or_nothing(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a place to write to, which takes the path's name if the body succeeds."""
    remove_leftovers(path.parent, path.name)
    require_free(path, overwrite)
    unfinished = path.with_name(part_name(path.name))
    old = path.with_name(part_name(path.name, end="old"))
    remove(unfinished)
    try:
        yield unfinished
        require_free(path, overwrite)  # it may have come meanwhile
        if path.is_dir() and not path.is_symlink():  # a folder is not replaced in one step
            path.replace(old)
        unfinished.replace(path)
    finally:
        _put_back(old, path)
        remove(unfinished)
        remove(old)


@contextmanager
def scratch_folder(workdir: Path, name: str) -> Iterator[Path]:
    """Give a folder of this process for copies, and remove it; those of killed runs go too."""
    folder = Path(workdir) / part_name(name)
    remove_leftovers(folder.parent, name)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def require_free(path: Path, overwrite: bool) -> None:
    """Refuse a path at which something is; a file or a Zarr store may be replaced when asked."""
    if not path.exists() and not path.is_symlink():
        return
    if not overwrite:
        raise ValueError(f"{path} exists: remove it, or give another name")
    if path.is_dir() and not any((path / mark).is_file() for mark in STORE_MARKS):
        raise ValueError(f"{path} is a folder and no Zarr store: give another name")


def remove_leftovers(folder: Path, name: str) -> None:
    """Remove what processes of this machine that no longer live left half-made of a file."""
    for entry in folder.iterdir() if folder.is_dir() else ():
        mark = _MARK.match(entry.name)
        mine = mark and (mark["name"], mark["host"]) == (name, _host())
        if mark and mine and not alive(int(mark["pid"])):
            if mark["end"] == "old":
                _put_back(entry, folder / name)
            remove(entry)


def _put_back(old: Path, path: Path) -> None:
    """Give what was to be replaced its name again, if nothing took its place."""
    if old.exists() and not path.exists():
        old.replace(path)


def _host() -> str:
    """Return a mark of this machine: on a shared disk others' processes cannot be asked."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


class NoRoomError(OSError):
    """The disk is full, or a file may not grow."""


def require_room(needs: Sequence[tuple[str, int, Path]]) -> None:
    """Refuse what cannot fit on the disk: what it is, its bytes, and its folder."""
    needs = [need for need in needs if need[1]]
    for disk in {folder.stat().st_dev for _, _, folder in needs}:
        group = [need for need in needs if need[2].stat().st_dev == disk]
        left, bound = _left(group[0][2])
        if sum(nbytes for _, nbytes, _ in group) > left:
            words = " and ".join(f"{what} takes {mib(n)} in {folder}" for what, n, folder in group)
            raise NoRoomError(f"there is no room: {words}, but {bound}: make room or take another "
                              "folder")  # fmt: skip


@contextmanager
def explained(folder: Path, needed_bytes: int) -> Iterator[None]:
    """Say in one line what kept a copy from being written: HDF5 does not tell of a full disk."""
    # Inside of the writer, which removes what failed and so makes room again.
    try:
        yield
    except (SourceError, InterruptedError, MemoryError, NoRoomError):
        raise
    except Exception as error:
        left, bound = _left(folder)
        full = any(os.strerror(number) in str(error) for number in _FULL)
        if full or getattr(error, "errno", None) in _FULL or left < max(2**20, needed_bytes // 50):
            raise NoRoomError(
                f"the disk is full: {bound}, and the copy may take {mib(needed_bytes)}: make room "
                "or take another folder"
            ) from error
        if notes := getattr(error, "__notes__", ()):  # one line is all that reaches the user
            raise RuntimeError(f"{str(error).rstrip('.')}. {notes[0]}") from error
        raise


def _left(folder: Path) -> tuple[int, str]:
    """Return how large a file may become, and what bounds it."""
    free, limit = shutil.disk_usage(folder).free, resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and limit < free:
        return limit, f"a file may not grow beyond {mib(limit)} (ulimit -f)"
    return free, f"{mib(free)} are left in {folder}"
