"""What kept a copy from being made, in one line, also out of a process of its own."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .memory import mib
from .room import MemoryLimitError
from .sources.base import SourceError

_KINDS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (SourceError, MemoryLimitError, ValueError, MemoryError)
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

    HDF5 tells of a full disk only that a write failed.

    Parameters
    ----------
    folder
        Where it is written.
    needed_bytes
        What it may take.

    Raises
    ------
    OSError
        In place of the libraries' errors.
    """
    try:
        yield
    except (SourceError, InterruptedError, MemoryError):
        raise
    except Exception as error:
        if why := _no_room(error, folder, needed_bytes):
            raise OSError(errno.ENOSPC, why) from error
        raise


def _no_room(error: BaseException, folder: Path, needed_bytes: int) -> str:
    said = str(error)
    text = os.strerror(errno.ENOSPC), os.strerror(errno.EFBIG), os.strerror(errno.EDQUOT)
    numbers = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
    named = getattr(error, "errno", None) in numbers or any(t in said for t in text)
    free = shutil.disk_usage(folder).free
    limit = _file_limit()
    if free < max(2**20, needed_bytes // 50) or (named and limit is None):
        return (
            f"the disk is full: {mib(free)} are left in the folder of the copy, which may take "
            f"{mib(needed_bytes)}; make room or choose another folder"
        )
    if limit is not None and (named or needed_bytes > limit):
        return (
            f"a file may not grow beyond {mib(limit)} here (ulimit -f), and the copy may take "
            f"{mib(needed_bytes)}; raise the limit or choose fewer variables"
        )
    return ""


def _file_limit() -> int | None:
    try:
        import resource
    except ImportError:  # not a system with limits
        return None
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if soft == resource.RLIM_INFINITY else int(soft)
