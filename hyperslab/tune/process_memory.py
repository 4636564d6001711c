"""What this process takes of the machine's memory, and how it gives back what it freed."""

from __future__ import annotations

import ctypes
import re
import resource
import sys
from pathlib import Path

from hyperslab.measure.cold import ColdCacheError, evict

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1  # of mallopt, in glibc's malloc.h
_NO_HUGE_PAGES = 41  # of prctl, in Linux: PR_SET_THP_DISABLE
_LARGEST_MMAP_THRESHOLD = 32 * 2**20


def resident_bytes() -> int:
    """Return the memory of this process that is resident now; else the most there has been."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return peak_bytes()
    return pages * resource.getpagesize()


def peak_bytes() -> int:
    """Return the most memory of this process that was resident at once, in bytes (VmHWM)."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    if found:
        return int(found[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def mib(nbytes: float) -> str:
    """Return bytes as MiB, rounded up, for a sentence."""
    return f"{-int(-nbytes // 2**20):,} MiB"


def give_up() -> bool:
    """Return freed memory to the system, so that all that is read next touches new pages.

    How much a step before it left behind would else decide how many pages the next one has to
    fetch anew, which costs as much as reading a few megabytes that are in memory. From then on
    allocations of one size come from one place, whatever was allocated before. False where the C
    library has no way: then nothing is done.
    """
    try:
        libc = ctypes.CDLL(None)
        mallopt, trim, prctl = libc.mallopt, libc.malloc_trim, libc.prctl
    except (OSError, AttributeError, TypeError):
        return False
    prctl(_NO_HUGE_PAGES, 1, 0, 0, 0)
    mallopt(_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
    mallopt(_TRIM_THRESHOLD, 2 * _LARGEST_MMAP_THRESHOLD)
    trim(ctypes.c_size_t(0))
    return True


def evicted(path: Path) -> bool:
    """Evict a file from the system's cache; False where that cannot be done."""
    try:
        evict([path])
    except (ColdCacheError, OSError):
        return False
    return True
