"""One measuring run on a machine at a time."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOLDER = "HYPERSLAB_MEASURING"  # the process that holds the lock for this one


class BusyError(RuntimeError):
    """Another measuring run is under way."""


@contextmanager
def measuring(path: Path | None = None) -> Iterator[None]:
    """Hold the machine for measuring; a run started by the holder passes.

    Parameters
    ----------
    path : Path
        The lock file; one for the whole machine by default.

    Raises
    ------
    BusyError
        When another process holds it, with its process id.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> lock = pathlib.Path(tempfile.mkdtemp(), "lock")
    >>> with measuring(lock), measuring(lock):
    ...     "the same process twice"
    'the same process twice'
    """
    path = path or Path(tempfile.gettempdir(), "hyperslab-measuring.lock")
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).decode().strip()
            if os.environ.get(_HOLDER) == holder:
                yield
                return
            raise BusyError(
                f"process {holder or 'unknown'} is measuring on this machine: two runs at once "
                "would disturb each other; wait for it to end, or end it"
            ) from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        os.environ[_HOLDER] = str(os.getpid())
        try:
            yield
        finally:
            os.environ.pop(_HOLDER, None)
            os.ftruncate(fd, 0)
    finally:
        os.close(fd)
