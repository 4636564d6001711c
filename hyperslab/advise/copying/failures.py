"""What kept a copy from being made, in one line, also out of a process of its own."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..memory import mib
from ..report.compare import WrongValuesError
from ..sources.base import SourceError
from .room import MemoryLimitError


class NoRoomError(OSError):
    """The disk is full, or a file may not grow."""


_KINDS: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (
        SourceError,
        MemoryLimitError,
        NoRoomError,
        ValueError,
        MemoryError,
        WrongValuesError,
    )
}


def error_of(status: str) -> Exception:
    """Return the error that a sample ended with, from what it left of it.

    Parameters
    ----------
    status
        The name of the error, a colon and its text, or a text alone.

    Examples
    --------
    >>> error_of("OSError: [Errno 28] the disk is full")
    OSError('the disk is full')
    >>> error_of("the process ended early")
    RuntimeError('the process ended early')
    """
    found = re.match(r"([A-Za-z]\w*(?:Error|Exception)): ", status)
    if not found:
        return RuntimeError(status)
    text = re.sub(r"^\[Errno \d+\] ", "", status[found.end() :]) or found[1]
    known = getattr(__import__("builtins"), found[1], None)
    if isinstance(known, type) and issubclass(known, OSError):
        return OSError(text)
    return _KINDS.get(found[1], RuntimeError)(text)


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


def require_room(folder: Path, least_bytes: int) -> None:
    """Raise an error when a copy cannot fit on the disk.

    Parameters
    ----------
    folder
        Where it is to be written.
    least_bytes
        What it takes at least.

    Raises
    ------
    NoRoomError
        With what is needed and what is left.

    Examples
    --------
    >>> require_room(Path("."), 1)
    """
    free = shutil.disk_usage(folder).free
    if least_bytes > free:
        raise NoRoomError(_full(free, f"takes {mib(least_bytes)}"))
    limit = _file_limit()
    if limit is not None and least_bytes > limit:
        raise NoRoomError(_too_long(limit, f"takes {mib(least_bytes)}"))


def _no_room(error: BaseException, folder: Path, needed_bytes: int) -> str:
    said = str(error)
    text = os.strerror(errno.ENOSPC), os.strerror(errno.EFBIG), os.strerror(errno.EDQUOT)
    numbers = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
    named = getattr(error, "errno", None) in numbers or any(t in said for t in text)
    free = shutil.disk_usage(folder).free
    limit = _file_limit()
    if free < max(2**20, needed_bytes // 50) or (named and limit is None):
        return _full(free, f"may take {mib(needed_bytes)}")
    if limit is not None and (named or needed_bytes > limit):
        return _too_long(limit, f"may take {mib(needed_bytes)}")
    return ""


def _full(free: int, needs: str) -> str:
    return (
        f"the disk is full: {mib(free)} are left in the folder of the copy, which {needs}; make "
        "room or choose another folder"
    )


def _too_long(limit: int, needs: str) -> str:
    return (
        f"a file may not grow beyond {mib(limit)} here (ulimit -f), and the copy {needs}; raise "
        "the limit or choose fewer variables"
    )


def _file_limit() -> int | None:
    try:
        import resource
    except ImportError:  # not a system with limits
        return None
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if soft == resource.RLIM_INFINITY else int(soft)
