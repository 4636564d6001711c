"""Take points of an index over into another one."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..hdf5 import Chunks
from .index import Index
from .points import ChunkPoints, Points


@dataclass(frozen=True)
class Known:
    """What an index has of one variable."""

    spacing: int
    chunks: Chunks
    points: Points
    kept: bytes  # what all points of the index keep

    def chunk(self, now: Chunks, row: int) -> ChunkPoints | None:
        """Return the points of a chunk, if it lies where it lay with the length it had."""
        old = int(np.searchsorted(self.chunks.number, now.number[row]))
        if old == len(self.chunks) or any(
            getattr(self.chunks, name)[old] != getattr(now, name)[row]
            for name in ("number", "offset", "size", "mask")
        ):
            return None
        points = self.points
        first, last = points.first[old : old + 2].tolist()
        low, high = np.searchsorted(points.mark, [first, last]).tolist()
        begins, sizes = points.kept_at[low:high].tolist(), points.kept_bytes[low:high].tolist()
        kept = [self.kept[at : at + size] for at, size in zip(begins, sizes, strict=True)]
        if [zlib.crc32(piece) for piece in kept] != points.kept_crc[low:high].tolist():
            return None  # damaged: it is indexed anew
        return ChunkPoints(
            points.out[first:last],
            points.bit[first:last],
            points.segment_crc[first:last],
            points.mark[low:high] - first,
            points.header_bits[low:high],
            kept,
        )


def fits(stream: NDArray[np.uint8], points: ChunkPoints) -> bool:
    """Return whether a compressed chunk is what its points were made from."""
    if not len(points.out):
        return True
    bit, view = points.bit.astype(np.int64), stream.data
    begins, ends = (bit >> 3).tolist(), [*((bit[1:] + 7) >> 3).tolist(), stream.size]
    now = [zlib.crc32(view[begin:end]) for begin, end in zip(begins, ends, strict=True)]
    return bool(now == points.segment_crc.tolist())


def known_points(index: Index) -> dict[str, Known]:
    """Return what an index has of each variable with points, by name."""
    kept = index.everything_kept()
    return {
        name: Known(entry.spacing, *index.points(entry), kept)
        for name, entry in index.entries.items()
        if entry.spacing
    }
