"""Chunk shapes worth trying for a mix of accesses: lengths that leave no slivers at the end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.chunk_shapes import ceil_chunk, chunk_grid
from hyperslab.io.selection import region

from .accesses import Access

LEAST_BYTES, MOST_BYTES = 32 * 2**10, 16 * 2**20
MOST_CHUNKS = 500_000
SHARD_BYTES = 64 * 2**20
_SIZES = (2**18, 2**20, 2**22, 2**24)  # the best shape of each class of chunk sizes is kept
# Seconds for each chunk and for each byte of it: fast and slow to decode.
_COSTS = ((60e-6, 0.5e-9), (60e-6, 3e-9))
_WASTE = 1 / 16  # padding that an axis may add
_ALIKE = 1.5  # shapes within this factor along each axis are the same advice
_TRIED = 200_000
_LONG = 0.02  # how much dearer a chunk is that is long along one axis and thin along another


def even_lengths(n: int, most: int = 64) -> tuple[int, ...]:
    """Return lengths of chunks that cover an axis in equal parts, with little or no overhang.

    Source: Lee et al. 2008, guideline 3 of section 5.1.2 (ceil instead of floor).
    """
    lengths = {n, 1}
    parts = 2
    while parts < n:
        length = ceil_chunk(n, parts)
        if -(-n // length) * length - n <= _WASTE * n:
            lengths.add(length)
        parts += max(parts // 8, 1)  # the longer the row, the wider the steps
    ordered = sorted(lengths, reverse=True)
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

    Costs are rough here: chunks and their bytes; each costs `call_s` more, as far requests do.
    """
    shape = tuple(shape)
    if not shape or 0 in shape:
        return []
    lengths, nbytes = _fitting(shape, itemsize)
    touched = [_touched(shape, lengths, access) for access in accesses]
    uneven = 1 + _LONG * _unevenness(shape, lengths, accesses)
    size_class = np.searchsorted(np.array(_SIZES), nbytes)
    costs: list[NDArray[np.float64]] = []
    for chunk_s, byte_s in _COSTS:
        each_s = [(chunk_s + call_s + nbytes * byte_s) * one for one in touched]
        mix = sum(a.weight * s for a, s in zip(accesses, each_s, strict=True)) * uneven
        costs.append(mix)
        costs += [np.where(size_class == n, mix, np.inf) for n in range(len(_SIZES) + 1)]
        costs += [one + 1e-3 * mix for one in each_s] if len(accesses) > 1 else []
    chosen: list[tuple[int, ...]] = []
    for cost in costs:
        best = int(np.argmin(cost))
        one = tuple(int(n) for n in lengths[best])
        if np.isfinite(cost[best]) and not any(_alike(one, other) for other in chosen):
            chosen.append(one)
    return chosen[:most]


def shard(shape: Sequence[int], chunks: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Return a shard of whole chunks of about 64 MiB, cut alike along all axes."""
    parts, size = chunk_grid(shape, chunks), math.prod(chunks) * itemsize
    held = [1] * len(parts)
    while able := [axis for axis, n in enumerate(parts) if held[axis] < n]:
        axis = min(able, key=lambda axis: held[axis] / parts[axis])
        more = min(2 * held[axis], parts[axis])
        if size // held[axis] * more > SHARD_BYTES:
            break
        size, held[axis] = size // held[axis] * more, more
    return tuple(n * c for n, c in zip(held, chunks, strict=True))


def _fitting(shape: tuple[int, ...], itemsize: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return chunk lengths that lie within the bounds, a row each, and the bytes of each chunk."""
    each = max(3, int(_TRIED ** (1 / len(shape))))
    lists = [even_lengths(n, min(each, 48)) for n in shape]
    grids = np.meshgrid(*(np.array(one, "i8") for one in lists), indexing="ij")
    lengths = np.stack([grid.ravel() for grid in grids], axis=1)
    nbytes = lengths.prod(axis=1) * itemsize
    counts = (-(-np.array(shape) // lengths)).prod(axis=1)
    least = min(LEAST_BYTES, math.prod(shape) * itemsize)
    fits = (nbytes <= MOST_BYTES) & (nbytes >= least) & (counts <= MOST_CHUNKS)
    if not fits.any():
        fits = nbytes <= max(MOST_BYTES, int(nbytes.min()))
    return lengths[fits], nbytes[fits]


def _unevenness(
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


def _alike(one: Sequence[int], other: Sequence[int]) -> bool:
    return all(max(a, b) <= _ALIKE * min(a, b) for a, b in zip(one, other, strict=True))


def _touched(
    shape: tuple[int, ...], lengths: NDArray[np.int64], access: Access
) -> NDArray[np.float64]:
    """Return the chunks that an access touches, for each chunk shape."""
    total = np.zeros(len(lengths))
    for selection in access.selections:
        one = region(selection, shape)
        starts, counts, steps = (np.array(part) for part in (one.starts, one.counts, one.steps))
        last = starts + (counts - 1) * steps
        spans = last // lengths - starts // lengths + 1
        total += np.minimum(spans, counts).prod(axis=1)
    return total
