"""Cut a selection along the grid of chunks."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from .select import Axis

Local = range | NDArray[np.int64]


@dataclass(frozen=True)
class Box:
    number: int  # place of the chunk in the grid, counted in C order
    local: tuple[Local, ...]  # ascending indices within the chunk, for each axis
    place: tuple[slice, ...]  # where the values go in the result

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(indices) for indices in self.local)

    @property
    def alike(self) -> tuple[Hashable, ...]:
        """The same for boxes that take the same values of their chunks, as long as these exist."""
        return tuple(local if isinstance(local, range) else id(local) for local in self.local)


def boxes(axes: tuple[Axis, ...], chunks: tuple[int, ...], grid: tuple[int, ...]) -> Iterator[Box]:
    """Give the part of a selection in each chunk that it touches, in the order of the grid."""
    steps = [prod(grid[axis + 1 :]) for axis in range(len(grid))]
    pieces = [_pieces(axis.indices, length) for axis, length in zip(axes, chunks, strict=True)]
    others = [list(axis) for axis in pieces[1:]]
    # The first axis, along which chunks are many, is cut as it is read.
    for combination in ((first, *rest) for first in pieces[0] for rest in product(*others)):
        yield Box(
            sum(piece[0] * step for piece, step in zip(combination, steps, strict=True)),
            tuple(piece[1] for piece in combination),
            tuple(piece[2] for piece in combination),
        )


def _pieces(indices: Local, length: int) -> Iterator[tuple[int, Local, slice]]:
    if not len(indices):
        return
    if isinstance(indices, range):
        done = 0
        while done < len(indices):
            chunk, first = divmod(indices[done], length)
            end = min(done - (first - length) // indices.step, len(indices))
            last = indices[end - 1] - chunk * length
            yield chunk, range(first, last + 1, indices.step), slice(done, end)
            done = end
        return
    chunk_of = indices // length
    cuts = np.flatnonzero(np.diff(chunk_of)) + 1
    for begin, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(indices)], strict=True):
        chunk = int(chunk_of[begin])
        yield chunk, indices[begin:end] - chunk * length, slice(begin, end)


def runs(local: tuple[Local, ...], chunks: tuple[int, ...]) -> tuple[NDArray[np.int64], int]:
    """Return where the values of a box lie in its chunk: runs of equal length."""
    lead, steps, base, length = _runs(local, chunks)
    starts = np.full(1, base, np.int64)
    for indices, step in zip(lead, steps, strict=False):
        starts = (starts[:, None] + np.asarray(indices, np.int64) * step).reshape(-1)
    return starts, length


def count_runs(local: tuple[Local, ...], chunks: tuple[int, ...]) -> int:
    return prod(len(indices) for indices in _runs(local, chunks)[0])


def _runs(
    local: tuple[Local, ...], chunks: tuple[int, ...]
) -> tuple[tuple[Local, ...], list[int], int, int]:
    """Return the indices that lead to runs, their steps, where runs begin, and their length."""
    steps = [prod(chunks[axis + 1 :]) for axis in range(len(chunks))]
    last = len(chunks) - 1
    while last > 0 and len(local[last]) == chunks[last]:
        last -= 1
    tail = local[last]
    if isinstance(tail, range) and (tail.step == 1 or len(tail) == 1):
        return local[:last], steps, tail[0] * steps[last], len(tail) * steps[last]
    return local[: last + 1], steps, 0, steps[last]
