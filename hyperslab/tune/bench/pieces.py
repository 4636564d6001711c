"""A read of a pattern cut into pieces that fit into memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hyperslab.io.layout import Layout
from hyperslab.io.selection import region
from hyperslab.tune.copy_plan import call_bytes, touched
from hyperslab.tune.slabs import Slabs, choose, runs

from ..sources.base import Indices, SourceVariable

PIECE_BYTES = 32 * 2**20  # a read that gives more is made in pieces
_LEAST_CHUNKS = 64  # a read that touches no more is not cut for their sake


def pieces(
    selection: Indices, variable: SourceVariable, layout: Layout, limit_bytes: int | None = None
) -> Iterator[Indices]:
    """Cut a selection into pieces that fit into memory, of whole chunks where it begins with one.

    Their values fit into the limit, and what the library holds for the chunks of one does too.
    """
    chosen = region(selection, variable.shape, variable.name)
    limit = min(limit_bytes or PIECE_BYTES, PIECE_BYTES)
    whole = layout.chunks if layout.chunks and variable.shape else None
    most = max(limit // max(call_bytes(layout.format), 1), _LEAST_CHUNKS)

    def crowded(counts: Sequence[int]) -> float:
        return touched(counts, whole, variable.shape, chosen.steps) / most

    if chosen.size * variable.itemsize <= limit and crowded(chosen.counts) <= 1:
        yield selection
        return
    cut = _cut(chosen.counts, variable.itemsize, whole, limit)
    while (over := crowded(cut.lengths)) > 1 and cut.elements > 1:
        limit = min(int(cut.elements / over), cut.elements - 1) * variable.itemsize
        cut = _cut(chosen.counts, variable.itemsize, whole, max(limit, variable.itemsize))
    for slab in cut:
        yield tuple(
            index
            if isinstance(index, int)
            else slice(start + part.start * step, start + (part.stop - 1) * step + 1, step)
            for index, start, step, part in zip(
                chosen.indices, chosen.starts, chosen.steps, slab, strict=True
            )
        )


def _cut(
    counts: Sequence[int], itemsize: int, chunks: Sequence[int] | None, limit_bytes: int
) -> Slabs:
    most = max(limit_bytes // itemsize, 1)
    unit = tuple(min(c, n) for c, n in zip(chunks or (), counts, strict=bool(chunks)))
    if not chunks or math.prod(unit) > most:
        return choose(counts, itemsize, runs(counts, itemsize), (1,) * len(counts), most)
    return choose(counts, itemsize, tuple(chunks), unit, most)
