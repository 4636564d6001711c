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

LEAST_BYTES, MOST_BYTES = 2**23, 3 * 2**30
"""Below the first a read takes too little memory to matter; above the second it waits too long."""
TIMES, FEW_BYTES = 3, 2**27
"""A read takes memory for the file's pages, the values and copies of them: so many times the file's
length, where that is not more than the second. With the length alone in place, a third of the cold
reads of 40 MB by netCDF-C took three times as long."""
WRITTEN = 2
"""A write takes memory for the values and the pages of the file: so many times the values. Without
it the first write of 40 MB took ten times as long, in the same place of each run."""
RECENT_S = 0.4
"""Some hosts look every two seconds for free memory to take back: what was touched since is there,
mostly, and `witness` counts what is taken meanwhile. With a second, one cold read in ten waited."""
_TRIM_BYTES = 2**16
"""How much freed memory a process may hold back that was told to give it back."""
_TRIM_THRESHOLD = -1  # of malloc.h
_LAST = mmap.mmap(-1, 16)  # when, and how much: shared with the forked processes of samples


def wanted_bytes(paths: Iterable[str | Path], beyond: int = 0, *, whole: bool = True) -> int:
    """Return how many bytes of memory a read of files may want; 0 where it matters little."""
    size = sum(file.stat().st_size for path in paths for file in files_of(path))
    memory = min(TIMES * size + beyond, max(FEW_BYTES, beyond))
    if whole:
        memory = max(memory, size + beyond)
    return min(memory, MOST_BYTES, memory_limit_bytes() // 8) if memory >= LEAST_BYTES else 0


def touch(size: int) -> None:
    """Take so many bytes of memory, write to them and give them back, unless it was just done."""
    last_s, last_bytes = struct.unpack("=dd", _LAST[:])
    if size > last_bytes or time.monotonic() - last_s > RECENT_S:
        with suppress(MemoryError):  # where less is allowed, a read waits for its memory
            np.ones(size // 8, dtype=np.uint64)
            _LAST[:] = struct.pack("=dd", time.monotonic(), size)


def give_back() -> None:
    """Have glibc give freed memory back at once, as dask's MALLOC_TRIM_THRESHOLD_ does."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_TRIM_THRESHOLD, _TRIM_BYTES)
