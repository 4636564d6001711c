"""The points of one variable: where in its chunks decompression can start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Points:
    """Flat arrays over (chunk, point), chunks in the order of the chunk table.

    A point's segment is what lies between it and the next point of its chunk, or the chunk's end.
    Not all points keep what decompression needs to start there: the others only tell how far the
    compressed data must be read, and cost next to nothing.

    Parameters
    ----------
    first : numpy.ndarray
        int64 of shape (chunks + 1,): the first point of each chunk.
    out : numpy.ndarray
        Bytes of the decompressed chunk before the point.
    bit : numpy.ndarray
        Bits of the compressed chunk before the point.
    back : numpy.ndarray
        Points to go back to one that decompression can start at; 0 for such a point itself.
    header_bits : numpy.ndarray
        Length of the deflate header that goes in front; 0 at a block's beginning.
    kept_at, kept_bytes : numpy.ndarray
        Place among the kept bytes, and how many: the header, then the compressed window.
    kept_crc, segment_crc : numpy.ndarray
        CRC-32 of the kept bytes, and of the compressed bytes of the segment, the first and last
        of which it may share with its neighbours; empty where the index holds none.
    """

    first: NDArray[np.int64]
    out: NDArray[np.uint64]
    bit: NDArray[np.uint64]
    back: NDArray[np.uint64]
    header_bits: NDArray[np.uint64]
    kept_at: NDArray[np.uint64]
    kept_bytes: NDArray[np.uint64]
    kept_crc: NDArray[np.uint32]
    segment_crc: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.out)


POINT_ARRAYS = tuple(field.name for field in fields(Points))


@dataclass(frozen=True)
class ChunkPoints:
    """The points of one chunk, with what each keeps.

    Parameters
    ----------
    out, bit, back, header_bits : numpy.ndarray
        As in `Points`.
    kept : sequence of bytes
        Header and compressed window of each point.
    kept_crc, segment_crc : numpy.ndarray
        As in `Points`.
    """

    out: NDArray[np.uint64]
    bit: NDArray[np.uint64]
    back: NDArray[np.uint64]
    header_bits: NDArray[np.uint64]
    kept: Sequence[bytes]
    kept_crc: NDArray[np.uint32]
    segment_crc: NDArray[np.uint32]

    @staticmethod
    def none() -> ChunkPoints:
        """Return what a chunk without points has: it is read whole."""
        places, sums = np.empty(0, np.uint64), np.empty(0, np.uint32)
        return ChunkPoints(places, places, places, places, [], sums, sums)


def joined(chunks: Sequence[ChunkPoints], start: int = 0) -> tuple[Points, bytes]:
    """Return the points of many chunks and the bytes they keep, first points first.

    The n-th points of all chunks keep their bytes side by side, so that the same place in many
    chunks, which is what a time series reads, needs one contiguous range.

    Parameters
    ----------
    chunks : sequence of ChunkPoints
    start : int
        Place of the first byte.
    """
    counts = np.array([len(chunk.out) for chunk in chunks], np.int64)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    kept = [piece for chunk in chunks for piece in chunk.kept]
    sizes = np.array([len(piece) for piece in kept], np.uint64)
    place = np.arange(len(kept)) - np.repeat(first[:-1], counts)
    order = np.argsort(place, kind="stable")
    at = np.empty(len(kept), np.uint64)
    at[order] = start + np.cumsum(sizes[order]) - sizes[order]

    def column(name: str, dtype: type) -> NDArray[Any]:
        return np.concatenate([np.empty(0, dtype), *(getattr(chunk, name) for chunk in chunks)])

    points = Points(
        first=first,
        out=column("out", np.uint64),
        bit=column("bit", np.uint64),
        back=column("back", np.uint64),
        header_bits=column("header_bits", np.uint64),
        kept_at=at,
        kept_bytes=sizes,
        kept_crc=column("kept_crc", np.uint32),
        segment_crc=column("segment_crc", np.uint32),
    )
    return points, b"".join(kept[number] for number in order)
