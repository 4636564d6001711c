"""Which pieces an array is copied in: whole chunks of the target, as few source chunks twice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

RUN_BYTES = 2**16  # a read of contiguous data moves at least so much: HDF5's sieve buffer
CALL_BYTES = 2**18  # what one more piece costs, in bytes that could be read in that time
_TRIED = 20_000  # shapes compared, at most


@dataclass(frozen=True)
class Slabs:
    """The pieces of an array that are copied one after the other.

    Parameters
    ----------
    shape
        Of the array.
    lengths
        Of a piece along each axis; those at the end are shorter.
    reads
        How often a chunk of the source is read, on average over its chunks; 1 is once.
    writes
        How often a chunk of the target is written.

    Examples
    --------
    >>> list(Slabs((5, 4), (3, 4), 1.0, 1.0))
    [(slice(0, 3, None), slice(0, 4, None)), (slice(3, 5, None), slice(0, 4, None))]
    """

    shape: tuple[int, ...]
    lengths: tuple[int, ...]
    reads: float
    writes: float

    def __iter__(self) -> Iterator[tuple[slice, ...]]:
        starts = [range(0, n, length) for n, length in zip(self.shape, self.lengths, strict=True)]
        for corner in product(*starts):
            yield tuple(
                slice(i, min(i + length, n))
                for i, length, n in zip(corner, self.lengths, self.shape, strict=True)
            )

    def __len__(self) -> int:
        pairs = zip(self.shape, self.lengths, strict=True)
        return math.prod(-(-n // length) for n, length in pairs)

    @property
    def elements(self) -> int:
        """Elements of the largest piece."""
        return math.prod(self.lengths) if 0 not in self.shape else 0


def plan(
    shape: Sequence[int],
    itemsize: int,
    source: Sequence[int] | None,
    target: Sequence[int] | None,
    limit_bytes: int,
) -> Slabs:
    """Choose the pieces of an array that fit into memory.

    A piece is made of whole chunks of the target, so that each of them is compressed and written
    once. Among such pieces those are chosen that read the chunks of the source the fewest times;
    of data that is contiguous, in the longest runs.

    Parameters
    ----------
    shape
        Of the array.
    itemsize
        Bytes of an element.
    source
        Lengths of a chunk of the source; None for contiguous.
    target
        Lengths of what the target writes at once, a chunk or a shard; None for contiguous.
    limit_bytes
        Bytes of the largest piece.

    Raises
    ------
    ValueError
        When not even one chunk of the target fits.

    Examples
    --------
    >>> plan((100, 100), 4, (10, 100), (100, 10), 40_000)
    Slabs(shape=(100, 100), lengths=(100, 100), reads=1.0, writes=1.0)
    >>> plan((100, 100), 4, (10, 100), (100, 10), 20_000)
    Slabs(shape=(100, 100), lengths=(100, 50), reads=2.0, writes=1.0)
    """
    shape = tuple(shape)
    if not shape or 0 in shape:
        return Slabs(shape, tuple(max(n, 1) for n in shape), 1.0, 1.0)
    units = tuple(min(c, n) for c, n in zip(target or (1,) * len(shape), shape, strict=True))
    if math.prod(units) * itemsize > limit_bytes:
        raise ValueError(
            f"one chunk of {'x'.join(map(str, units))} takes {math.prod(units) * itemsize} bytes, "
            f"and a piece may have {limit_bytes}"
        )
    grids = _Grids(
        shape,
        itemsize,
        tuple(source) if source else runs(shape, itemsize),
        tuple(target) if target else runs(shape, itemsize),
    )
    most = limit_bytes // itemsize
    best = _improved(
        min(_candidates(shape, units, grids, most), key=grids.cost), units, grids, most
    )
    return Slabs(shape, best, grids.reads(best), grids.writes(best) if target else 1.0)


def runs(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
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


@dataclass(frozen=True)
class _Grids:
    """The chunks on both sides, and what a shape of pieces costs on them."""

    shape: tuple[int, ...]
    itemsize: int
    source: tuple[int, ...]
    target: tuple[int, ...]

    def cost(self, lengths: tuple[int, ...]) -> tuple[float, int, tuple[int, ...]]:
        """Return bytes that are moved, with repeats; then come larger pieces and longer runs."""
        fetched = _touched(self.shape, self.source, lengths) * _size(self.source, self.shape)
        written = _touched(self.shape, self.target, lengths) * _size(self.target, self.shape)
        pieces = math.prod(-(-n // length) for n, length in zip(self.shape, lengths, strict=True))
        moved = (fetched + written) * self.itemsize + pieces * CALL_BYTES
        return (moved, -math.prod(lengths), tuple(-n for n in reversed(lengths)))

    def reads(self, lengths: tuple[int, ...]) -> float:
        return _touched(self.shape, self.source, lengths) / _count(self.shape, self.source)

    def writes(self, lengths: tuple[int, ...]) -> float:
        return _touched(self.shape, self.target, lengths) / _count(self.shape, self.target)


def _count(shape: Sequence[int], chunks: Sequence[int]) -> int:
    return math.prod(-(-n // c) for n, c in zip(shape, chunks, strict=True))


def _size(chunks: Sequence[int], shape: Sequence[int]) -> int:
    return math.prod(min(c, n) for c, n in zip(chunks, shape, strict=True))


def _touched(shape: Sequence[int], chunks: Sequence[int], lengths: Sequence[int]) -> int:
    """Return the number of pairs of a piece and a chunk that overlap."""
    total = 1
    for n, chunk, length in zip(shape, chunks, lengths, strict=True):
        both = math.lcm(chunk, length)
        total *= -(-n // chunk) + -(-n // length) - -(-n // both)
    return total


def _candidates(
    shape: tuple[int, ...], units: tuple[int, ...], grids: _Grids, most: int
) -> Iterator[tuple[int, ...]]:
    """Yield shapes of pieces that fit: all axes but one from a list, that one as long as it can."""
    rank = len(shape)
    each = max(2, int((_TRIED / rank) ** (1 / max(rank - 1, 1))))
    lists = [
        _lengths(n, unit, chunk, each)
        for n, unit, chunk in zip(shape, units, grids.source, strict=True)
    ]
    for free in range(rank):
        for others in product(*(lists[axis] for axis in range(rank) if axis != free)):
            room = most // math.prod(others)
            for length in _longest(shape[free], units[free], grids.source[free], room):
                yield (*others[:free], length, *others[free:])


def _improved(
    best: tuple[int, ...], units: tuple[int, ...], grids: _Grids, most: int
) -> tuple[int, ...]:
    """Trade length of one axis for that of another as long as it pays.

    With many axes not all shapes are tried at first.
    """
    shape = grids.shape
    every = [
        _lengths(n, unit, chunk, _TRIED)
        for n, unit, chunk in zip(shape, units, grids.source, strict=True)
    ]
    while True:
        found = best
        for one, free in permutations(range(len(shape)), 2):
            for length in every[one]:
                tried = list(found)
                tried[one], tried[free] = length, 1
                room = most // math.prod(tried)
                for longest in _longest(shape[free], units[free], grids.source[free], room):
                    tried[free] = longest
                    best = min(best, tuple(tried), key=grids.cost)
        if best == found:
            return best


def _lengths(n: int, unit: int, chunk: int, most: int) -> list[int]:
    """Return lengths worth trying along one axis: multiples of the unit, near source chunks."""
    both = math.lcm(unit, chunk)
    found = {unit, n}
    length = unit
    while length < n:
        found.add(length)
        length *= 2
    length = chunk
    while length < n:
        found |= {max(length // unit, 1) * unit, -(-length // unit) * unit}
        length *= 2
    found |= {both * 2**k for k in range(20) if both * 2**k < n}
    kept = sorted({min(length, n) for length in found})
    if len(kept) > most:
        must = {unit, min(both, n), n}
        rest = [length for length in kept if length not in must]
        step = len(rest) / max(most - len(must), 1)
        kept = sorted(must | {rest[int(i * step)] for i in range(max(most - len(must), 0))})
    return kept


def _longest(n: int, unit: int, chunk: int, room: int) -> set[int]:
    """Return the longest lengths of whole units that fit, also in step with source chunks."""
    if room >= n:
        return {n}
    longest = room // unit * unit
    both = math.lcm(unit, chunk)
    even = -(-n // unit // -(-n // longest)) * unit if longest else 0
    return {length for length in (longest, longest // both * both, even) if 0 < length <= room}
