"""How chunks tile an array, how large the file then is, and which chunks libraries pick."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import numpy as np

DEFAULT_CHUNK_BYTES = 16 * 2**20
"""What a chunk is meant to take in the builds met here (``DEFAULT_CHUNK_SIZE``); others: 4 MiB."""

_SERIES_BYTES = 4096  # the limit for a variable with one dimension, an unlimited one
LARGEST_CHUNK_BYTES = 2**32 - 1
"""HDF5's own limit."""
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


def cut(box: Sequence[slice], lengths: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """Yield a box cut at the multiples of lengths, in C order."""
    axes = []
    for s, length in zip(box, lengths, strict=True):
        inner = range((s.start // length + 1) * length, s.stop, length)
        ends = [s.start, *inner, s.stop] if s.stop > s.start else []
        axes.append([slice(a, b) for a, b in pairwise(ends)])
    return product(*axes)


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
    10 kB and more make that less than 0.1 % of the file. Lengths are in elements.

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
    """Yield the places of a few chunks from all over an array, each once."""
    # Even steps would stay in one row or column of the grid, which may be all land.
    total = math.prod(grid)
    for number in dict.fromkeys(int((0.5 + i * _GOLDEN) % 1 * total) for i in range(few)):
        yield tuple(int(i) for i in np.unravel_index(number, grid))


def default_chunks(
    shape: Sequence[int],
    itemsize: int,
    unlimited: Collection[int] = (),
    default_bytes: int = DEFAULT_CHUNK_BYTES,
) -> tuple[int, ...]:
    """Return the chunk that netCDF-C picks for a variable.

    Fixed axes are scaled by one common factor, so that the chunk takes `default_bytes` if no axis
    is cut short or rounded up to one element; unlimited axes get one element, unless all are. At
    last each length is shortened to spread the array evenly over as many chunks.

    Parameters
    ----------
    shape : sequence of int
        In elements; of an unlimited axis the length that netCDF-C has in memory: 0 in a new file,
        and also in an old one until somebody asks for it.
    itemsize, default_bytes : int
        Bytes of an element, and what a chunk is meant to take.
    unlimited : collection of int
        Which axes are.

    Raises
    ------
    ValueError
        When there is no axis, or a fixed axis has no length.

    Source: netCDF-C 4.6.2, "Improving Performance with Chunking", The Default Chunking Scheme.

    Examples
    --------
    >>> default_chunks((3162, 3162), 4), default_chunks((0, 721, 1440), 4, unlimited=[0])
    ((1581, 1581), (1, 721, 1440))
    """
    rank, grows = len(shape), set(unlimited)
    if not shape or any(n < 1 for axis, n in enumerate(shape) if axis not in grows):
        raise ValueError(f"shape {tuple(shape)}: give each fixed axis a length of at least 1")
    if grows == {0} and rank == 1:
        # The limit is divided by the size of a value once more than needed, as in the library.
        most = min(max(default_bytes // itemsize, 1), _SERIES_BYTES)
        chunks = [max(most // itemsize, 1)]
    elif len(grows) == rank:
        chunks = [max(int(math.pow(default_bytes / itemsize, 1 / rank)), 1)] * rank
    else:
        chunks = _scaled(shape, itemsize, grows, default_bytes)
    while math.prod(map(float, chunks)) * itemsize > LARGEST_CHUNK_BYTES:
        chunks = [max(length // 2, 1) for length in chunks]
    return tuple(_spread(length, n) for length, n in zip(chunks, shape, strict=True))


@lru_cache(maxsize=256)
def picked_chunks(
    format: str, shape: tuple[int, ...], dtype: str, grows: frozenset[int] = frozenset()
) -> tuple[int, ...]:
    """Return the chunks that the library of a format picks when it must chunk, asked in memory."""
    # netCDF-C is asked with deflate, so that it chunks arrays that could be contiguous.
    if not shape or 0 in shape:
        return tuple(max(n, 1) for n in shape)
    picked: Any
    if format in ("zarr2", "zarr3"):
        import zarr

        picked = zarr.create_array({}, shape=shape, dtype=dtype, chunks="auto").chunks
    elif format == "hdf5":
        import h5py

        with h5py.File("chunks", "w", driver="core", backing_store=False) as file:
            picked = file.create_dataset("v", shape, dtype, chunks=True).chunks
    else:
        import netCDF4

        with netCDF4.Dataset("chunks", "w", diskless=True, persist=False) as nc:
            dims = [f"d{axis}" for axis in range(len(shape))]
            for axis, (dim, n) in enumerate(zip(dims, shape, strict=True)):
                nc.createDimension(dim, None if axis in grows else n)
            picked = nc.createVariable("v", np.dtype(dtype), dims, zlib=True).chunking()
    return tuple(int(n) for n in picked)


def balanced_chunks(shape: Sequence[int], itemsize: int, most_bytes: int) -> tuple[int, ...]:
    """Return the largest chunk that divides every axis into the same number of parts.

    A slab across any axis then touches as many chunks as one across any other, which is what
    default chunks are meant to give. Lengths are rounded up, so that no sliver of a chunk is left.
    Raises ValueError when an axis has no length, or not even one element fits.

    Source: R. Rew, "Chunking Data: Choosing Shapes" (Unidata, 2013).

    Examples
    --------
    >>> balanced_chunks((100, 400, 800), 4, 2**20)
    (20, 80, 160)
    """
    if not shape or min(shape) < 1:
        raise ValueError(f"shape {tuple(shape)}: give a length of at least 1 for each axis")
    if itemsize > most_bytes:
        raise ValueError(f"most_bytes is {most_bytes}: one element takes {itemsize}")
    parts = 1
    while math.prod(chunk := [-(-n // parts) for n in shape]) * itemsize > most_bytes:
        parts += 1
    return tuple(chunk)


def _scaled(shape: Sequence[int], itemsize: int, grows: set[int], default_bytes: int) -> list[int]:
    """Return one element for each unlimited axis, and the fixed ones scaled by one factor."""
    fixed = [n for axis, n in enumerate(shape) if axis not in grows]
    with np.errstate(over="ignore"):  # in single precision, as in the library
        values = np.multiply.reduce(fixed, dtype=np.float32)
    factor = math.pow(default_bytes / (float(values) * itemsize), 1 / len(fixed))
    return [
        1 if axis in grows else max(min(int(factor * n - 0.5), n), 1)
        for axis, n in enumerate(shape)
    ]


def _spread(length: int, n: int) -> int:
    """Shorten a chunk so that the overhang of the last one is shared among all of them."""
    parts = -(-n // length)
    return length - (parts * length - n) // parts if parts else length
