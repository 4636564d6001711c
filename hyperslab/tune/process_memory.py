"""What this process takes of the machine's memory, and how it gives back what it freed."""

from __future__ import annotations

import ctypes
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
    except OSError:
        return peak_bytes()
    return pages * resource.getpagesize()


def peak_bytes() -> int:
    """Return the most memory of this process that was resident at once, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def mib(nbytes: float) -> str:
    """Return bytes as MiB, rounded up, for a sentence."""
    return f"{-int(-nbytes // 2**20):,} MiB"


def give_up() -> None:
    """Return freed memory to the system, where glibc can, so that a read touches new pages."""
    # Else what a step left behind decides how many pages the next one fetches anew, which costs as
    # much as reading a few megabytes. From then on allocations of one size come from one place.
    try:
        libc = ctypes.CDLL(None)
        mallopt, trim, prctl = libc.mallopt, libc.malloc_trim, libc.prctl
    except (OSError, AttributeError, TypeError):
        return
    prctl(_NO_HUGE_PAGES, 1, 0, 0, 0)
    mallopt(_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
    mallopt(_TRIM_THRESHOLD, 2 * _LARGEST_MMAP_THRESHOLD)
    trim(ctypes.c_size_t(0))


def evicted(path: Path) -> bool:
    """Evict a file from the system's cache; False where that cannot be done."""
    try:
        evict([path])
    except (ColdCacheError, OSError):
        return False
    return True
