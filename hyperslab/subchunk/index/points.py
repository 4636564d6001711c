"""The points of one variable: where in its chunks decompression can start."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import inflater


@dataclass(frozen=True)
class Points:
    """Flat arrays over the marks and the points of all chunks, in the order of the chunk table."""

    # A mark is a place in a chunk up to which compressed data may be read; it costs next to
    # nothing. Its segment reaches to the next mark of its chunk, or the chunk's end. At some marks,
    # the first of a chunk always among them, stands a point: there decompression can start.
    # Checksums are CRC-32, and empty where the index holds none.

    first: NDArray[np.int64]  # (chunks + 1,): the first mark of each chunk
    out: NDArray[np.int64]  # (marks,): bytes of the decompressed chunk before the mark
    bit: NDArray[np.integer]  # (marks,): bits of the compressed chunk before the mark
    # (marks,): of the compressed bytes of the segment, whose first and last it may share.
    segment_crc: NDArray[np.integer]
    mark: NDArray[np.int64]  # (points,): the mark at which each point stands; ascending
    # (points,): length of the deflate header that goes in front; 0 at a block's beginning.
    header_bits: NDArray[np.integer]
    kept_at: NDArray[np.integer]  # (points,): place among the kept bytes
    kept_bytes: NDArray[np.integer]  # (points,): of the header and the compressed window
    kept_crc: NDArray[np.integer]  # (points,): of the kept bytes

    def __len__(self) -> int:
        return len(self.mark)


POINT_ARRAYS = tuple(field.name for field in fields(Points))


def segment_sums(data: memoryview, bit: NDArray[np.integer], start: int = 0) -> list[int]:
    """Return the checksums of segments that begin at bits of a chunk, of its bytes from one on."""
    bits, crc32 = bit.tolist(), inflater().crc32
    begins = [(position >> 3) - start for position in bits]
    ends = [(position + 7 >> 3) - start for position in bits[1:]]
    return [crc32(data[a:b]) for a, b in zip(begins, [*ends, len(data)], strict=True)]


@dataclass(frozen=True)
class ChunkPoints:
    """The marks and points of one chunk, as in `Points`, with what each point keeps."""

    out: NDArray[np.integer]
    bit: NDArray[np.integer]
    segment_crc: NDArray[np.integer]
    mark: NDArray[np.integer]  # counted from the first of the chunk
    header_bits: NDArray[np.integer]
    kept: Sequence[bytes]  # header and compressed window of each point

    @staticmethod
    def none() -> ChunkPoints:
        none = np.empty(0, np.int64)
        return ChunkPoints(none, none, none, none, none, [])


def joined(chunks: Sequence[ChunkPoints], start: int = 0) -> tuple[Points, bytes]:
    """Return the points of many chunks and the bytes they keep, first points first."""
    # So the same place in many chunks, which a time series reads, needs one contiguous range.
    marks = np.array([len(chunk.out) for chunk in chunks], np.int64)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(marks)])
    counts = np.array([len(chunk.kept) for chunk in chunks], np.int64)
    kept = [piece for chunk in chunks for piece in chunk.kept]
    sizes = np.array([len(piece) for piece in kept], np.int64)
    rank = np.arange(len(kept)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = np.argsort(rank, kind="stable")
    at = np.empty(len(kept), np.int64)
    at[order] = start + np.cumsum(sizes[order]) - sizes[order]

    def column(name: str) -> NDArray[np.int64]:
        columns = [getattr(chunk, name) for chunk in chunks]
        return np.concatenate([np.empty(0, np.int64), *columns], dtype=np.int64)

    points = Points(
        first=first,
        out=column("out"),
        bit=column("bit"),
        segment_crc=column("segment_crc"),
        mark=column("mark") + np.repeat(first[:-1], counts),
        header_bits=column("header_bits"),
        kept_at=at,
        kept_bytes=sizes,
        kept_crc=np.array([zlib.crc32(piece) for piece in kept], np.int64),
    )
    return points, b"".join(kept[number] for number in order)
