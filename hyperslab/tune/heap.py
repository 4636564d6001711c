"""The memory that this process holds back: given up, so that what follows starts as if afresh."""

from __future__ import annotations

import ctypes

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1  # of mallopt, in glibc's malloc.h
_NO_HUGE_PAGES = 41  # of prctl, in Linux: PR_SET_THP_DISABLE
_LARGEST_MMAP_THRESHOLD = 32 * 2**20


def give_up() -> bool:
    """Return freed memory to the system, so that all that is read next touches new pages.

    How much a step before it left behind would else decide how many pages the next one has to
    fetch anew, which costs as much as reading a few megabytes that are in memory. From then on
    allocations of one size come from one place, whatever was allocated before.
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
