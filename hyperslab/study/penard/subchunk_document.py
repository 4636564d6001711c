"""The document's way of indexing and reading: its layout, its points, its requests."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import subchunk
from ...subchunk import chunkindex

SPACING = 2**21
"""Bytes between points: three a chunk, or one every 2 MB (section 3.3)."""
WINDOW = 2**15


def build(path: Path, target: Path, variable: str, spacing: int) -> None:
    """Index one variable of a file in the layout of Figure 3."""
    chunkindex.write(path, target, variables=[variable], spacing=spacing)


def open(path: Path, index: Path) -> Any:
    """Open a file with such an index."""
    return subchunk.open(path, index, threads=1)


def count(index: Path, variable: str) -> int:
    """Return the points of all chunks."""
    return sum(len(chunk) for chunk in chunkindex.chunk_points(index, variable).values())


def first(index: Path, variable: str) -> tuple[NDArray[np.int64], NDArray[np.int64], int, int]:
    """Return the points of the first chunk: decompressed and compressed bytes before each.

    Returns
    -------
    out, stored : numpy.ndarray
        int64.
    out_bytes, stored_bytes : int
        Of the chunk.
    """
    chunks = chunkindex.chunk_points(index, variable)
    chunk = chunks[min(chunks, key=lambda name: [int(place) for place in name.split(".")])]
    return chunk.outloc, chunk.bit >> 3, chunk.uncompressed_size, chunk.compressed_size
