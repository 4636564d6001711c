"""Room on the disk: asked for before a copy begins, and named when it ran out."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from hyperslab.advise.memory import mib
from hyperslab.advise.sources.base import SourceError, SourceVariable
from hyperslab.storage.geometry import padded_bytes
from hyperslab.storage.layout import Layout


class NoRoomError(OSError):
    """The disk is full, or a file may not grow."""


def require_room(needs: Sequence[tuple[Path, int, str]]) -> None:
    """Refuse a copy that cannot fit on the disk.

    Parameters
    ----------
    needs
        Folders, the bytes that are written there, and what these are; what goes to one disk is
        added up.

    Raises
    ------
    NoRoomError
        With the folder, what is needed and what is left.

    Examples
    --------
    >>> require_room([(Path("."), 1, "the copy")])
    """
    disks: dict[int, list[tuple[Path, int, str]]] = {}
    for folder, nbytes, what in needs:
        if nbytes:
            disks.setdefault(folder.stat().st_dev, []).append((folder, nbytes, what))
    limit = _file_limit()
    for asked in disks.values():
        left = shutil.disk_usage(asked[0][0]).free
        words = " and ".join(f"{what} {mib(n)} in {folder}" for folder, n, what in asked)
        if sum(n for _, n, _ in asked) > left:
            raise NoRoomError(f"the disk has too little room: {words}, and {mib(left)} are left: "
                              "make room or take other folders")  # fmt: skip
        if limit is not None and max(n for _, n, _ in asked) > limit:
            raise NoRoomError(f"{words}: a file may not grow beyond {mib(limit)} here (ulimit -f): "
                              "raise the limit or choose fewer variables")  # fmt: skip


@contextmanager
def explained(folder: Path, needed_bytes: int) -> Iterator[None]:
    """Say what kept a copy from being written, in one line.

    HDF5 tells of a full disk only that a write failed. To be used inside of the writer too, which
    removes what failed and so makes room again.

    Parameters
    ----------
    folder
        Where it is written.
    needed_bytes
        What it may take.

    Raises
    ------
    NoRoomError
        In place of the libraries' errors.
    """
    try:
        yield
    except (SourceError, InterruptedError, MemoryError, NoRoomError):
        raise
    except Exception as error:
        if why := _no_room(error, folder, needed_bytes):
            raise NoRoomError(why) from error
        if notes := getattr(error, "__notes__", ()):  # one line is all that reaches the user
            raise RuntimeError(f"{str(error).rstrip('.')}. {notes[0]}") from error
        raise


def _no_room(error: Exception, folder: Path, needed_bytes: int) -> str:
    numbers = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
    said = str(error)
    named = getattr(error, "errno", None) in numbers or any(os.strerror(n) in said for n in numbers)
    left, limit = shutil.disk_usage(folder).free, _file_limit()
    takes = f"the copy may take {mib(needed_bytes)}"
    if left < max(2**20, needed_bytes // 50) or (named and limit is None):
        return (f"the disk is full: {mib(left)} are left in {folder}, and {takes}: make room or "
                "choose another folder")  # fmt: skip
    if limit is not None and (named or needed_bytes > limit):
        return (f"a file may not grow beyond {mib(limit)} here (ulimit -f), and {takes}: raise the "
                "limit or choose fewer variables")  # fmt: skip
    return ""


def most_bytes(variables: Sequence[SourceVariable], layouts: Mapping[str, Layout]) -> int:
    """Return the bytes that a copy takes at most, compression left aside.

    Examples
    --------
    >>> most_bytes([SourceVariable("a", ("x",), (10,), "f4")], {"a": Layout(chunks=(8,))})
    64
    """
    return sum(_padded(variable, layouts[variable.name]) for variable in variables)


def likely_bytes(variables: Sequence[SourceVariable], layouts: Mapping[str, Layout]) -> int:
    """Return the bytes that a copy needs if what is compressed stays as small as it is.

    What is compressed for the first time counts a quarter: it may become smaller, but seldom does.

    Examples
    --------
    >>> sst = SourceVariable("sst", ("x",), (1000,), "f4", codec="zstd 3", stored_bytes=900)
    >>> likely_bytes([sst], {"sst": Layout(chunks=(10,), codec="deflate")})
    900
    """
    total = 0
    for variable in variables:
        most = _padded(variable, layouts[variable.name])
        if layouts[variable.name].codec:
            stored = variable.stored_bytes if variable.codec else None
            most = min(most, most // 4 if stored is None else stored)
        total += most
    return total


def _padded(variable: SourceVariable, layout: Layout) -> int:
    if not layout.chunks or 0 in variable.shape or not variable.shape:
        return variable.nbytes
    return padded_bytes(variable.shape, layout.chunks, variable.itemsize)


def _file_limit() -> int | None:
    try:
        import resource
    except ImportError:  # not a system with limits
        return None
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if soft == resource.RLIM_INFINITY else int(soft)
