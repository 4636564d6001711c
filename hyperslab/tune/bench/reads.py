"""Reads of patterns: cut into pieces that fit into memory, and compared with what was copied."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.layout import Layout
from hyperslab.io.selection import Indices, Region, region
from hyperslab.io.sources.base import SourceVariable
from hyperslab.tune.copy_plan import call_bytes
from hyperslab.tune.passes import Watcher
from hyperslab.tune.slabs import Slabs, choose, runs

from ..report.compare import WrongValuesError, difference
from ..specs.patterns import Reads

Read = tuple[str, str, int]  # a pattern, a variable, and the number of the selection
PIECE_BYTES = 32 * 2**20  # a read that gives more is made in pieces
_LEAST_CHUNKS = 64  # a read that touches no more is not cut for their sake


def pieces(
    selection: Indices, variable: SourceVariable, layout: Layout, limit_bytes: int = PIECE_BYTES
) -> Iterator[Indices]:
    """Cut a selection into pieces that fit into memory, in whole chunks if it begins with one."""
    chosen = region(selection, variable.shape, variable.name)
    limit = min(limit_bytes, PIECE_BYTES)
    chunks = layout.chunks if variable.shape else None
    most = max(limit // max(call_bytes(layout.format), 1), _LEAST_CHUNKS)

    def crowded(counts: Sequence[int]) -> float:
        return touched(counts, chunks, variable.shape, chosen.steps) / most

    if chosen.size * variable.itemsize <= limit and crowded(chosen.counts) <= 1:
        yield selection
        return
    cut = _cut(chosen.counts, variable.itemsize, chunks, limit // variable.itemsize)
    while (over := crowded(cut.lengths)) > 1 and cut.elements > 1:
        fewer = min(int(cut.elements / over), cut.elements - 1)
        cut = _cut(chosen.counts, variable.itemsize, chunks, fewer)
    axes = (chosen.indices, chosen.starts, chosen.steps)
    for slab in cut:
        yield tuple(
            index
            if isinstance(index, int)
            else slice(start + part.start * step, start + (part.stop - 1) * step + 1, step)
            for index, start, step, part in zip(*axes, slab, strict=True)
        )


def _cut(counts: Sequence[int], itemsize: int, chunks: Sequence[int] | None, most: int) -> Slabs:
    """Cut at the ends of chunks where one fits, else in runs."""
    most = max(most, 1)
    unit = tuple(min(c, n) for c, n in zip(chunks or counts, counts, strict=True))
    if not chunks or math.prod(unit) > most:
        return choose(counts, itemsize, runs(counts, itemsize), (1,) * len(counts), most)
    return choose(counts, itemsize, tuple(chunks), unit, most)


def touched(
    lengths: Sequence[int], chunks: Sequence[int] | None, shape: Sequence[int], steps: Sequence[int]
) -> int:
    """Return the most chunks that a block of elements, some steps apart, can touch."""
    if not chunks:
        return 0
    spans = [(length - 1) * step + 1 for length, step in zip(lengths, steps, strict=True)]
    axes = zip(lengths, spans, chunks, shape, strict=True)
    return math.prod(
        max(min((span - 2) // chunk + 2, length, -(-n // chunk)), 1)
        for length, span, chunk, n in axes
    )


class Truth:
    """The values of each selection, picked out of the pieces while the source is copied."""

    def __init__(self, reads: Reads, variables: Sequence[SourceVariable], limit_bytes: int) -> None:
        self._variables = {variable.name: variable for variable in variables}
        self._kept: dict[Read, tuple[Region, NDArray[Any]]] = {}
        self.nbytes = 0  # of the values that are kept
        for pattern, selections in reads.items():
            for name, several in selections.items():
                variable = self._variables[name]
                for number, selection in enumerate(several):
                    chosen = region(selection, variable.shape, name)
                    nbytes = chosen.size * variable.itemsize
                    # What is larger is not kept: the whole copy is compared in its values.
                    if self.nbytes + nbytes <= limit_bytes:
                        self.nbytes += nbytes
                        values = np.empty(chosen.counts, variable.dtype)
                        self._kept[pattern, name, number] = chosen, values

    def watcher(self, name: str) -> Watcher | None:
        """Return what is to be shown each piece of a variable."""
        wanted = [kept for (_, of, _), kept in self._kept.items() if of == name]

        def see(slab: tuple[slice, ...], values: NDArray[Any]) -> None:
            for chosen, kept in wanted:
                there, here = [], []
                axes = zip(chosen.starts, chosen.counts, chosen.steps, slab, strict=True)
                for start, count, step, part in axes:
                    elements = range(start, start + count * step, step)
                    first, last = (bisect_left(elements, end) for end in (part.start, part.stop))
                    begin = start + first * step - part.start
                    there.append(slice(first, last))
                    here.append(slice(begin, begin + (last - first) * step, step))
                if all(overlap.start < overlap.stop for overlap in there):
                    kept[tuple(there)] = values[tuple(here)]

        return see if wanted else None

    def check(self, read: Read, piece: Indices, values: NDArray[Any], layout: Layout) -> None:
        """Compare what was read of a selection, or of a piece of it."""
        if read not in self._kept:
            return
        pattern, name, _ = read
        chosen, kept = self._kept[read]
        variable = self._variables[name]
        part = region(piece, variable.shape, name)
        axes = zip(part.starts, part.counts, chosen.starts, chosen.steps, strict=True)
        firsts = (((a - b) // step, n) for a, n, b, step in axes)
        wrong = difference(
            values.reshape(part.counts),
            np.ascontiguousarray(kept[tuple(slice(i, i + n) for i, n in firsts)]),
            quantize=layout.quantize,
            fill_value=variable.fill_value,
        )
        if wrong:
            raise WrongValuesError(f"{pattern} of {name} was read wrong: {wrong}")
