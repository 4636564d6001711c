"""Take values out of one chunk, whole or from points inside it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import inflate_from, inflater
from ..deflate.packing import unpacked
from ..errors import CorruptDataError, CorruptIndexError
from ..index.points import Points

_WHOLE = 0.7  # share of a chunk from which on it is decoded whole


@dataclass(frozen=True)
class Stretch:
    """What is decoded in one go: from a point, over one or more segments.

    Parameters
    ----------
    point, last : int
        First point, and the one after the last segment, counted over all chunks of the variable.
    out : int
        Byte of the decompressed chunk at which decoding starts.
    length : int
        Bytes to decode.
    start, stop : int
        Compressed bytes of the chunk that are needed.
    shift : int
        Bits of the first of these that come before the point.
    """

    point: int
    last: int
    out: int
    length: int
    start: int
    stop: int
    shift: int


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
    begin, end = int(points.first[chunk]), int(points.first[chunk + 1])
    out = points.out[begin:end]
    first = np.searchsorted(out, starts, "right") - 1
    first -= points.back[begin + first].astype(np.int64)
    behind = np.maximum.accumulate(np.searchsorted(out, stops, "left"))
    cuts = np.flatnonzero(first[1:] >= behind[:-1]) + 1
    heads = first[np.concatenate([[0], cuts])].tolist()
    tails = behind[np.concatenate([cuts - 1, [len(first) - 1]])].tolist()
    reach = np.maximum.accumulate(stops)
    ends = reach[np.concatenate([cuts - 1, [len(first) - 1]])].tolist()
    found = []
    for head, tail, stop in zip(heads, tails, ends, strict=True):
        bit = int(points.bit[begin + head])
        upto = (int(points.bit[begin + tail]) + 7) >> 3 if begin + tail < end else size
        base = int(out[head])
        found.append(
            Stretch(begin + head, begin + tail, base, stop - base, bit >> 3, upto, bit & 7)
        )
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
    inside = np.arange(stretch.point, stretch.last)
    able = inside[points.back[stretch.point : stretch.last] == 0]
    after = points.out[able].astype(np.int64) - stretch.out
    wanted = np.arange(1, count) * stretch.length // count
    cuts = np.unique(able[np.searchsorted(after, wanted, "right") - 1]).tolist()
    bounds = [stretch.point, *(cut for cut in cuts if cut > stretch.point), stretch.last]
    found = []
    for head, tail in pairwise(bounds):
        last = tail == stretch.last
        out, bit = int(points.out[head]), int(points.bit[head])
        end = stretch.out + stretch.length if last else int(points.out[tail])
        stop = stretch.stop if last else (int(points.bit[tail]) + 7) >> 3
        found.append(Stretch(head, tail, out, end - out, bit >> 3, stop, bit & 7))
    return found


def worth(found: Sequence[Stretch], chunk_bytes: int) -> bool:
    """Return whether decoding stretches is less work than decoding the whole chunk."""
    return sum(stretch.length for stretch in found) < _WHOLE * chunk_bytes


def decode_stretch(
    stretch: Stretch, data: memoryview, points: Points, kept: memoryview, name: str
) -> NDArray[np.uint8]:
    """Return the decompressed bytes of a stretch.

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

    Raises
    ------
    CorruptDataError
        When the compressed bytes are not those that were indexed.
    CorruptIndexError
        When what the index keeps is damaged.
    """
    point = stretch.point
    check_segments(stretch, data, points, name)
    if len(points.kept_crc) and zlib.crc32(kept) != points.kept_crc[point]:
        raise CorruptIndexError(f"the index is damaged where it describes {name}: build it again")
    bits = int(points.header_bits[point])
    width = (bits + 7) >> 3
    header = int.from_bytes(kept[:width], "little")
    try:
        window = unpacked(kept[width:])
        found = inflate_from(data, stretch.shift, (header, bits), window, stretch.length)
    except (zlib.error, inflater().error) as error:
        raise CorruptIndexError(f"the index does not fit the data of {name}: {error}") from error
    if len(found) != stretch.length:
        raise CorruptIndexError(f"the index does not fit the data of {name}: build it again")
    return np.frombuffer(found, np.uint8)


def check_segments(stretch: Stretch, data: memoryview, points: Points, name: str) -> None:
    """Compare the compressed bytes of a stretch with what they were when they were indexed.

    Raises
    ------
    CorruptDataError
        When they differ, or the file ends before them.
    """
    if len(data) != stretch.stop - stretch.start:
        raise CorruptDataError(f"the file ends within a chunk of {name}: it is truncated")
    if not len(points.segment_crc):
        return
    for point in range(stretch.point, stretch.last):
        low = (int(points.bit[point]) >> 3) - stretch.start
        high = len(data)
        if point + 1 < stretch.last:
            high = ((int(points.bit[point + 1]) + 7) >> 3) - stretch.start
        if zlib.crc32(data[low:high]) != points.segment_crc[point]:
            raise CorruptDataError(
                f"compressed data of {name} are not those that were indexed: the file was "
                "changed or damaged; build its index again if it was changed"
            )


def gathered(
    found: Sequence[tuple[Stretch, NDArray[np.uint8]]],
    starts: NDArray[np.int64],
    length: int,
) -> NDArray[np.uint8]:
    """Collect byte ranges of equal length out of decoded stretches.

    Returns
    -------
    numpy.ndarray
        uint8 of shape (ranges, length).
    """
    if len(found) == len(starts) == 1:
        stretch, data = found[0]
        at = int(starts[0]) - stretch.out
        return data[at : at + length].reshape(1, length)
    if len(found) == len(starts):  # each range in a stretch of its own
        pieces = []
        for (stretch, data), at in zip(found, starts.tolist(), strict=True):
            pieces.append(data[at - stretch.out : at - stretch.out + length])
        return np.concatenate(pieces).reshape(-1, length)
    result = np.empty((len(starts), length), np.uint8)
    bases = np.array([stretch.out for stretch, _ in found], np.int64)
    owner = np.searchsorted(bases, starts, "right") - 1
    cuts = np.flatnonzero(np.diff(owner)) + 1
    for low, high in zip([0, *cuts.tolist()], [*cuts.tolist(), len(starts)], strict=True):
        stretch, data = found[int(owner[low])]
        local = starts[low:high] - stretch.out
        if length <= 64 or high - low > 64:
            result[low:high] = data[local[:, None] + np.arange(length)]
        else:
            for place, at in enumerate(local.tolist(), low):
                result[place] = data[at : at + length]
    return result
