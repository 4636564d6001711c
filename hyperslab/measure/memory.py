"""Have free memory in place before a read, and give back what is freed."""

import ctypes
import mmap
import struct
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np

from .cold import files_of
from .machine import memory_limit_bytes

LEAST_BYTES, MOST_BYTES = 2**27, 2**30
"""A read takes memory for the file's pages, the values, copies of them and decoded chunks, of which
the file's length says little; above the second it waits too long. With the length alone in place,
two in five cold reads of 40 MB by netCDF-C took three times as long."""
RECENT_S = 0.2
"""Some hosts look every two seconds for free memory to take back: what was touched since is there,
mostly, and `witness` counts what is taken meanwhile. With a second, one cold read in eight waited.
"""
_TRIM_BYTES = 2**16
"""How much freed memory a process may hold back that was told to give it back."""
_TRIM_THRESHOLD = -1  # of malloc.h
_LAST = mmap.mmap(-1, 16)  # when, and how much: shared with the forked processes of samples


def wanted_bytes(paths: Iterable[str | Path] = (), beyond: int = 0) -> int:
    """Return how much memory a read of files may want, in bytes, and so much beyond them."""
    size = beyond + sum(file.stat().st_size for path in paths for file in files_of(path))
    return min(max(size, LEAST_BYTES), MOST_BYTES, memory_limit_bytes() // 16)


def touch(size: int) -> None:
    """Take so many bytes of memory, write to them and give them back.

    What this process or one that it forked has just touched is not touched again.
    """
    at, most = struct.unpack("=dd", _LAST[:])
    if size > most or time.monotonic() - at > RECENT_S:
        np.ones(size // 8, dtype=np.uint64)
        _LAST[:] = struct.pack("=dd", time.monotonic(), size)


def give_back() -> None:
    """Have the C library give freed memory back at once from now on, where it is glibc.

    It is what ``MALLOC_TRIM_THRESHOLD_`` in the environment does, which dask sets for its workers.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_TRIM_THRESHOLD, _TRIM_BYTES)
