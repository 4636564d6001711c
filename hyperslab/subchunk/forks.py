"""A lock that a forked process finds open, and a cached property without a lock."""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any, TypeVar


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


if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached = functools.cached_property
else:
    _T = TypeVar("_T")

    class cached(functools.cached_property[_T]):  # noqa: N801
        """What Python 3.12 has: no lock, which a thread may hold that a fork does not have."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            values = instance.__dict__
            if self.attrname not in values:
                values[self.attrname] = self.func(instance)
            return values[self.attrname]
