"""What of a chunk must be decoded for the bytes that are wanted: stretches that begin at points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..index.points import Points

_WHOLE = 0.7  # share of a chunk from which on it is decoded whole


class Stretch(NamedTuple):
    """What is decoded in one go: from a point, over one or more segments.

    Parameters
    ----------
    point : int
        Where decoding starts.
    mark, last : int
        The mark at which it stands, and the one after the last segment.
    out : int
        Byte of the decompressed chunk at which decoding starts.
    length : int
        Bytes to decode.
    start, stop : int
        Compressed bytes of the chunk that are needed.
    shift : int
        Bits of the first of these that come before the point.
    ranges : tuple of int
        Which of the byte ranges wanted lie in it: the first, and the one after the last.
    """

    point: int
    mark: int
    last: int
    out: int
    length: int
    start: int
    stop: int
    shift: int
    ranges: tuple[int, int]


def stretches(
    points: Points,
    rows: NDArray[np.int64],
    sizes: NDArray[np.int64],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
) -> list[list[Stretch]]:
    """Return what must be decoded for byte ranges that are wanted of some chunks.

    Parameters
    ----------
    points : Points
    rows : numpy.ndarray
        int64 of shape (chunks,): places in the chunk table, of chunks that have points.
    sizes : numpy.ndarray
        int64 of shape (chunks,): compressed bytes.
    starts, stops : numpy.ndarray
        int64 of shape (ranges,), ranges of each decompressed chunk; starts ascend.

    Returns
    -------
    list of list of Stretch
        For each chunk; ascending, none overlaps the next. A range lies in the last one that starts
        before it.
    """
    begins, ends = points.first[rows], points.first[rows + 1]
    passed = np.empty((len(rows), len(starts)), np.int64)
    tails = np.empty_like(passed)
    for number, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        out = points.out[begin:end]
        passed[number], tails[number] = out.searchsorted(starts, "right"), out.searchsorted(stops)
    passed += begins[:, None] - 1
    tails += begins[:, None]
    heads = points.mark.searchsorted(passed, "right") - 1
    marks = points.mark[heads]
    new = np.ones(passed.shape, bool)
    new[:, 1:] = marks[:, 1:] >= tails[:, :-1]
    lows = new.ravel().nonzero()[0]
    highs = np.append(lows[1:], new.size) - 1
    chunk, low, high = lows // len(starts), lows % len(starts), highs % len(starts)
    heads, marks, last = heads.ravel()[lows], marks.ravel()[lows], tails.ravel()[highs]
    base, bit = points.out[marks], points.bit[marks].astype(np.int64)
    behind = points.bit[np.minimum(last, len(points.bit) - 1)].astype(np.int64)
    upto = np.where(last < ends[chunk], (behind + 7) >> 3, sizes[chunk])
    columns = (heads, marks, last, base, stops[high] - base, bit >> 3, upto, bit & 7)
    ranges = zip(low.tolist(), (high + 1).tolist(), strict=True)
    found = map(Stretch, *(column.tolist() for column in columns), ranges)
    return [list(islice(found, count)) for count in new.sum(axis=1).tolist()]


def divided(stretch: Stretch, points: Points, count: int) -> list[Stretch]:
    """Cut a stretch into parts that can be decoded apart.

    Parameters
    ----------
    stretch : Stretch
    points : Points
    count : int
        How many parts, if there are points to cut at.

    Returns
    -------
    list of Stretch
        One after another, about equally long.
    """
    behind = int(points.mark.searchsorted(stretch.last))
    marks = points.mark[stretch.point : behind]
    wanted = stretch.out + np.arange(1, count) * stretch.length // count
    cuts = stretch.point + np.unique(points.out[marks].searchsorted(wanted, "right") - 1)
    heads = [stretch.point, *cuts[cuts > stretch.point].tolist()]
    found = []
    for point, after in zip_longest(heads, heads[1:]):
        mark = int(points.mark[point])
        last, end, stop = stretch.last, stretch.out + stretch.length, stretch.stop
        if after is not None:
            last = int(points.mark[after])
            end, stop = int(points.out[last]), (int(points.bit[last]) + 7) >> 3
        out, bit = int(points.out[mark]), int(points.bit[mark])
        part = Stretch(point, mark, last, out, end - out, bit >> 3, stop, bit & 7, stretch.ranges)
        found.append(part)
    return found


def worth(found: Sequence[Stretch], chunk_bytes: int) -> bool:
    """Return whether decoding stretches is less work than decoding the whole chunk."""
    return sum(stretch.length for stretch in found) < _WHOLE * chunk_bytes
