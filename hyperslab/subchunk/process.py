"""What a process shares among its threads, and what of it holds in a fork: locks, memory."""

import functools
import gc
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import MemoryLimitError

HELD = 2**28  # bytes of a read that are held at a time where more are allowed
_UNKNOWN = 2**32  # bytes of memory where the machine does not say what it has


class ForkLock:
    """A lock; in a fork it is a new one, as the thread that may hold the old one is not there."""

    def __init__(self) -> None:
        self.renew()
        _LOCKS.add(self)

    def renew(self) -> None:
        self._lock = threading.RLock()  # collecting garbage may come back to it

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_LOCKS: weakref.WeakSet[ForkLock] = weakref.WeakSet()


class _Collection:
    def __init__(self) -> None:
        self._lock, self._fetching, self._was_on = ForkLock(), 0, False

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """Collect nothing while h5py waits for who fetches: an object of h5py needs h5py's lock."""
        with self._lock:
            if not self._fetching:
                self._was_on = gc.isenabled()
                gc.disable()
            self._fetching += 1
        try:
            yield
        finally:
            with self._lock:
                self._fetching -= 1
                if not self._fetching and self._was_on:
                    gc.enable()

    def after_fork(self) -> None:
        if self._fetching and self._was_on:
            gc.enable()
        self._fetching = 0


COLLECTION = _Collection()


def _after_fork() -> None:
    for lock in list(_LOCKS):
        lock.renew()
    COLLECTION.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def allowed(memory_bytes: int | None) -> int:
    """Return a limit in bytes: the one that was given, or half of the machine's memory."""
    if memory_bytes is None:
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        except (AttributeError, OSError, ValueError):
            return _UNKNOWN
    limit: Any = memory_bytes
    if isinstance(limit, bool) or not isinstance(limit, Integral) or int(limit) < 1:
        raise ValueError(f"memory_bytes is {memory_bytes!r}: give a number of bytes, such as 2**30")
    return int(limit)


def refuse_above(limit: int, needed: int, what: str) -> None:
    """Refuse what needs more memory than is allowed, before it is reserved."""
    if needed > limit:
        raise MemoryLimitError(
            f"{what} needs {needed:,} bytes of memory, and memory_bytes allows {limit:,}: give "
            "open() more, or ask for less; if the file is small, its index is damaged"
        )


if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached = functools.cached_property
else:
    _T = TypeVar("_T")

    class cached(functools.cached_property[_T]):  # noqa: N801
        """What Python 3.12 has: no lock, which a thread may hold that a fork does not have."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
