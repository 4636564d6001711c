"""Files that appear under their name only when they are whole, and what killed runs left."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperslab.io.creation import STORE_MARKS
from hyperslab.io.writing import remove
from hyperslab.measure.parent import alive

_MARK = re.compile(r"^\.(?P<name>.+?)(\.old)?\.(?P<host>[0-9a-f]{8})-(?P<pid>\d+)\.part$")


def part_name(name: str, pid: int | None = None) -> str:
    """Return the name that a file has until it is whole: it carries this machine and process."""
    return f".{name}.{_host()}-{os.getpid() if pid is None else pid}.part"


@contextmanager
def whole_or_nothing(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a place to write to, which takes the path's name if the body succeeds."""
    remove_leftovers(path.parent, path.name)
    require_free(path, overwrite)
    place = path.with_name(part_name(path.name))
    old = path.with_name(part_name(f"{path.name}.old"))
    remove(place)
    try:
        yield place
        require_free(path, overwrite)  # it may have come meanwhile
        if path.is_dir() and not path.is_symlink():  # a folder is not replaced in one step
            path.replace(old)
        place.replace(path)
    finally:
        remove(place)
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
        raise FileExistsError(f"{path} exists: remove it, or give another name")
    if path.is_dir() and not any((path / mark).is_file() for mark in STORE_MARKS):
        raise FileExistsError(f"{path} is a folder and no Zarr store: give another name")


def remove_leftovers(folder: Path, name: str) -> None:
    """Remove what processes of this machine that no longer live left half-made of a file."""
    for entry in folder.iterdir() if folder.is_dir() else ():
        mark = _MARK.match(entry.name)
        mine = mark and (mark["name"], mark["host"]) == (name, _host())
        if mark and mine and not alive(int(mark["pid"])):
            remove(entry)


def _host() -> str:
    """Return a mark of this machine: on a shared disk others' processes cannot be asked."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]
