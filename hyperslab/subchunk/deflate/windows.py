"""Keep of a window only what the data behind it refers to."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from .inflate import WINDOW, inflate_from

Pairs = NDArray[np.uint16]
_ONE = np.uint16(1)
_FEW = WINDOW // 8  # copied bytes below which the check costs little and matters


def referred(
    data: memoryview,
    shift: int,
    header: tuple[int, int],
    window: NDArray[np.uint8],
    truth: NDArray[np.uint8],
) -> NDArray[np.bool_]:
    """Return which bytes of a window decompression looks at, and perhaps a few more.

    The data is decompressed with a window in which any two neighbours tell where they stand, so
    that one pass finds what was copied from where. Deflate copies three bytes or more; only at the
    window's end fewer of them may lie in it, and its last two are always kept.
    """
    marks, place = _marks()
    found = inflate_from(data, shift, header, marks, truth.size)
    even, odd = (place.take(pairs) for pairs in _pairs(found))  # much quicker than place[…]
    first = np.flatnonzero(even[: odd.size] + _ONE == odd[: even.size])
    second = np.flatnonzero(odd[: even.size - 1] + _ONE == even[1:])
    begins = np.concatenate([even.take(first), odd.take(second)]).astype(np.intp)
    # Among many literals three bytes stand so by chance now and then: their value tells.
    if begins.size < _FEW:
        copied = np.concatenate([2 * first, 2 * second + 1])
        begins = begins.compress(window.take(begins) == truth.take(copied))
    used = np.zeros(WINDOW, bool)
    used[begins] = True
    used[1:] |= used[:-1].copy()
    used[1:] |= used[:-1].copy()
    used[-2:] = True
    return used


def _pairs(values: bytes) -> tuple[Pairs, Pairs]:
    """Return each byte with its right neighbour as one number: those in even places, and odd."""
    even = np.frombuffer(values, "<u2", len(values) // 2)
    return even, np.frombuffer(values, "<u2", max(len(values) - 1, 0) // 2, min(len(values), 1))


@functools.cache
def _marks() -> tuple[bytes, Pairs]:
    """Return a window in which no pair of neighbours comes twice, and where each pair stands.

    It is the beginning of a de Bruijn sequence. Pairs that do not come stand
    behind its end.
    """
    rows = (
        [first, *(byte for second in range(first + 1, 256) for byte in (first, second))]
        for first in range(256)
    )
    marks = np.array([byte for row in rows for byte in row][:WINDOW], np.uint8)
    place = np.full(2**16, 2 * WINDOW - 2, np.uint16)
    even, odd = _pairs(marks.tobytes())
    place[even], place[odd] = np.arange(0, WINDOW - 1, 2), np.arange(1, WINDOW - 1, 2)
    return marks.tobytes(), place
