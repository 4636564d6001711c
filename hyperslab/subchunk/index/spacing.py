"""How far apart points may be, so that an index stays within its budget."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .chunk import index_chunk
from .points import ChunkPoints

CLOSEST, WIDEST = 2**13, 2**22  # bytes of output between points
POINT_BYTES = 26  # of the tables, about
TRIED = 48  # points whose windows are made to learn what they cost


def choose_spacing(stream: NDArray[np.uint8], chunk_bytes: int, budget: float) -> int:
    """Return the closest spacing whose points cost at most a share of the compressed chunk.

    Parameters
    ----------
    stream : numpy.ndarray
        uint8, one compressed chunk that stands for the others.
    chunk_bytes : int
        Bytes of it, decompressed.
    budget : float
        Bytes of the index for a byte of compressed data, such as 0.02.

    Returns
    -------
    int
        A multiple of 1 KiB between 8 KiB and 4 MiB.
    """
    output = np.empty(chunk_bytes, np.uint8)
    spacing = max(CLOSEST, min(WIDEST, chunk_bytes // (2 * TRIED)))
    sample = index_chunk(stream, spacing, output, sampled=TRIED)
    allowed = budget * stream.size / point_cost(sample)
    wanted = int(chunk_bytes / max(allowed, 1e-9))
    return int(min(max(-(-wanted // 1024) * 1024, CLOSEST), WIDEST))


def point_cost(points: ChunkPoints) -> float:
    """Return the bytes that a point costs, on average; the chunk's first one keeps nothing."""
    kept = [len(piece) for piece in points.kept[1:]]
    return POINT_BYTES + (float(np.mean(kept)) if kept else 0.0)
