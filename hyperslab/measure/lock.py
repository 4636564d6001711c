"""One measuring run on a machine at a time."""

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# One place for the whole machine, whatever TMPDIR is.
PATH = Path("/tmp" if Path("/tmp").is_dir() else tempfile.gettempdir(), "hyperslab-measuring.lock")
_HOLDER = "HYPERSLAB_MEASURING"  # the process that holds the lock for this one
_TURN = "HYPERSLAB_TURN"  # a file that one process of a run locks at a time


class BusyError(RuntimeError):
    """Another measuring run is under way."""


@contextmanager
def measuring() -> Iterator[None]:
    """Hold the machine for measuring; a run started by the holder passes."""
    fd = _open(PATH)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).decode().strip()
            if os.environ.get(_HOLDER) and holder in ("", os.environ[_HOLDER]):
                yield
                return
            raise BusyError(
                f"process {holder or 'unknown'} is measuring on this machine: two runs at once "
                "would disturb each other; run this again when it has ended"
            ) from None
        _note(fd, str(os.getpid()))
        before = os.environ.get(_HOLDER)  # of another lock
        os.environ[_HOLDER] = str(os.getpid())
        try:
            yield
        finally:
            os.environ.pop(_HOLDER, None)
            if before is not None:
                os.environ[_HOLDER] = before
            _note(fd, "")
    finally:
        os.close(fd)


@contextmanager
def turns(path: Path) -> Iterator[None]:
    """Have the processes that this one starts measure one after another: see `take_turn`."""
    os.environ[_TURN] = str(path)
    try:
        yield
    finally:
        os.environ.pop(_TURN, None)


def take_turn() -> None:
    """Wait until the process of the run that measured before this one has ended, not only drawn."""
    if path := os.environ.pop(_TURN, ""):
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        fcntl.lockf(fd, fcntl.LOCK_EX)  # until this process ends; its children do not have it


def _open(path: Path) -> int:
    # A file of another user in a shared folder may be opened but not with O_CREAT, and perhaps not
    # for writing; it can be locked all the same.
    for flags in (os.O_RDWR, os.O_RDWR | os.O_CREAT, os.O_RDONLY):
        try:
            fd = os.open(path, flags | os.O_NOFOLLOW, 0o666)
        except OSError:
            continue
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            break
        with contextlib.suppress(OSError):
            os.fchmod(fd, 0o666)  # whatever the umask
        return fd
    raise BusyError(
        f"the lock of measuring runs, {path.name} in the temporary folder, is no file that can be "
        "opened: remove it"
    )


def _note(fd: int, holder: str) -> None:
    with contextlib.suppress(OSError):  # opened for reading alone: the lock holds without a name
        os.ftruncate(fd, 0)
        os.pwrite(fd, holder.encode(), 0)
