"""Chunk shapes worth trying for a mix of accesses: lengths that leave no slivers at the end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.chunk_shapes import ceil_chunk
from hyperslab.io.selection import Region, region

from .accesses import Access

LEAST_BYTES, MOST_BYTES = 32 * 2**10, 16 * 2**20
MOST_CHUNKS = 500_000
SHARD_BYTES = 64 * 2**20
_SIZES = (2**18, 2**20, 2**22, 2**24)  # the best shape of each class of chunk sizes is kept
# Seconds for each chunk and for each byte of it: quick and slow to decode.
_COSTS = ((60e-6, 0.5e-9), (60e-6, 3e-9))
_WASTE = 1 / 16  # padding that an axis may add
_ALIKE = 1.5  # shapes within this factor along each axis are the same advice
_TRIED = 200_000
_LONG = 0.02  # what a chunk is dearer by that is long along one axis and thin along another


def even_lengths(n: int, most: int = 64) -> tuple[int, ...]:
    """Return chunk lengths that cover an axis in equal parts, with little or no overhang.

    Each is the axis over a number of parts, rounded up, so that the last chunk lacks as little as
    it can; lengths of which the last chunk would be mostly padding are left out.

    Parameters
    ----------
    n
        Length of the axis, in elements.
    most
        So many lengths at most; those between are thinned out.

    Source: Lee et al. 2008, guideline 3 of section 5.1.2 (ceil instead of floor).

    Examples
    --------
    >>> even_lengths(72)
    (72, 36, 24, 18, 15, 12, 9, 8, 6, 5, 4, 3, 2, 1)
    >>> even_lengths(721, most=6)
    (721, 81, 46, 20, 9, 1)
    """
    found = {n, 1}
    parts = 2
    while parts < n:
        length = ceil_chunk(n, parts)
        if -(-n // length) * length - n <= _WASTE * n:
            found.add(length)
        step = max(parts // 8, 1)  # the longer the row, the wider the steps
        parts += step
    ordered = sorted(found, reverse=True)
    if len(ordered) > most:
        places = np.unique(np.linspace(0, len(ordered) - 1, most).round().astype(int))
        ordered = [ordered[place] for place in places]
    return tuple(ordered)


def chunk_shapes(
    shape: Sequence[int],
    itemsize: int,
    accesses: Sequence[Access],
    *,
    most: int = 10,
    call_s: float = 0.0,
) -> list[tuple[int, ...]]:
    """Return chunk shapes, the best for the mix first, then the best of other sizes and accesses.

    Costs are counted roughly here, by chunks and their bytes, to be predicted properly later.

    Parameters
    ----------
    shape
        Of the variable.
    itemsize
        Bytes of an element.
    accesses
        How it is read.
    most
        So many shapes.
    call_s
        Seconds that each chunk costs beside, as the requests to a far store do.

    Examples
    --------
    >>> series = Access("time_series", 0.5, ((slice(0, 1000, 1), 5, 5),))
    >>> frame = Access("map", 0.5, ((500, slice(0, 720, 1), slice(0, 1440, 1)),))
    >>> chunk_shapes((1000, 720, 1440), 4, [series, frame], most=2)
    [(5, 60, 96), (8, 80, 103)]
    """
    shape = tuple(shape)
    size = math.prod(shape) * itemsize
    if not shape or not size:
        return []
    each = max(3, int(_TRIED ** (1 / len(shape))))
    lists = [even_lengths(n, min(each, 48)) for n in shape]
    grids = np.meshgrid(*(np.array(one, "i8") for one in lists), indexing="ij")
    lengths = np.stack([grid.ravel() for grid in grids], axis=1)
    nbytes = lengths.prod(axis=1) * itemsize
    counts = (-(-np.array(shape) // lengths)).prod(axis=1)
    fits = (nbytes <= MOST_BYTES) & (nbytes >= min(LEAST_BYTES, size)) & (counts <= MOST_CHUNKS)
    if not fits.any():
        fits = nbytes <= max(MOST_BYTES, int(nbytes.min()))
    lengths, nbytes = lengths[fits], nbytes[fits]
    touched = [_touched(shape, lengths, access) for access in accesses]
    long = _long(shape, lengths, accesses)
    kept: list[tuple[int, ...]] = []
    orders: list[NDArray[np.float64]] = []
    for chunk_s, byte_s in _COSTS:
        each_s = [(chunk_s + call_s + nbytes * byte_s) * one for one in touched]
        mix = np.zeros(len(lengths))
        for access, one in zip(accesses, each_s, strict=True):
            mix += access.weight * one
        mix = mix * (1 + _LONG * long)
        orders.append(mix)
        orders += [np.where(_class(nbytes) == n, mix, np.inf) for n in range(len(_SIZES) + 1)]
        orders += [one + 1e-3 * mix for one in each_s] if len(accesses) > 1 else []
    for cost in orders:
        best = int(np.argmin(cost))
        if np.isfinite(cost[best]):
            _keep(kept, tuple(int(n) for n in lengths[best]))
    return kept[:most]


def shard(shape: Sequence[int], chunks: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Return a shard of whole chunks of about 64 MiB, cut alike along all axes.

    Examples
    --------
    >>> shard((1000, 720, 1440), (50, 90, 180), 4)
    (200, 180, 360)
    """
    parts = [-(-n // c) for n, c in zip(shape, chunks, strict=True)]
    held = [1] * len(parts)
    size = math.prod(chunks) * itemsize
    while True:
        able = [axis for axis, n in enumerate(parts) if held[axis] < n]
        if not able:
            break
        axis = min(able, key=lambda axis: held[axis] / parts[axis])
        if size // held[axis] * min(2 * held[axis], parts[axis]) > SHARD_BYTES:
            break
        size = size // held[axis] * min(2 * held[axis], parts[axis])
        held[axis] = min(2 * held[axis], parts[axis])
    return tuple(n * c for n, c in zip(held, chunks, strict=True))


def _class(nbytes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(np.array(_SIZES), nbytes).astype("i8")


def _long(
    shape: tuple[int, ...], lengths: NDArray[np.int64], accesses: Sequence[Access]
) -> NDArray[np.float64]:
    """Return how unlike the axes are cut that one access takes whole: a part of it costs more."""
    shares = np.log2(lengths / np.array(shape))
    total = np.zeros(len(lengths))
    for access in accesses:
        wide = [axis for axis, index in enumerate(access.selections[0]) if isinstance(index, slice)]
        if len(wide) > 1:
            total += shares[:, wide].std(axis=1)
    return total


def _keep(kept: list[tuple[int, ...]], found: tuple[int, ...]) -> None:
    for one in kept:
        if all(max(a, b) <= _ALIKE * min(a, b) for a, b in zip(one, found, strict=True)):
            return
    kept.append(found)


def _touched(
    shape: tuple[int, ...], lengths: NDArray[np.int64], access: Access
) -> NDArray[np.float64]:
    """Return the chunks that an access touches, for each chunk shape."""
    total = np.zeros(len(lengths))
    for selection in access.selections:
        total += _of_one(region(selection, shape), lengths)
    return total


def _of_one(one: Region, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    starts, counts, steps = (np.array(part) for part in (one.starts, one.counts, one.steps))
    last = starts + (counts - 1) * steps
    spans = last // lengths - starts // lengths + 1
    total: NDArray[np.float64] = np.minimum(spans, counts).prod(axis=1).astype("f8")
    return total
