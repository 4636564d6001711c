"""Index one compressed chunk: find points, keep what each needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import WINDOW, inflater
from ..deflate.packing import by_lzma, deflated
from ..deflate.walk import Places, bits, walk
from ..deflate.windows import referred
from .points import ChunkPoints
from .spread import Spread

_TRIED = 8  # windows packed both ways
_LARGE = 1024  # bytes of a packed window from which on another way is tried
_GAIN = 0.8  # what it must come to, since unpacking takes longer

Bytes = NDArray[np.uint8]
Packer = Callable[[Bytes, NDArray[np.bool_], int], bytes]


def index_chunk(
    stream: Bytes, spread: Spread, output: Bytes, itemsize: int = 1, chunk: int = 0
) -> ChunkPoints:
    """Return the points of one chunk."""
    places = walk(stream, spread.mark, output)
    return Windows(places, stream, output, itemsize).points(spread, chunk)


class Windows:
    """What points of one chunk need to start decompression at."""

    def __init__(self, places: Places, stream: Bytes, output: Bytes, itemsize: int) -> None:
        self.places = places
        self._stream, self._output, self._itemsize = stream, output, itemsize

    def points(self, spread: Spread, chunk: int) -> ChunkPoints:
        """Return marks, and points at some of them, as they are spread."""
        places, view, crc32 = self.places, self._stream.data, inflater().crc32
        starts = spread.starts(places.out.astype(np.int64), chunk)
        begins = (places.bit >> np.uint64(3)).tolist()
        ends = [*((places.bit[1:] + np.uint64(7)) >> np.uint64(3)).tolist(), self._stream.size]
        return ChunkPoints(
            places.out,
            places.bit,
            np.array([crc32(view[a:b]) for a, b in zip(begins, ends, strict=True)], np.uint32),
            starts,
            (places.header_stop - places.header_start)[starts],
            self.kept(starts.tolist()),
        )

    def kept(self, numbers: Sequence[int]) -> list[bytes]:
        """Return header and packed window of each of some places; some tell how all are packed."""
        tried = numbers[:: max(len(numbers) // _TRIED, 1)]
        pack: Packer = deflated
        found = {number: self._kept(number, pack) for number in tried}
        usual = sum(map(len, found.values()))
        other = self._by_lzma(tried) if usual > _LARGE * len(tried) else {}
        if other and sum(map(len, other.values())) < _GAIN * usual:
            pack, found = by_lzma, other
        return [found.get(number) or self._kept(number, pack) for number in numbers]

    def _by_lzma(self, numbers: Sequence[int]) -> dict[int, bytes]:
        try:
            return {number: self._kept(number, by_lzma) for number in numbers}
        except ImportError:  # a Python built without it
            return {}

    def _kept(self, number: int, pack: Packer) -> bytes:
        places, output, stream = self.places, self._output, self._stream
        out, bit = int(places.out[number]), int(places.bit[number])
        start, stop = int(places.header_start[number]), int(places.header_stop[number])
        header = bits(stream, start, stop)
        front = header.to_bytes((stop - start + 7) >> 3, "little")
        if not out:
            return front
        window = np.zeros(WINDOW, np.uint8)
        window[max(0, WINDOW - out) :] = output[max(0, out - WINDOW) : out]
        truth = output[out : out + WINDOW]
        behind = int(np.searchsorted(places.out, out + truth.size))
        end = int(places.bit[behind] + np.uint64(7)) >> 3 if behind < len(places) else stream.size
        used = referred(stream.data[bit >> 3 : end], bit & 7, (header, stop - start), window, truth)
        if out < WINDOW:
            used[: WINDOW - out] = False  # before the beginning
        return front + pack(window, used, self._itemsize)
