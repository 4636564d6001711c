"""Read ranges that lie near each other together, and ask two questions at the same time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

GAP_LOCAL, GAP_REMOTE = 4096, 8192  # bytes that are quicker read than skipped
Read = Callable[[Sequence[int], Sequence[int]], Sequence[Any]]
_First = TypeVar("_First")
_Second = TypeVar("_Second")


def joined(read: Read, starts: Sequence[int], stops: Sequence[int], gap: int) -> list[memoryview]:
    """Read ranges, near ones together, and cut what came back into those asked for."""
    if len(starts) == 1 and starts[0] < stops[0]:
        return [memoryview(data) for data in read(starts, stops)]
    first = np.asarray(starts, np.int64)
    last = np.asarray(stops, np.int64)
    order = np.argsort(first, kind="stable")
    order = order[first[order] < last[order]]  # nothing is read for nothing
    views: list[memoryview] = [memoryview(b"")] * len(first)
    if not order.size:
        return views
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
        views[number] = pieces[piece][begin:end]
    return views


def both(
    first: Callable[[], _First], second: Callable[[], _Second], *, at_once: bool
) -> tuple[_First, _Second]:
    """Return what two functions give; what the first raises is raised first."""
    if not at_once:
        return first(), second()
    with ThreadPoolExecutor(1) as pool:
        try:
            other = pool.submit(second)
        except RuntimeError:  # no more threads to be had, as in a process that ends
            return first(), second()
        return first(), other.result()
