"""Index one compressed chunk: find points, keep what each needs."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import WINDOW
from ..deflate.walk import Places, bits, walk
from ..deflate.windows import referred
from .points import ChunkPoints

MARK = 2**15  # bytes of output between points, at most: how finely reading can end
_LEVEL = 6  # of the windows: they are mostly zeros


def index_chunk(
    stream: NDArray[np.uint8], spacing: int, output: NDArray[np.uint8], sampled: int = 0
) -> ChunkPoints:
    """Return the points of one chunk.

    Parameters
    ----------
    stream : numpy.ndarray
        uint8, the chunk as it is stored, without a checksum behind it.
    spacing : int
        Bytes of output between points that decompression can start at.
    output : numpy.ndarray
        uint8; receives the decompressed chunk.
    sampled : int
        Points to start at that are made, evenly chosen, to learn what a spacing costs; 0 for all.

    Raises
    ------
    SubchunkError
        When the chunk is damaged.
    """
    between = -(-spacing // MARK)
    places = walk(stream, -(-spacing // between), output)
    back = np.arange(len(places)) % between
    view = stream.data
    starts = np.flatnonzero(back == 0)
    if sampled and sampled < len(starts):
        starts = starts[np.linspace(0, len(starts) - 1, sampled).astype(np.intp)]
    kept = [b""] * len(places)
    for number in starts.tolist():
        kept[number] = _kept(places, number, stream, view, output)
    begins = (places.bit >> np.uint64(3)).tolist()
    ends = [*((places.bit[1:] + np.uint64(7)) >> np.uint64(3)).tolist(), stream.size]
    return ChunkPoints(
        places.out,
        places.bit,
        back.astype(np.uint64),
        np.where(back == 0, places.header_stop - places.header_start, np.uint64(0)),
        kept,
        np.array([zlib.crc32(piece) for piece in kept], np.uint32),
        np.array([zlib.crc32(view[a:b]) for a, b in zip(begins, ends, strict=True)], np.uint32),
    )


def _kept(
    places: Places,
    number: int,
    stream: NDArray[np.uint8],
    view: memoryview,
    output: NDArray[np.uint8],
) -> bytes:
    """Return the header's bytes and the compressed window of a point."""
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
    used = referred(view[bit >> 3 : end], bit & 7, (header, stop - start), window, truth)
    if out < WINDOW:
        used[: WINDOW - out] = False  # before the beginning
    if not used.any():
        return front
    window[~used] = 0
    return front + _deflated(window[int(used.argmax()) :])  # a shorter window is its end


def _deflated(window: NDArray[np.uint8]) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15, 9)
    return packer.compress(window.tobytes()) + packer.flush()
