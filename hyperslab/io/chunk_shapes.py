"""How chunks tile an array, and how large the file then is: Lee et al. 2008, section 5.1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

_GOLDEN = (math.sqrt(5) - 1) / 2
# HDF5 takes space for metadata in blocks of 2048 bytes: three for one variable and its dimensions.
_FILE_METADATA_BYTES = 6144
# Children of a node of HDF5's index of chunks (a version 1 B-tree): of a full one, and of one that
# chunks have filled in their order, of which nine tenths stay where it splits.
_FANOUT, _FILLED = 64, 57


def chunk_grid(shape: Sequence[int], chunks: Sequence[int]) -> tuple[int, ...]:
    """Return the number of chunks along each axis."""
    if len(shape) != len(chunks) or min(chunks, default=1) < 1:
        raise ValueError(
            f"chunks {tuple(chunks)} do not fit an array of shape {tuple(shape)}: "
            "give one positive length for each axis"
        )
    return tuple(-(-n // c) for n, c in zip(shape, chunks, strict=True))


def padded_bytes(shape: Sequence[int], chunks: Sequence[int], itemsize: int) -> int:
    """Return the bytes of all chunks: HDF5 stores them whole, also where they overhang."""
    return math.prod(chunk_grid(shape, chunks)) * math.prod(chunks) * itemsize


def ceil_chunk(length: int, parts: int) -> int:
    """Return the chunk length that covers an axis in so many parts: Lee's guideline 3."""
    return -(-length // parts)


def floor_chunk(length: int, parts: int) -> int:
    """Return the chunk length that nearly covers an axis in so many parts: Lee's guideline 4."""
    return length // parts


def predicted_bytes(shape: Sequence[int], chunks: Sequence[int], itemsize: int) -> int:
    """Return the size of a netCDF-4 file of one uncompressed chunked variable, written at once.

    It is the padded bytes, an index with so many bytes for each chunk, and the file's metadata.
    How full the index's nodes are depends on the order in which chunks reach the file; chunks of
    10 kB and more make that less than 0.1 % of the file.

    Parameters
    ----------
    shape, chunks : sequence of int
        Lengths in elements.
    itemsize : int
        Bytes an element.

    Examples
    --------
    >>> predicted_bytes((3162, 3162), (790, 790), 4)
    62418760
    """
    grid = chunk_grid(shape, chunks)
    leaves = -(-math.prod(grid) // _FILLED)
    nodes = leaves + (-(-leaves // _FILLED) if leaves > 1 else 0)
    key = 8 + 8 * (len(grid) + 1)  # size and filter mask, then the offsets of a chunk
    index = nodes * (24 + _FANOUT * 8 + (_FANOUT + 1) * key)
    return padded_bytes(shape, chunks, itemsize) + index + _FILE_METADATA_BYTES


def far_apart(grid: Sequence[int], few: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of a few chunks from all over an array, each once.

    Even steps would stay in one row or column of the grid, which may be all land.
    """
    total = math.prod(grid)
    for number in dict.fromkeys(int((0.5 + i * _GOLDEN) % 1 * total) for i in range(few)):
        yield tuple(int(i) for i in np.unravel_index(number, grid))
