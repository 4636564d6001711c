"""Take points of an index over into another one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..hdf5 import Chunks
from .index import Index
from .points import ChunkPoints, Points


@dataclass(frozen=True)
class Known:
    """What an index has of one variable.

    Parameters
    ----------
    spacing : int
    chunks : Chunks
    points : Points
    kept : bytes
        What all points of the index keep.
    """

    spacing: int
    chunks: Chunks
    points: Points
    kept: bytes

    def chunk(self, now: Chunks, row: int) -> ChunkPoints | None:
        """Return the points of a chunk, if it lies where it lay with the length it had."""
        old = int(np.searchsorted(self.chunks.number, now.number[row]))
        if old == len(self.chunks) or any(
            getattr(self.chunks, name)[old] != getattr(now, name)[row]
            for name in ("number", "offset", "size", "mask")
        ):
            return None
        low, high = int(self.points.first[old]), int(self.points.first[old + 1])
        begins = self.points.kept_at[low:high].tolist()
        sizes = self.points.kept_bytes[low:high].tolist()
        return ChunkPoints(
            self.points.out[low:high].astype(np.uint64),
            self.points.bit[low:high].astype(np.uint64),
            self.points.back[low:high].astype(np.uint64),
            self.points.header_bits[low:high].astype(np.uint64),
            [self.kept[at : at + size] for at, size in zip(begins, sizes, strict=True)],
            self.points.kept_crc[low:high].astype(np.uint32),
            self.points.segment_crc[low:high].astype(np.uint32),
        )


def known_points(index: Index) -> dict[str, Known]:
    """Return what an index has of each variable with points, by name."""
    kept = index.everything_kept()
    return {
        name: Known(entry.spacing, *index.points(entry), kept)
        for name, entry in index.entries.items()
        if entry.spacing
    }
