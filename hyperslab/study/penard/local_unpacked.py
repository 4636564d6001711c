"""Bytes that each way to read decompresses of a chunk."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ...access import readers
from .local import OTHERS, WAYS, columns, every
from .local_files import LocalFiles
from .subchunk_files import DEFAULT, DOCUMENT, SHUFFLES
from .subchunk_inside import Places, runs, stream


def decompressed(files: LocalFiles) -> Iterator[dict[str, object]]:
    """Yield the bytes that each way decompresses of the first chunk: ``predicted_bytes``."""
    here = readers()
    for kind, read, way, store in every((*WAYS, *OTHERS)):
        if way.library not in here:
            continue
        name = f"{kind}-{store if store in SHUFFLES else 'on'}"
        layout = files.stored(kind)[store]
        size = 4 * math.prod(files.shapes[name][1:]) if layout.codec else 0
        if layout.shards and layout.chunks:
            size = 4 * cells(_box(files, name, read), layout.chunks[1:])
        if way.library in ("subchunk", "chunkindex_layout"):
            size = inflated(files, name, read, ours=way.library == "subchunk")
        yield {
            "case": way.case(kind, read, store),
            "phase": "decompress",
            **columns(files, kind, read, store, way.library),
            "predicted_bytes": size,
        }


def cells(box: Sequence[range], chunks: Sequence[int]) -> int:
    """Return how many values the chunks hold that a box touches.

    Examples
    --------
    >>> cells((range(3, 5), range(6)), (4, 3))
    48
    """
    return math.prod(
        size * (places[-1] // size - places[0] // size + 1)
        for places, size in zip(box, chunks, strict=True)
    )


def inflated(files: LocalFiles, name: str, read: str, *, ours: bool) -> int:
    """Return the bytes inflated of the first chunk, from the last point before what is wanted.

    Ours inflates what several pieces share once and never more than the chunk; the document's
    reader every piece from its own point.
    """
    shape, box = files.shapes[name][1:], _box(files, name, read)
    begins, ends = runs(box, shape, False)
    shuffled = name.endswith("-on")
    if shuffled:  # a piece in each of the planes
        planes = np.arange(4)[:, None] * math.prod(shape)
        begins, ends = ((planes + places // 4).reshape(-1) for places in (begins, ends))
    found = stream(files, name, DEFAULT if ours else DOCUMENT)
    points = found.out[found.starts]
    from_ = points[np.searchsorted(points, begins, "right") - 1]
    if not ours:
        return int((ends - from_).sum())
    return min(int((ends - np.maximum(from_, _before(ends))).sum()), found.out_bytes)


def _box(files: LocalFiles, name: str, read: str) -> tuple[range, ...]:
    """Return the places in a chunk that a read wants."""
    chosen = files.pixels(name)[0] if read == "series" else files.frame(name)
    assert isinstance(chosen, tuple)
    return tuple(
        range(length)[_slice(index)]
        for index, length in zip(chosen[1:], files.shapes[name][1:], strict=True)
    )


def _slice(index: object) -> slice:
    if isinstance(index, slice):
        return index
    assert isinstance(index, int)
    return slice(index, index + 1)


def _before(ends: Places) -> Places:
    """Return where the piece before each one ended."""
    return np.concatenate([np.zeros(1, np.int64), ends[:-1]])
