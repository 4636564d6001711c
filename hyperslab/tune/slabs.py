"""Which pieces an array is copied in: whole chunks of the copy, few source chunks read twice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product

RUN_BYTES = 2**16  # a read of contiguous data moves at least so much: HDF5's sieve buffer
_CALL_BYTES = 2**18  # what one more piece costs, in bytes that could be read in that time
_TRIED = 5_000  # shapes compared, at most

Slab = tuple[slice, ...]
Lengths = tuple[int, ...]


@dataclass(frozen=True)
class Slabs:
    """The pieces of an array that are copied one after the other.

    Parameters
    ----------
    shape
        Of the array.
    lengths
        Of a piece along each axis; those at the end are shorter.

    Examples
    --------
    >>> list(Slabs((5, 4), (3, 4)))
    [(slice(0, 3, None), slice(0, 4, None)), (slice(3, 5, None), slice(0, 4, None))]
    """

    shape: Lengths
    lengths: Lengths

    def __iter__(self) -> Iterator[Slab]:
        return cut(tuple(slice(0, n) for n in self.shape), self.lengths)

    def __len__(self) -> int:
        return _count(self.shape, self.lengths)

    @property
    def elements(self) -> int:
        """Elements of the largest piece."""
        return math.prod(self.lengths) if 0 not in self.shape else 0

    def touches(self, chunks: Sequence[int]) -> int:
        """Return how many chunks all pieces touch, each counted as often as it is touched.

        Examples
        --------
        >>> Slabs((10, 10), (5, 10)).touches((1, 10)), Slabs((10, 10), (10, 5)).touches((1, 10))
        (10, 20)
        """
        axes = zip(self.shape, self.lengths, chunks, strict=True)
        return math.prod(-(-n // a) + -(-n // b) - -(-n // math.lcm(a, b)) for n, a, b in axes)

    def reads(self, chunks: Sequence[int]) -> float:
        """Return how often a chunk is read, on average over all chunks; 1 is once."""
        return self.touches(chunks) / max(_count(self.shape, chunks), 1)

    def around(self, part: Slab) -> Slab:
        """Return the piece that a part lies in."""
        axes = zip(part, self.lengths, self.shape, strict=True)
        return tuple(
            slice(start := s.start // length * length, min(start + length, n))
            for s, length, n in axes
        )


def _count(shape: Sequence[int], lengths: Sequence[int]) -> int:
    return math.prod(-(-n // length) for n, length in zip(shape, lengths, strict=True))


def cut(slab: Slab, lengths: Sequence[int]) -> Iterator[Slab]:
    """Yield a slab cut at the multiples of lengths, in C order.

    Examples
    --------
    >>> [part[0] for part in cut((slice(2, 7),), (3,))]
    [slice(2, 3, None), slice(3, 6, None), slice(6, 7, None)]
    """
    axes = []
    for s, length in zip(slab, lengths, strict=True):
        inner = range((s.start // length + 1) * length, s.stop, length)
        ends = [s.start, *inner, s.stop] if s.stop > s.start else []
        axes.append([slice(a, b) for a, b in pairwise(ends)])
    return product(*axes)


def runs(shape: Sequence[int], itemsize: int) -> Lengths:
    """Return a block of contiguous data that one read moves anyway, as if it were a chunk.

    Examples
    --------
    >>> runs((100, 1000, 1000), 4)
    (1, 16, 1000)
    """
    lengths = [1] * len(shape)
    left = max(RUN_BYTES // itemsize, 1)
    for axis in reversed(range(len(shape))):
        lengths[axis] = max(min(shape[axis], left), 1)
        left //= lengths[axis]
        if left <= 1:
            break
    return tuple(lengths)


def choose(shape: Sequence[int], itemsize: int, source: Lengths, unit: Lengths, most: int) -> Slabs:
    """Choose the pieces of an array: whole units, which read the chunks of the source the least.

    Parameters
    ----------
    shape
        Of the array.
    itemsize
        Bytes of an element.
    source
        Lengths of a chunk of the source.
    unit
        Lengths of what the copy writes at once, a chunk or a shard.
    most
        Elements of the largest piece, unless one unit has more.

    Examples
    --------
    >>> choose((100, 100), 4, (10, 100), (100, 10), 10_000).lengths
    (100, 100)
    >>> choose((100, 100), 4, (10, 100), (100, 10), 5_000).lengths
    (100, 50)
    """
    shape = tuple(shape)
    if not shape or 0 in shape:
        return Slabs(shape, tuple(max(n, 1) for n in shape))
    whole = tuple(min(u, n) for u, n in zip(unit, shape, strict=True))
    nbytes = math.prod(shape) * itemsize

    def cost(lengths: Lengths) -> tuple[float, Lengths]:
        slabs = Slabs(shape, lengths)
        moved = slabs.reads(source) * nbytes + len(slabs) * _CALL_BYTES
        return moved, tuple(-n for n in reversed(lengths))  # and then in the longest runs

    axes = tuple(axis for axis, n in enumerate(shape) if whole[axis] < n)
    tried = islice(_lengthened(whole, axes, shape, source, most), _TRIED)
    return Slabs(shape, min(tried, key=cost))


def _lengthened(
    lengths: Lengths, axes: Lengths, shape: Lengths, source: Lengths, most: int
) -> Iterator[Lengths]:
    """Yield lengths that were made longer along some axes, in every order, as far as they fit."""
    if not axes:
        yield lengths
    for axis in axes:
        room = most * lengths[axis] // math.prod(lengths)
        left = tuple(other for other in axes if other != axis)
        for length in _steps(shape[axis], lengths[axis], source[axis], room):
            made = (*lengths[:axis], length, *lengths[axis + 1 :])
            yield from _lengthened(made, left, shape, source, most)


def _steps(n: int, unit: int, chunk: int, room: int) -> list[int]:
    """Return lengths of whole units worth a try: all that fits, in step with source chunks, one."""
    if room >= n:
        return [n, *([math.lcm(unit, chunk)] if math.lcm(unit, chunk) < n else [])]
    longest = max(room // unit, 1) * unit
    both = math.lcm(unit, chunk)
    steps = [longest, longest // both * both, both if both < longest else 0]
    return sorted({length for length in steps if length}, reverse=True)
