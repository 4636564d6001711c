"""Threads that work through items side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from types import TracebackType
from typing import TypeVar

_Item = TypeVar("_Item")


class Crew:
    """Threads that are started when they are first needed; the caller's is one of them.

    Examples
    --------
    >>> found = []
    >>> with Crew(2) as crew:
    ...     crew.each(found.append, range(3))
    >>> sorted(found)
    [0, 1, 2]
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def each(
        self, one: Callable[[_Item], object], items: Iterable[_Item], *, most: int | None = None
    ) -> None:
        """Do something to each item, in any order, by at most so many threads."""
        left = iter(items)

        def work() -> None:
            try:
                for item in left:
                    one(item)
            except BaseException:
                deque(left, maxlen=0)  # the others need not go on
                raise

        helpers = (self.threads if most is None else min(self.threads, most)) - 1
        others: list[Future[None]] = []
        try:
            if helpers > 0:
                self._pool = self._pool or ThreadPoolExecutor(self.threads - 1)
                with suppress(RuntimeError):  # no more threads to be had, as in a process that ends
                    for _ in range(helpers):
                        others.append(self._pool.submit(work))
            work()
        except BaseException:
            deque(left, maxlen=0)
            raise
        finally:
            wait(others)
        for other in others:
            other.result()
