"""A copy in two passes, where memory holds no piece of whole chunks of both sides.

The first pass reads whole chunks of the source, each once, and puts what the pieces of the second
have of them one after another into a plain file without a name, which is gone when the process is.
The second takes each piece together and writes it as whole chunks of the copy. It is the plan of
rechunker and cubed, which write Zarr alone, and have nothing that compares or takes netCDF.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..report.compare import digest
from .slabs import CALL_BYTES, Slabs, plan, runs

Slab = tuple[slice, ...]


@dataclass(frozen=True)
class Staged:
    """The pieces of both passes.

    Parameters
    ----------
    first
        Whole chunks of the source.
    second
        Whole chunks of the copy.
    itemsize
        Bytes of an element.

    Examples
    --------
    >>> found = staged((100, 100), 4, (1, 100), (100, 1), 4_000)
    >>> found.first.lengths, found.second.lengths, found.count
    ((10, 100), (100, 10), 100)
    >>> found.reads
    1.0
    """

    first: Slabs
    second: Slabs
    itemsize: int

    @property
    def nbytes(self) -> int:
        """Bytes of the plain file."""
        return math.prod(self.first.shape) * self.itemsize

    @property
    def count(self) -> int:
        """Parts that the plain file is written and read in, at most."""
        axes = zip(self.first.shape, self.first.lengths, self.second.lengths, strict=True)
        return math.prod(-(-n // a) + -(-n // b) - -(-n // math.lcm(a, b)) for n, a, b in axes)

    @property
    def reads(self) -> float:
        """How often a chunk of the source is read, on average."""
        return self.first.writes

    def pays(self, reads: float) -> bool:
        """Whether it moves fewer bytes than copying in one pass that reads the source so often."""
        return 2 * self.nbytes + self.count * CALL_BYTES < (reads - self.reads) * self.nbytes

    def parts(self, slab: Slab) -> Iterator[Slab]:
        """Yield a piece of the second pass cut where those of the first end."""
        return _cut(slab, self.first.lengths)

    def goes_to(self, slab: Slab) -> Iterator[tuple[Slab, Slab]]:
        """Yield a piece of the first pass by the pieces of the second that it is part of."""
        for part in _cut(slab, self.second.lengths):
            whole = tuple(
                slice(s.start // length * length, min(s.start // length * length + length, n))
                for s, length, n in zip(part, self.second.lengths, self.second.shape, strict=True)
            )
            yield part, whole

    def place(self, part: Slab, slab: Slab) -> int:
        """Return where a part of a piece of the second pass begins in the file, in bytes."""
        every = tuple(slice(0, n) for n in self.second.shape)
        return (_before(slab, every) + _before(part, slab)) * self.itemsize


def staged(
    shape: Sequence[int],
    itemsize: int,
    source: Sequence[int] | None,
    target: Sequence[int] | None,
    limit_bytes: int,
) -> Staged:
    """Choose the pieces of both passes.

    Parameters
    ----------
    shape, itemsize, source, target
        See `slabs.plan`.
    limit_bytes
        Bytes of the largest piece of either pass.

    Raises
    ------
    ValueError
        When not even one chunk of the source, or of the target, fits.
    """
    own = tuple(source or runs(shape, itemsize))
    second = plan(shape, itemsize, own, target, limit_bytes)
    first = plan(shape, itemsize, second.lengths, own, limit_bytes)
    return Staged(first, second, itemsize)


class Stage:
    """The plain file between both passes.

    Parameters
    ----------
    file
        Without a name, open for reading and writing.
    pieces
        Of both passes.
    """

    def __init__(self, file: BinaryIO, pieces: Staged) -> None:
        self._file, self._pieces = file, pieces
        self._seen: dict[int, int] = {}
        self._dtype: np.dtype[Any] | None = None

    def put(self, slab: Slab, values: NDArray[Any]) -> None:
        """Take a piece of the first pass."""
        self._dtype = values.dtype
        for part, whole in self._pieces.goes_to(slab):
            block = np.ascontiguousarray(values[_within(part, slab)])
            place = self._pieces.place(part, whole)
            self._file.seek(place)
            self._file.write(block.reshape(-1).view(np.uint8).data)
            # Parts come in no order: their marks are added so that the order does not matter.
            key = self._pieces.place(whole, whole)
            self._seen[key] = self._seen.get(key, 0) ^ _mark(block, place)

    def take(self, slab: Slab) -> tuple[NDArray[Any], bytes]:
        """Return a piece of the second pass, and a digest of its parts as they were read."""
        assert self._dtype is not None
        values = np.empty([s.stop - s.start for s in slab], self._dtype)
        for part in self._pieces.parts(slab):
            block = np.empty([s.stop - s.start for s in part], self._dtype)
            self._file.seek(self._pieces.place(part, slab))
            if self._file.readinto(block.reshape(-1).view(np.uint8).data) != block.nbytes:  # type: ignore[attr-defined]
                raise OSError("the temporary file of the copy ended early")
            values[_within(part, slab)] = block
        return values, _bytes(self._seen[self._pieces.place(slab, slab)])


def digest_of(values: NDArray[Any], slab: Slab, pieces: Staged | None) -> bytes:
    """Return the digest of a piece: by its parts, where there were two passes.

    Parameters
    ----------
    values
        Of the piece.
    slab
        Where it lies.
    pieces
        Of both passes; None where there was one.
    """
    if pieces is None:
        return digest(values)
    total = 0
    for part in pieces.parts(slab):
        total ^= _mark(values[_within(part, slab)], pieces.place(part, slab))
    return _bytes(total)


def _mark(block: NDArray[Any], place: int) -> int:
    """Return a digest of a part and of its place: two that are exchanged show."""
    found = hashlib.blake2b(digest(block) + place.to_bytes(8, "big"), digest_size=16)
    return int.from_bytes(found.digest(), "big")


def _bytes(total: int) -> bytes:
    return total.to_bytes(16, "big")


def _cut(slab: Slab, lengths: Sequence[int]) -> Iterator[Slab]:
    """Yield a slab cut at the multiples of lengths, in C order."""
    axes = []
    for s, length in zip(slab, lengths, strict=True):
        inner = range((s.start // length + 1) * length, s.stop, length)
        ends = [s.start, *inner, s.stop]
        axes.append([slice(a, b) for a, b in pairwise(ends)])
    return product(*axes)


def _within(part: Slab, slab: Slab) -> Slab:
    return tuple(
        slice(p.start - s.start, p.stop - s.start) for p, s in zip(part, slab, strict=True)
    )


def _before(part: Slab, whole: Slab) -> int:
    """Return the elements before a part, where the parts of a whole lie in C order."""
    lengths = [p.stop - p.start for p in part]
    full = [w.stop - w.start for w in whole]
    return sum(
        (p.start - w.start) * math.prod(lengths[:axis]) * math.prod(full[axis + 1 :])
        for axis, (p, w) in enumerate(zip(part, whole, strict=True))
    )
