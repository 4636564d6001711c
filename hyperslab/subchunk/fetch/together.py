"""Two questions that need not wait for each other's answer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_First = TypeVar("_First")
_Second = TypeVar("_Second")


def together(first: Callable[[], _First], second: Callable[[], _Second]) -> tuple[_First, _Second]:
    """Return what two functions give that are called at the same time.

    Over a network each waits for a journey there and back. What the first raises is raised before
    what the second does.

    Examples
    --------
    >>> together(lambda: 1, lambda: 2)
    (1, 2)
    """
    with ThreadPoolExecutor(1) as pool:
        try:
            other = pool.submit(second)
        except RuntimeError:  # no more threads to be had, as in a process that ends
            return first(), second()
        return first(), other.result()


def in_turn(first: Callable[[], _First], second: Callable[[], _Second]) -> tuple[_First, _Second]:
    """Return what two functions give, called one after the other.

    Examples
    --------
    >>> in_turn(lambda: 1, lambda: 2)
    (1, 2)
    """
    return first(), second()
