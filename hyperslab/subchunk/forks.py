"""A lock that a forked process finds open."""

from __future__ import annotations

import os
import threading
import weakref


class ForkLock:
    """A lock; in a fork it is a new one, as the thread that may hold the old one is not there.

    Examples
    --------
    >>> lock = ForkLock()
    >>> with lock, lock:
    ...     print("held")
    held
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # collecting garbage may come back to it
        _LOCKS.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Begin anew."""
        self._lock = threading.RLock()


_LOCKS: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _renew() -> None:
    for lock in list(_LOCKS):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
