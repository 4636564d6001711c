"""How far apart points may be, so that an index stays within its budget."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .chunk import MARK, index_chunk

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
    kept = [len(piece) for piece in sample.kept[1:] if piece]  # the first one keeps nothing
    each = float(np.mean(kept)) if kept else 0.0
    allowed = 0.97 * budget * stream.size  # the rest is for the head and for chance
    if chunk_bytes / MARK * (POINT_BYTES + each) > allowed:  # wider than marks, which stay
        spacing = int(chunk_bytes * each / max(allowed - chunk_bytes / MARK * POINT_BYTES, 1.0))
    else:
        spacing = int(chunk_bytes * (POINT_BYTES + each) / allowed)
    return int(min(max(-(-spacing // 1024) * 1024, CLOSEST), WIDEST))
