"""What of a chunk must be decoded for the bytes that are wanted: stretches that begin at points."""

from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..index.points import Points


class Stretch(NamedTuple):
    """What is decoded in one go: from a point, over one or more segments."""

    point: int  # where decoding starts
    mark: int  # the mark at which it stands
    last: int  # the mark after the last segment
    out: int  # byte of the decompressed chunk at which decoding starts
    length: int  # bytes to decode
    start: int  # first byte of the compressed chunk that is needed
    stop: int  # the one after the last
    shift: int  # bits of the first that come before the point
    ranges: tuple[int, int]  # the first of the wanted ranges in it, and the one after the last


def stretches(
    points: Points,
    rows: NDArray[np.int64],
    sizes: NDArray[np.int64],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
) -> list[list[Stretch]]:
    """Return for chunks, by rows of the table, what must be decoded for ascending byte ranges."""
    # A range lies in the last stretch that starts before it; none overlaps the next.
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
    flat = map(Stretch, *(column.tolist() for column in columns), ranges)
    return [list(islice(flat, count)) for count in new.sum(axis=1).tolist()]


def divided(stretch: Stretch, points: Points, count: int) -> list[Stretch]:
    behind = int(points.mark.searchsorted(stretch.last))
    marks = points.mark[stretch.point : behind]
    ideal = stretch.out + np.arange(1, count) * stretch.length // count
    cuts = stretch.point + np.unique(points.out[marks].searchsorted(ideal, "right") - 1)
    heads = [stretch.point, *cuts[cuts > stretch.point].tolist()]
    last, end, stop = stretch.last, stretch.out + stretch.length, stretch.stop
    pieces = []
    for point in reversed(heads):
        mark = int(points.mark[point])
        out, bit = int(points.out[mark]), int(points.bit[mark])
        where = (out, end - out, bit >> 3, stop, bit & 7)
        pieces.append(Stretch(point, mark, last, *where, stretch.ranges))
        last, end, stop = mark, out, (bit + 7) >> 3
    return pieces[::-1]
