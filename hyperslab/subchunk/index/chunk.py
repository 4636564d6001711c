"""Index one compressed chunk: find points, keep what each needs."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import WINDOW
from ..deflate.walk import Places, bits, walk
from ..deflate.windows import referred
from .points import ChunkPoints

MARK = 2**15  # bytes of output between points and marks: how finely reading can end
_LEVEL = 6  # of the windows: they are mostly zeros


def index_chunk(stream: NDArray[np.uint8], spacing: int, output: NDArray[np.uint8]) -> ChunkPoints:
    """Return the points of one chunk.

    Parameters
    ----------
    stream : numpy.ndarray
        uint8, the chunk as it is stored, without a checksum behind it.
    spacing : int
        Bytes of output between points that decompression can start at.
    output : numpy.ndarray
        uint8; receives the decompressed chunk.

    Raises
    ------
    SubchunkError
        When the chunk is damaged.
    """
    between = -(-spacing // MARK)
    places = walk(stream, -(-spacing // between), output)
    return points_at(places, between, stream, output)


def points_at(
    places: Places, between: int, stream: NDArray[np.uint8], output: NDArray[np.uint8]
) -> ChunkPoints:
    """Return points of which one in so many can be started at; the others are marks.

    Parameters
    ----------
    places : Places
        From `walk` through `stream`, which left `output`.
    between : int
        One in how many.
    stream, output : numpy.ndarray
        As for `index_chunk`.
    """
    back = np.arange(len(places)) % between
    starts = set(range(0, len(places), between))
    kept = [
        what_to_keep(places, number, stream, output) if number in starts else b""
        for number in range(len(places))
    ]
    view = stream.data
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


def what_to_keep(
    places: Places, number: int, stream: NDArray[np.uint8], output: NDArray[np.uint8]
) -> bytes:
    """Return the header's bytes and the compressed window of a point.

    Parameters
    ----------
    places : Places
    number : int
        Which of them.
    stream, output : numpy.ndarray
        As for `index_chunk`.
    """
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
    if not used.any():
        return front
    window[~used] = 0
    return front + _deflated(window[int(used.argmax()) :])  # a shorter window is its end


def _deflated(window: NDArray[np.uint8]) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15, 9)
    return packer.compress(window.tobytes()) + packer.flush()
