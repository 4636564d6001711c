"""What this process takes of the machine's memory, now and at most so far."""

from __future__ import annotations

import os
import re
import resource
import sys
from pathlib import Path


def resident_bytes() -> int:
    """Return the memory of this process that is resident now, in bytes.

    Where the system does not say, it is the most there has been.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return peak_bytes()
    return pages * os.sysconf("SC_PAGE_SIZE")


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
