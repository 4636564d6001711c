"""How much memory a read may take beside its result."""

from __future__ import annotations

import os

from .errors import MemoryLimitError

HELD = 2**28  # bytes of a read that are held at a time where more are allowed
_UNKNOWN = 2**32  # where the machine does not say what it has


def allowed(memory_bytes: int | None) -> int:
    """Return a limit in bytes: the one that was given, or half of the machine's memory.

    Examples
    --------
    >>> allowed(2**20)
    1048576
    """
    if memory_bytes is None:
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        except (AttributeError, OSError, ValueError):
            return _UNKNOWN
    if isinstance(memory_bytes, bool) or not isinstance(memory_bytes, int) or memory_bytes < 1:
        raise ValueError(f"memory_bytes is {memory_bytes!r}: give a number of bytes, such as 2**30")
    return memory_bytes


def refuse_above(limit: int, needed: int, what: str) -> None:
    """Refuse what needs more memory than is allowed, before it is reserved.

    Examples
    --------
    >>> refuse_above(2**20, 1000, "a chunk of x")
    """
    if needed > limit:
        raise MemoryLimitError(
            f"{what} needs {needed:,} bytes of memory, and memory_bytes allows {limit:,}: give "
            "open() more, or ask for less; if the file is small, its index is damaged"
        )
