"""How far apart points may be, so that an index stays within its budget."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..deflate.walk import walk
from .chunk import MARK, Windows
from .points import ChunkPoints

CLOSEST, WIDEST = 2, 128  # marks for each point that decompression can start at
POINT_BYTES = 26  # of the tables, about
TRIED = 48  # points made to guess what they cost


def choose_spacing(
    stream: NDArray[np.uint8], chunk_bytes: int, budget: float, itemsize: int = 1
) -> tuple[int, ChunkPoints]:
    """Return the closest spacing whose points cost at most a share of the compressed chunk.

    Parameters
    ----------
    stream : numpy.ndarray
        uint8, one compressed chunk that stands for the others.
    chunk_bytes : int
        Bytes of it, decompressed.
    budget : float
        Bytes of the index for a byte of compressed data, such as 0.02.
    itemsize : int
        Bytes of a number, where they lie together.

    Returns
    -------
    spacing : int
        A multiple of 32 KiB between 64 KiB and 4 MiB.
    points : ChunkPoints
        Of the chunk, so spaced.
    """
    output = np.empty(chunk_bytes, np.uint8)
    places = walk(stream, MARK, output)
    windows = Windows(places, stream, output, itemsize)
    last = len(places) - 1
    tried = np.unique(np.linspace(min(1, last), last, TRIED).astype(int)).tolist()
    each = sum(map(len, windows.kept(tried))) / len(tried)
    allowed = 0.97 * budget * stream.size  # the rest is for the head and for chance
    for_windows = max(allowed - POINT_BYTES * len(places), 1.0)
    between = max(int(len(places) * each / for_windows), CLOSEST)
    while True:
        between = min(between, WIDEST)
        points = windows.points(between * MARK)
        if _cost(points) <= allowed or between == WIDEST or between >= len(places):
            return between * MARK, points
        between = max(int(between * _cost(points) / allowed), between + 1)


def _cost(points: ChunkPoints) -> int:
    """Return the bytes of an index that a chunk's points take."""
    return POINT_BYTES * len(points.out) + sum(map(len, points.kept))
