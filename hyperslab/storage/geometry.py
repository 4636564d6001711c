"""How chunks tile an array, and how many bytes the file then takes."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from .chunk_cache import DEFAULT_CACHE, ChunkCache
from .chunk_index import index_nodes, node_bytes, write_order

_GOLDEN = (math.sqrt(5) - 1) / 2

FILE_METADATA_BYTES = 6144
"""Bytes of a netCDF-4 file of one variable and its dimensions apart from chunks and their index:
HDF5 takes space for metadata in blocks of 2048 bytes, here three."""

SMALLEST_EXACT_BYTES = 512
"""Chunks of at least so many bytes are predicted exactly; below, HDF5 cuts chunks out of blocks of
2048 bytes and may leave up to a few thousand bytes of them unused."""


def chunk_grid(shape: Sequence[int], chunks: Sequence[int]) -> tuple[int, ...]:
    """Return the number of chunks along each axis.

    Parameters
    ----------
    shape, chunks : sequence of int
        Lengths of the array and of a chunk, in elements.

    Raises
    ------
    ValueError
        When the ranks differ or a chunk length is not positive.

    Source: Lee et al. 2008, section 5.1.1 and Figure 12.

    Examples
    --------
    >>> chunk_grid((3162, 3162), (790, 790)), chunk_grid((3162, 3162), (791, 791))
    ((5, 5), (4, 4))
    """
    if len(shape) != len(chunks) or min(chunks, default=1) < 1:
        raise ValueError(
            f"chunks {tuple(chunks)} do not fit an array of shape {tuple(shape)}: "
            "give one positive length for each axis"
        )
    return tuple(-(-n // c) for n, c in zip(shape, chunks, strict=True))


def padded_bytes(shape: Sequence[int], chunks: Sequence[int], itemsize: int) -> int:
    """Return the bytes of all chunks: HDF5 stores them whole, also where they overhang.

    Parameters
    ----------
    shape, chunks : sequence of int
        Lengths in elements.
    itemsize : int
        Bytes an element.

    Examples
    --------
    >>> padded_bytes((3162, 3162), (790, 790), 4) - 3162**2 * 4
    22417024
    """
    return math.prod(chunk_grid(shape, chunks)) * math.prod(chunks) * itemsize


def ceil_chunk(length: int, parts: int) -> int:
    """Return the chunk length that covers an axis in so many parts: the good choice.

    Source: Lee et al. 2008, guideline 3 of section 5.1.2.

    Examples
    --------
    >>> ceil_chunk(3162, 4)
    791
    """
    return -(-length // parts)


def floor_chunk(length: int, parts: int) -> int:
    """Return the chunk length that nearly covers an axis in so many parts: the bad choice.

    Source: Lee et al. 2008, guideline 4 of section 5.1.2.

    Examples
    --------
    >>> floor_chunk(3162, 4)
    790
    """
    return length // parts


def predicted_bytes(
    shape: Sequence[int],
    chunks: Sequence[int],
    itemsize: int,
    cache: ChunkCache = DEFAULT_CACHE,
) -> int:
    """Return the size of a netCDF-4 file of one uncompressed chunked variable, written at once.

    It is the padded bytes, the nodes of the chunk index and `FILE_METADATA_BYTES`. The index
    depends on the order in which chunks leave the chunk cache, which is followed exactly: the
    result is exact for chunks of at least `SMALLEST_EXACT_BYTES`.

    Parameters
    ----------
    shape, chunks : sequence of int
        Lengths in elements.
    itemsize : int
        Bytes an element.
    cache : ChunkCache
        The chunk cache the file is written through.

    Examples
    --------
    >>> predicted_bytes((3162, 3162), (790, 790), 4)
    62418760
    >>> predicted_bytes((3162, 3162), (128, 128), 4)
    40997536
    """
    grid = chunk_grid(shape, chunks)
    nodes = index_nodes(write_order(shape, chunks, itemsize, cache))
    index = nodes * node_bytes(len(grid))
    return padded_bytes(shape, chunks, itemsize) + index + FILE_METADATA_BYTES


def far_apart(grid: Sequence[int], few: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of a few chunks from all over an array, each once.

    Even steps would stay in one row or column of the grid, which may be all land.

    Parameters
    ----------
    grid : sequence of int
        Number of chunks along each axis.
    few : int
        How many at most.

    Examples
    --------
    >>> list(far_apart((4, 5), 3)), list(far_apart((2,), 9))
    ([(2, 0), (0, 2), (2, 4)], [(1,), (0,)])
    """
    total = math.prod(grid)
    for number in dict.fromkeys(int((0.5 + i * _GOLDEN) % 1 * total) for i in range(few)):
        yield tuple(int(i) for i in np.unravel_index(number, grid))
