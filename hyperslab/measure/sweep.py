"""Fill the processor's last cache with other data, so that every warm read starts alike.

A file in the page cache may lie in the processor's cache as well, if it was the last to be read,
and is then read a fifth quicker. That is chance in a shuffled run, so it is taken away.
"""

import os
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LINE_BYTES = 64
_DEFAULT_BYTES, _MOST_BYTES = 64 * 2**20, 512 * 2**20


def last_cache_bytes() -> int:
    """Return the size, in bytes, of the processor's last cache; 64 MiB where it is unknown.

    Examples
    --------
    >>> last_cache_bytes() > 2**18
    True
    """
    sizes = []
    for entry in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = entry.read_text().strip()
        unit = {"K": 2**10, "M": 2**20}.get(text[-1:], 1)
        sizes.append(int(text.rstrip("KM")) * unit)
    return max(sizes, default=_DEFAULT_BYTES)


@cache
def filler() -> NDArray[np.uint64]:
    """Return what is read to fill the cache; made once, and shared by processes forked later."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    size = min(last_cache_bytes(), _MOST_BYTES, memory // 16)
    return np.ones(size // 8, dtype=np.uint64)


def sweep() -> None:
    """Read the filler, one word of each cache line.

    Examples
    --------
    >>> sweep()
    """
    filler()[:: LINE_BYTES // 8].sum()
