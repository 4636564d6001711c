"""What gives ranges of bytes, and how ranges that lie near each other are read together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

GAP_LOCAL, GAP_REMOTE = 4096, 8192  # bytes that are quicker read than skipped
Read = Callable[[Sequence[int], Sequence[int]], Sequence[Any]]


class Source(Protocol):
    """A file that gives ranges of its bytes."""

    @property
    def remote(self) -> bool:
        """Whether each request costs a journey."""

    @property
    def name(self) -> str:
        """Its path or URL, for messages."""

    def close(self) -> None:
        """Give back what is open; a later read opens it again."""

    def identity(self) -> dict[str, Any]:
        """Return size and time or tag: what tells, without reading, that a file changed."""

    def ranges(self, starts: Sequence[int], stops: Sequence[int]) -> list[memoryview]:
        """Return the bytes of each range; shorter where the file ends."""

    def check(self, fd: int | None = None) -> None:
        """Make sure that it is the file it was, as far as that costs no request."""


def joined(read: Read, starts: Sequence[int], stops: Sequence[int], gap: int) -> list[memoryview]:
    """Read ranges, near ones together, and cut what came back into those asked for.

    Examples
    --------
    >>> data = bytes(range(100))
    >>> def read(starts, stops):
    ...     print(starts, stops)
    ...     return [data[a:b] for a, b in zip(starts, stops)]
    >>> [bytes(piece) for piece in joined(read, [50, 3, 0], [52, 4, 1], 8)]
    [0, 50] [4, 52]
    [b'23', b'\\x03', b'\\x00']
    """
    if len(starts) == 1 and starts[0] < stops[0]:
        return [memoryview(data) for data in read(starts, stops)]
    first = np.asarray(starts, np.int64)
    last = np.asarray(stops, np.int64)
    order = np.argsort(first, kind="stable")
    order = order[first[order] < last[order]]  # nothing is read for nothing
    found: list[memoryview] = [memoryview(b"")] * len(first)
    if not order.size:
        return found
    first, last = first[order], last[order]
    reach = np.maximum.accumulate(last)
    cuts = np.flatnonzero(first[1:] > reach[:-1] + gap) + 1
    begins = first[np.concatenate([[0], cuts])]
    ends = reach[np.concatenate([cuts - 1, [len(first) - 1]])]
    pieces = [memoryview(data) for data in read(begins.tolist(), ends.tolist())]
    group = np.searchsorted(begins, first, "right") - 1
    low = (first - begins[group]).tolist()
    high = (last - begins[group]).tolist()
    for number, piece, begin, end in zip(order.tolist(), group.tolist(), low, high, strict=True):
        found[number] = pieces[piece][begin:end]
    return found
