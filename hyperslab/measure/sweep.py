"""Fill the processor's last cache: a file that lies in it by chance is read a fifth quicker."""

import contextlib
import socket
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .machine import memory_bytes

LINE_BYTES = 64
_DEFAULT_BYTES, _MOST_BYTES = 64 * 2**20, 512 * 2**20


def last_cache_bytes() -> int:
    """Return the size, in bytes, of the processor's last cache; 64 MiB where it is unknown."""
    sizes = []
    for entry in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = entry.read_text().strip()
        unit = {"K": 2**10, "M": 2**20}.get(text[-1:], 1)
        sizes.append(int(text.rstrip("KM")) * unit)
    return max(sizes, default=_DEFAULT_BYTES)


@cache
def filler() -> NDArray[np.uint64]:
    """Return what is read to fill the cache; made once, and shared by processes forked later."""
    size = min(last_cache_bytes(), _MOST_BYTES, memory_bytes() // 16)
    return np.ones(size // 8, dtype=np.uint64)


def sweep(part: int = 0, parts: int = 1) -> None:
    """Read the filler, or one of so many equal parts of it, one word of each cache line."""
    words, line = filler(), LINE_BYTES // 8
    length = -(-len(words) // (parts * line)) * line
    words[part * length : (part + 1) * length : line].sum()


class Partners:
    """A process and one forked from it, which read a half of the filler each at the same time."""

    # Not threads: a process that has had one is slower ever after, as its C library locks more.
    def __init__(self) -> None:
        self._waiting, self._asking = socket.socketpair()

    def sweep(self) -> None:
        """Have the filler read; called in the forked process."""
        self._waiting.close()
        self._asking.sendall(b"?")
        sweep(0, 2)
        if not self._asking.recv(1):
            raise OSError("the process that was to sweep the other half is gone")
        self._asking.close()

    def help(self) -> None:
        """Read a half once the other process asks for it, or nothing if it ends before."""
        self._asking.close()
        with self._waiting:
            if self._waiting.recv(1):
                sweep(1, 2)
                with contextlib.suppress(BrokenPipeError):  # it was ended meanwhile
                    self._waiting.sendall(b".")
