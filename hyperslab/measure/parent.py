"""Whether a process lives, and one that ends when the one it works for does."""

import ctypes
import os
import signal
import sys
from functools import cache

_PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>


def die_with(parent: int) -> None:
    """End this process as soon as its parent ends, however that ends (Linux; elsewhere nothing).

    It holds for this process alone: what it forks has to ask again.

    Parameters
    ----------
    parent : int
        Process id of the parent, as the parent itself knows it.

    Examples
    --------
    >>> read_end, write_end = os.pipe()
    >>> me, child = os.getpid(), os.fork()
    >>> if child == 0:
    ...     die_with(me)
    ...     _ = os.write(write_end, b"alive")
    ...     os._exit(0)
    >>> os.read(read_end, 5), os.waitpid(child, 0)[1]
    (b'alive', 0)
    """
    if sys.platform != "linux":
        return
    _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before that was set
        os._exit(1)


def alive(pid: int) -> bool:
    """Return whether a process of this machine still runs.

    Examples
    --------
    >>> alive(os.getpid())
    True
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


@cache
def _libc() -> ctypes.CDLL:
    """Load the C library once, in the server: what is forked has it."""
    return ctypes.CDLL(None)
