"""Which pieces an array is copied in: whole chunks of the copy, few source chunks read twice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hyperslab.io.chunk_shapes import chunk_grid, cut

from .specs.auto import along

_RUN_BYTES = 2**16  # a read of contiguous data moves at least so much: HDF5's sieve buffer
_CALL_BYTES = 2**18  # what one more piece costs, in bytes that could be read in that time

Slab = tuple[slice, ...]
Lengths = tuple[int, ...]


@dataclass(frozen=True)
class Slabs:
    """The pieces of an array that are copied one after the other; those at the ends are shorter."""

    shape: Lengths
    lengths: Lengths

    def __iter__(self) -> Iterator[Slab]:
        return cut(self.whole, self.lengths)

    def __len__(self) -> int:
        return math.prod(chunk_grid(self.shape, self.lengths))

    @property
    def whole(self) -> Slab:
        """All of the array."""
        return tuple(slice(0, n) for n in self.shape)

    @property
    def elements(self) -> int:
        """Elements of the largest piece."""
        return math.prod(self.lengths) if 0 not in self.shape else 0

    def reads(self, chunks: Sequence[int]) -> float:
        """Return how many pieces touch a chunk, on average over all chunks."""
        axes = zip(self.shape, self.lengths, chunks, strict=True)
        touched = math.prod(-(-n // a) + -(-n // b) - -(-n // math.lcm(a, b)) for n, a, b in axes)
        return touched / max(math.prod(chunk_grid(self.shape, chunks)), 1)

    def around(self, part: Slab) -> Slab:
        """Return the piece that a part lies in."""
        axes = zip((s.start for s in part), self.lengths, self.shape, strict=True)
        return tuple(
            slice(i - i % length, min(i - i % length + length, n)) for i, length, n in axes
        )


def runs(shape: Sequence[int], itemsize: int) -> Lengths:
    """Return a block of contiguous data that one read moves anyway, as if it were a chunk."""
    return along(shape, itemsize, range(len(shape)), _RUN_BYTES)


def choose(shape: Sequence[int], itemsize: int, source: Lengths, unit: Lengths, most: int) -> Slabs:
    """Choose pieces of whole units, of at most so many elements, that read the source the least."""
    shape = tuple(shape)
    if not shape or 0 in shape:
        return Slabs(shape, tuple(max(n, 1) for n in shape))
    nbytes = math.prod(shape) * itemsize

    def cost(lengths: Lengths) -> tuple[float, Lengths]:
        slabs = Slabs(shape, lengths)
        moved = slabs.reads(source) * nbytes + len(slabs) * _CALL_BYTES
        return moved, tuple(-n for n in reversed(lengths))  # and then in the longest runs

    lengths = tuple(min(u, n) for u, n in zip(unit, shape, strict=True))
    axes = [axis for axis, n in enumerate(shape) if lengths[axis] < n]
    while axes:  # one after another, that first which saves the most
        tried = {
            (*lengths[:axis], length, *lengths[axis + 1 :]): axis
            for axis in axes
            for length in _steps(
                shape[axis], lengths[axis], source[axis], most * lengths[axis] // math.prod(lengths)
            )
        }
        lengths = min(tried, key=cost)
        axes.remove(tried[lengths])
    return Slabs(shape, lengths)


def _steps(n: int, unit: int, chunk: int, room: int) -> set[int]:
    """Return lengths of whole units worth a try: all that fits, in step with source chunks, one."""
    both = math.lcm(unit, chunk)
    longest = n if room >= n else max(room // unit, 1) * unit
    return {longest, max(longest // both * both, unit) if longest < n else n, min(both, longest)}
