"""A read of a pattern cut into pieces that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator

from hyperslab.storage.layout import Layout
from hyperslab.storage.region import region

from .slabs import plan
from .sources.base import Indices, SourceVariable

PIECE_BYTES = 32 * 2**20  # a read that gives more is made in pieces


def pieces(selection: Indices, variable: SourceVariable, layout: Layout) -> Iterator[Indices]:
    """Cut a selection into pieces that fit into memory, of whole chunks where it begins with one.

    Parameters
    ----------
    selection
        What is read.
    variable
        Of which.
    layout
        How it lies in the copy.

    Examples
    --------
    >>> sst = SourceVariable("sst", ("t", "x"), (4, 2**22), "f8")
    >>> list(pieces((slice(0, 2), slice(0, 2**22)), sst, Layout()))
    [(slice(0, 1, 1), slice(0, 4194304, 1)), (slice(1, 2, 1), slice(0, 4194304, 1))]
    """
    chosen = region(selection, variable.shape, variable.name)
    if chosen.size * variable.itemsize <= PIECE_BYTES:
        yield selection
        return
    whole = layout.chunks if layout.chunks else None
    try:
        cut = plan(chosen.counts, variable.itemsize, whole, whole, PIECE_BYTES)
    except ValueError:
        cut = plan(chosen.counts, variable.itemsize, None, None, PIECE_BYTES)
    for slab in cut:
        yield tuple(
            index
            if isinstance(index, int)
            else slice(start + part.start * step, start + (part.stop - 1) * step + 1, step)
            for index, start, step, part in zip(
                chosen.indices, chosen.starts, chosen.steps, slab, strict=True
            )
        )
