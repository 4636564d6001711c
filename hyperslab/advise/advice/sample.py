"""A part of the variable that stands for it: what candidates are compressed and measured with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.chunk_shapes import far_apart
from hyperslab.io.creation import stored_bytes, write_array
from hyperslab.io.file_plan import check_blosc
from hyperslab.io.layout import Layout

from ..sources.base import Source, SourceVariable
from .accesses import Access

SAMPLE_BYTES = 64 * 2**20
_READ = 24  # times the sample: bytes of source chunks decompressed for it, at most
_BLOCK_BYTES = 4 * 2**20  # what the ratio of a codec is measured on
_BROAD = 8  # places beside a read that stay in the box: chunks of the candidates reach there
_COUNTED = 100_000  # values that tell the most common one
_SHORT = 8  # axes that are read and no longer than this are not cut


@dataclass(frozen=True)
class Sample:
    """A box of a variable, with its values in memory.

    Parameters
    ----------
    variable
        As it would be if the box were all of it.
    box
        Where it lies.
    values
        Its stored values.
    whole
        Whether it is all of the variable.
    """

    variable: SourceVariable
    box: tuple[slice, ...]
    values: NDArray[Any]
    whole: bool

    def clipped(self, layout: Layout) -> Layout:
        """Return a layout with chunks and shards cut to the box."""
        if layout.chunks is None:
            return layout
        shape = self.values.shape
        chunks = tuple(min(c, n) for c, n in zip(layout.chunks, shape, strict=True))
        shards = layout.shards
        if shards is not None:
            shards = tuple(
                -(-min(s, n) // c) * c for s, n, c in zip(shards, shape, chunks, strict=True)
            )
        return replace(layout, chunks=chunks, shards=shards)

    def block(self, chunks: Sequence[int] | None) -> NDArray[Any]:
        """Return whole chunks from all over the box, as many as 4 MiB hold, along the first axis.

        Neighbours are alike: chunks of one place may be all land.
        """
        shape = self.values.shape
        unit = [min(c, n) for c, n in zip(chunks or shape, shape, strict=True)]
        grid = [n // c for n, c in zip(shape, unit, strict=True)]
        nbytes = math.prod(unit) * self.values.itemsize
        few = min(max(_BLOCK_BYTES // nbytes, 2), math.prod(grid))
        if nbytes > 4 * _BLOCK_BYTES:  # a part of one does
            few, unit[0] = 1, max(4 * _BLOCK_BYTES * unit[0] // nbytes, 1)
        return np.concatenate([
            self.values[tuple(slice(i * c, i * c + c) for i, c in zip(place, unit, strict=True))]
            for place in far_apart(grid, few)
        ])  # fmt: skip

    def weight(self, block: NDArray[Any]) -> float:
        """Return the share of values that say something, over that of a block of them.

        The most common value, such as that of land, takes next to no room however it is packed,
        and a block may hold more of it or less.
        """
        there = self._share(block)
        return self._own_share / there if self._own_share and there else 1.0

    @cached_property
    def _common(self) -> Any:
        some = self.values.reshape(-1)[:: max(self.values.size // _COUNTED, 1)]
        kinds, counts = np.unique(some, return_counts=True)
        return kinds[counts.argmax()]

    @cached_property
    def _own_share(self) -> float:
        return self._share(self.values)

    def _share(self, values: NDArray[Any]) -> float:
        """Return the share of values that are not the most common one of the sample."""
        common = self._common
        return float(np.mean(~np.isnan(values) if common != common else values != common))


def box_of(
    variable: SourceVariable, accesses: Sequence[Access], most_bytes: int = SAMPLE_BYTES
) -> tuple[slice, ...]:
    """Return the box that stands for a variable: all of it, or cut alike along its axes.

    Axes that no access takes more than one element of are cut first, though not to a line: what a
    chunk holds beyond the read is what layouts differ in. What the chunks that it lies in hold is
    bounded too.

    Parameters
    ----------
    variable
        Of the file.
    accesses
        How it is read.
    most_bytes
        Bytes of its values.

    Examples
    --------
    >>> variable = SourceVariable("v", ("t", "y", "x"), (1000, 1000, 1000), "f4", chunks=(10,) * 3)
    >>> series = Access("time_series", 0.5, ((slice(0, 1000, 1), 5, 5),))
    >>> frame = Access("map", 0.5, ((5, slice(0, 1000, 1), slice(0, 1000, 1)),))
    >>> box_of(variable, [series, frame])
    (slice(370, 620, None), slice(370, 620, None), slice(370, 620, None))
    """
    shape, itemsize = variable.shape, variable.itemsize
    chunks = [min(c, n) for c, n in zip(variable.chunks or (1,) * len(shape), shape, strict=True)]
    lengths = list(shape)
    read = [
        any(isinstance(one[axis], slice) for access in accesses for one in access.selections)
        for axis in range(len(shape))
    ]

    def cut(axes: Sequence[int], least: int) -> None:
        """Cut these axes alike until the box fits, or is so short along them."""
        long = [axis for axis in axes if lengths[axis] > least]
        while long and (excess := math.prod(lengths) * itemsize / most_bytes) > 1:
            factor = excess ** (-1 / len(long))
            for axis in long:
                wanted = max(min(int(lengths[axis] * factor), lengths[axis] - 1), least)
                unit = chunks[axis] if chunks[axis] <= wanted else 1
                lengths[axis] = max(wanted // unit * unit, 1)
            long = [axis for axis in long if lengths[axis] > least]

    beside = [axis for axis, used in enumerate(read) if not used and lengths[axis] > 1]
    cut(beside, math.ceil(_BROAD ** (1 / max(len(beside), 1))))
    cut([axis for axis, used in enumerate(read) if used], _SHORT)

    def decoded() -> int:
        pairs = zip(lengths, chunks, strict=True)
        return math.prod(-(-length // c) * c for length, c in pairs) * itemsize

    while decoded() > _READ * most_bytes or math.prod(lengths) * itemsize > most_bytes:
        able = [axis for axis, n in enumerate(lengths) if n > 1]
        if not able:
            break
        cuts = [axis for axis in able if lengths[axis] > chunks[axis]] or able
        axis = max(cuts, key=lambda axis: lengths[axis] / chunks[axis])
        lengths[axis] = -(-lengths[axis] // 2)
    starts = []
    for n, length, chunk in zip(shape, lengths, chunks, strict=True):
        first = (n - length) // 2 // chunk * chunk
        inside = max(min(chunk, n - first) - length, 0) // 2  # the edge of a map may be all land
        starts.append(min(first + inside, n - length))
    return tuple(slice(i, i + n) for i, n in zip(starts, lengths, strict=True))


def take(
    source: Source,
    variable: SourceVariable,
    accesses: Sequence[Access],
    most_bytes: int = SAMPLE_BYTES,
) -> Sample:
    """Read the box that stands for a variable.

    Raises
    ------
    SourceError
        When it cannot be read.
    """
    box = box_of(variable, accesses, most_bytes)
    values = source.read(variable.name, box)
    chunks = variable.chunks and tuple(
        min(c, n) for c, n in zip(variable.chunks, values.shape, strict=True)
    )
    part = replace(variable, shape=values.shape, chunks=chunks, unlimited=(), stored_bytes=None)
    return Sample(part, box, values, values.shape == variable.shape)


def packed_bytes(values: NDArray[Any], layout: Layout, folder: Path) -> float:
    """Return bytes that a value takes in a layout, from writing some.

    Parameters
    ----------
    values
        A block of the variable.
    layout
        With a codec.
    folder
        Where a small file is made and removed.
    """
    chunks = layout.chunks and tuple(
        min(c, n) for c, n in zip(layout.chunks, values.shape, strict=True)
    )
    bare = replace(layout, chunks=chunks, shards=None, page_bytes=None)
    made = folder / f"packed{layout.suffix}"
    empty = replace(bare, codec=None, level=None, shuffle=False)
    small = np.zeros((1,) * values.ndim, values.dtype)
    check_blosc(values, bare)
    try:
        size = write_array(made, values, bare, overwrite=True)
        head = write_array(
            made, small, replace(empty, chunks=chunks and (1,) * values.ndim), overwrite=True
        )
    finally:
        _remove(made)
    return max(size - head, 1) / values.size


def _remove(path: Path) -> None:
    from hyperslab.io.writing import remove

    remove(path)


__all__ = ["SAMPLE_BYTES", "Sample", "box_of", "packed_bytes", "stored_bytes", "take"]
