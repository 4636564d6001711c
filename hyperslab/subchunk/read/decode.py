"""Take values out of one chunk, whole or from points inside it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import inflated, inflater
from ..deflate.packing import unpacked
from ..errors import CorruptDataError, CorruptIndexError
from ..index.points import Points

_WHOLE = 0.7  # share of a chunk from which on it is decoded whole
_SHORT, _MANY = 64, 64  # bytes of a range, and ranges, that are quicker picked all at once


@dataclass(frozen=True)
class Stretch:
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
    points: Points, chunk: int, size: int, starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> list[Stretch]:
    """Return what must be decoded for byte ranges of a chunk.

    Parameters
    ----------
    points : Points
    chunk : int
        Place of the chunk in the chunk table.
    size : int
        Compressed bytes of the chunk.
    starts, stops : numpy.ndarray
        int64, ranges of the decompressed chunk; starts ascend.

    Returns
    -------
    list of Stretch
        Ascending; none overlaps the next. A range lies in the last one that starts before it.
    """
    begin, end = points.first[chunk : chunk + 2].tolist()
    out = points.out[begin:end]
    passed = begin - 1 + out.searchsorted(starts, "right")
    heads = points.mark.searchsorted(passed, "right") - 1
    marks = points.mark[heads]
    tails = begin + out.searchsorted(stops)
    cuts = ((marks[1:] >= tails[:-1]).nonzero()[0] + 1).tolist()
    lows, highs = [0, *cuts], [*cuts, len(starts)]
    heads, marks = heads[lows], marks[lows]
    columns = (
        heads.tolist(),
        marks.tolist(),
        [int(tails[high - 1]) for high in highs],
        points.out[marks].tolist(),
        [int(stops[high - 1]) for high in highs],
        points.bit[marks].tolist(),
        zip(lows, highs, strict=True),
    )
    found = []
    for point, mark, last, base, stop, bit, ranges in zip(*columns, strict=True):
        upto = (int(points.bit[last]) + 7) >> 3 if last < end else size
        found.append(Stretch(point, mark, last, base, stop - base, bit >> 3, upto, bit & 7, ranges))
    return found


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


def decode_stretch(
    stretch: Stretch, data: memoryview, points: Points, kept: memoryview, name: str
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Decompress a stretch, a piece at a time.

    Parameters
    ----------
    stretch : Stretch
    data : memoryview
        Its compressed bytes.
    points : Points
    kept : memoryview
        What the index keeps for its point.
    name : str
        Of the variable, for messages.

    Yields
    ------
    out : int
        Byte of the decompressed chunk at which the piece begins.
    piece : numpy.ndarray
        uint8.

    Raises
    ------
    CorruptDataError
        When the compressed bytes are not those that were indexed.
    CorruptIndexError
        When what the index keeps is damaged.
    """
    point = stretch.point
    check_segments(stretch, data, points, name)
    if len(points.kept_crc) and inflater().crc32(kept) != points.kept_crc[point]:
        raise CorruptIndexError(f"the index is damaged where it describes {name}: build it again")
    bits = int(points.header_bits[point])
    width = (bits + 7) >> 3
    header = int.from_bytes(kept[:width], "little")
    try:
        window, out = unpacked(kept[width:]), stretch.out
        for piece in inflated(data, stretch.shift, (header, bits), window, stretch.length):
            yield out, np.frombuffer(piece, np.uint8)
            out += len(piece)
    except (zlib.error, inflater().error) as error:
        raise CorruptIndexError(f"the index does not fit the data of {name}: {error}") from error
    if out != stretch.out + stretch.length:
        raise CorruptIndexError(f"the index does not fit the data of {name}: build it again")


def check_segments(stretch: Stretch, data: memoryview, points: Points, name: str) -> None:
    """Compare the compressed bytes of a stretch with what they were when they were indexed.

    Raises
    ------
    CorruptDataError
        When they differ, or the file ends before them.
    """
    _check_size(data, stretch.stop - stretch.start, name)
    if len(points.segment_crc):
        _check_marks(stretch.mark, stretch.last, stretch.start, data, points, name)


def check_chunk(chunk: int, size: int, data: memoryview, points: Points, name: str) -> None:
    """Compare a whole compressed chunk with what it was when it was indexed.

    Its own checksum, an Adler-32, can fit by chance.

    Parameters
    ----------
    chunk : int
        Place of the chunk in the chunk table.
    size : int
        Compressed bytes of the chunk, without a checksum behind them.
    data : memoryview
        These bytes, as the file has them.
    points : Points
    name : str
        Of the variable, for messages.

    Raises
    ------
    CorruptDataError
        When they differ, or the file ends before them.
    """
    mark, last = points.first[chunk : chunk + 2].tolist()
    if mark < last and len(points.segment_crc):
        _check_size(data, size, name)
        _check_marks(mark, last, 0, data, points, name)


def _check_size(data: memoryview, size: int, name: str) -> None:
    if len(data) != size:
        raise CorruptDataError(f"the file ends within a chunk of {name}: it is truncated")


def _check_marks(
    mark: int, last: int, start: int, data: memoryview, points: Points, name: str
) -> None:
    """Compare segments from one mark to another in bytes that begin at one of the chunk."""
    crc32 = inflater().crc32
    bits = points.bit[mark:last].tolist()
    sums = points.segment_crc[mark:last].tolist()
    ends = [(bit + 7 >> 3) - start for bit in bits[1:]]
    for bit, end, truth in zip(bits, [*ends, len(data)], sums, strict=True):
        if crc32(data[(bit >> 3) - start : end]) != truth:
            raise CorruptDataError(
                f"compressed data of {name} are not those that were indexed: the file was "
                "changed or damaged; build its index again if it was changed"
            )


def place(
    out: int,
    data: NDArray[np.uint8],
    ranges: tuple[int, int],
    starts: NDArray[np.int64],
    into: NDArray[np.uint8],
) -> None:
    """Put what lies in decompressed bytes of byte ranges where it belongs.

    Parameters
    ----------
    out : int
        Byte of the decompressed chunk at which the data begin.
    data : numpy.ndarray
        uint8.
    ranges : tuple of int
        The first range that may lie in the data, and the one after the last.
    starts : numpy.ndarray
        int64, all ranges of the chunk; of a shuffled chunk those of all planes, plane after plane.
    into : numpy.ndarray
        uint8 of shape (planes, ranges in a plane, length).
    """
    count, length = into.shape[1:]
    low, high = ranges
    if high - low > 1:
        inside = starts[low:high]
        after = int(inside.searchsorted(out + len(data)))
        low, high = low + int(inside.searchsorted(out - length, "right")), low + after
    alone = list(range(low, high))
    if length <= _SHORT or high - low > _MANY:
        alone = alone[:1] + alone[1:][-1:]  # they may reach beyond the data
        for plane in range((low + 1) // count, (high - 2) // count + 1):
            first, last = max(low + 1, plane * count), min(high - 1, (plane + 1) * count)
            inside = starts[first:last] - out
            picked = data[inside[:, None] + np.arange(length)]
            into[plane, first - plane * count : last - plane * count] = picked
    for number in alone:
        plane, run = divmod(number, count)
        at = int(starts[number]) - out
        begin, end = max(at, 0), min(at + length, len(data))
        if begin < end:
            into[plane, run, begin - at : end - at] = data[begin:end]
