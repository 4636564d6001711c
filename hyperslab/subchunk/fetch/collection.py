"""When Python may collect garbage."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..forks import ForkLock


class _Collection:
    """Python's collection of garbage, put off while anybody asks for it.

    Examples
    --------
    >>> before = gc.isenabled()
    >>> with COLLECTION.put_off(), COLLECTION.put_off():
    ...     gc.isenabled()
    False
    >>> gc.isenabled() == before
    True
    """

    def __init__(self) -> None:
        self._lock, self._asked, self._was_on = ForkLock(), 0, False

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """Collect no garbage meanwhile.

        While h5py reads it holds its lock, and waits for the thread that fetches. If that one
        collected an object of h5py, which needs the lock, both would wait for ever.
        """
        with self._lock:
            if not self._asked:
                self._was_on = gc.isenabled()
                gc.disable()
            self._asked += 1
        try:
            yield
        finally:
            with self._lock:
                self._asked -= 1
                if not self._asked and self._was_on:
                    gc.enable()

    def after_fork(self) -> None:
        """Begin anew: the threads that asked are not here."""
        if self._asked and self._was_on:
            gc.enable()
        self._asked = 0


COLLECTION = _Collection()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=COLLECTION.after_fork)
