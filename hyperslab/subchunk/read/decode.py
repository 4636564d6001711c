"""Decompress a stretch of a chunk, and put what is wanted of it where it belongs."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import inflated, inflater, spliced
from ..deflate.packing import unpacked
from ..errors import CorruptDataError, CorruptIndexError
from ..index.points import Points
from .stretch import Stretch

_SHORT, _MANY = 64, 64  # bytes of a range, and ranges, that are quicker picked all at once


def decode_stretch(
    stretch: Stretch, data: memoryview, points: Points, kept: memoryview, name: str
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Decompress a stretch; give pieces, each with the byte of the chunk where it begins."""
    header, packed = _kept(stretch, data, points, kept, name)
    try:
        window, out = unpacked(packed), stretch.out
        for piece in inflated(data, stretch.shift, header, window, stretch.length):
            yield out, np.frombuffer(piece, np.uint8)
            out += len(piece)
    except (zlib.error, inflater().error) as error:
        raise CorruptIndexError(f"the index does not fit the data of {name}: {error}") from error
    if out != stretch.out + stretch.length:
        raise CorruptIndexError(f"the index does not fit the data of {name}: build it again")


def prepared(
    stretch: Stretch, data: memoryview, points: Points, kept: memoryview, name: str
) -> tuple[bytes, memoryview]:
    """Check a stretch; return its spliced stream, and its window as the index keeps it."""
    header, packed = _kept(stretch, data, points, kept, name)
    return spliced(data, stretch.shift, header), packed


def _kept(
    stretch: Stretch, data: memoryview, points: Points, kept: memoryview, name: str
) -> tuple[tuple[int, int], memoryview]:
    """Check a stretch, and return the header and the packed window that its point keeps."""
    check_segments(stretch, data, points, name)
    bits = int(points.header_bits[stretch.point])
    width = (bits + 7) >> 3
    header = int.from_bytes(kept[:width], "little")
    damaged = len(points.kept_crc) and inflater().crc32(kept) != points.kept_crc[stretch.point]
    if damaged or header >> bits or stretch.length < 0:
        raise CorruptIndexError(f"the index is damaged where it describes {name}: build it again")
    return (header, bits), kept[width:]


def check_segments(stretch: Stretch, data: memoryview, points: Points, name: str) -> None:
    """Compare the compressed bytes of a stretch with what they were when they were indexed."""
    _check_size(data, stretch.stop - stretch.start, name)
    if len(points.segment_crc):
        _check_marks(stretch.mark, stretch.last, stretch.start, data, points, name)


def check_chunk(chunk: int, size: int, data: memoryview, points: Points, name: str) -> None:
    """Compare a whole compressed chunk with what it was when it was indexed.

    Its own checksum, an Adler-32, can fit by chance.
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
    """Put what of the ranges `starts` lies in `data`, which begins at byte `out` of a chunk.

    Ranges of a shuffled chunk are those of all planes; `into` is (planes, ranges, length).
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
