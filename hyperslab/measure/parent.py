"""Whether a process lives, what one left, and one that ends when the one it works for does."""

import ctypes
import os
import shutil
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None  # before any fork


def die_with(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """End this process, but nothing it forks, as soon as its parent ends (Linux alone)."""
    if _LIBC is None:
        return
    _LIBC.prctl(_PR_SET_PDEATHSIG, by, 0, 0, 0)
    if os.getppid() != parent:  # it ended before that was set
        os._exit(1)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        pass
    return True


def remove_left(folder: Path) -> None:
    """Remove from a folder the folders `…-PID` of processes that have ended."""
    for each in folder.glob("*-*"):
        pid = each.name.rpartition("-")[2]
        if pid.isdigit() and not alive(int(pid)):
            shutil.rmtree(each, ignore_errors=True)
