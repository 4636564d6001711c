"""Compare an index with its file: all that reading takes from it."""

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .deflate.inflate import WINDOW, inflate_to
from .deflate.windows import unpacked
from .errors import CorruptIndexError
from .file import File
from .index.format import Entry
from .listing import listing
from .place import file_name
from .read.decode import check_chunk, checked_start
from .read.stretch import Stretch
from .read.whole import checked, inflate_chunk

_CROWD = 256  # marks that lie within a window's length, at most


def check(
    path: str | Path,
    index: str | Path | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> int:
    """Compare an index with its file, and return how many points were checked.

    What it says of variables and chunks is compared, and every point: each chunk is inflated whole,
    and from each of its points to each place where reading can end. What passes reads as the file
    itself, whoever made the index.

    Parameters
    ----------
    path, index, storage_options
        As `hyperslab.subchunk.File` takes them.

    Raises
    ------
    SubchunkError
        When anything differs.
    """
    with File(path, index, storage_options=storage_options, verify=True) as file:
        if file.index is None:
            raise CorruptIndexError(f"{file_name(path)} has no index: build one")
        _check_left_out(file)
        pointed = [entry for entry in file.index.entries.values() if entry.spacing]
        return sum(_check_variable(file, entry) for entry in pointed)


def _check_left_out(file: File) -> None:
    """Compare what is said to be left out; why depends on the releases that read the file."""
    with file.plainly() as hdf5:
        now, indexed = listing(hdf5), file.listing
    differing = indexed.left_out.keys() ^ now.left_out.keys()
    differing |= indexed.left_out_attrs.keys() ^ now.left_out_attrs.keys()
    if differing:
        raise CorruptIndexError(
            f"what the index says is left out is not what the file leaves out: {min(differing)}"
        )


def _check_variable(file: File, entry: Entry) -> int:
    assert file.index is not None
    variable = entry.variable
    chunks, points = file.index.points(entry)
    for row in range(len(chunks)):
        begin, last = points.first[row : row + 2].tolist()
        if begin == last:
            continue
        if chunks.mask[row]:
            raise CorruptIndexError(f"the index has points where {variable.name} skips a filter")
        start, size = int(chunks.offset[row]), int(chunks.size[row])
        stored = file.data.ranges([start], [start + size])[0]
        stream = stored[: size - variable.guard_bytes]
        check_chunk(row, len(stream), stream, points, variable.name)
        if variable.guard_bytes:
            checked(stored, variable.name)
        truth = np.empty(variable.chunk_bytes, np.uint8)
        inflate_chunk(stream, variable.name, truth)
        outs = np.append(points.out[begin:last], variable.chunk_bytes)
        stops = np.append((points.bit[begin:last].astype(np.int64) + 7) >> 3, len(stream))
        if (outs[_CROWD:] - outs[:-_CROWD] < WINDOW).any():
            raise CorruptIndexError(f"the index has marks of {variable.name} closer than any built")
        low, high = np.searchsorted(points.mark, [begin, last]).tolist()
        kept = file.index.kept(points, range(low, high))
        for point, held in zip(range(low, high), kept, strict=True):
            mark = int(points.mark[point])
            until = int(points.mark[point + 1]) if point + 1 < high else last
            here, bit = mark - begin, int(points.bit[mark])
            # A point's window may be referred to as far as it is long, past the next point.
            far = max(until - begin, min(outs.searchsorted(outs[here] + WINDOW), len(outs) - 1))
            ends = slice(here + 1, far + 1)
            lengths = outs[ends] - outs[here]
            length, start = int(lengths[-1]), bit >> 3
            where = (begin + far, int(outs[here]), length, start, int(stops[far]))
            stretch = Stretch(point, mark, *where, bit & 7, (0, 0))
            data = stream[start : stretch.stop]
            header, packed = checked_start(stretch, data, points, held, variable.name)
            to = stops[ends] - start
            steps = inflate_to(data, bit & 7, header, unpacked(packed), to, length)
            if not _gives(steps, lengths, truth[stretch.out :].data):
                raise CorruptIndexError(
                    f"a point of {variable.name} in the index gives other values than its "
                    "chunk: build it again"
                )
    return len(points)


def _gives(steps: Iterator[bytes], lengths: NDArray[np.int64], truth: memoryview) -> bool:
    """Return whether so many bytes are there after each step, and are the true ones."""
    try:
        pieces = list(steps)
    except zlib.error:
        return False
    whole = b"".join(pieces)
    enough = np.cumsum([len(piece) for piece in pieces]) >= lengths
    return bool(enough.all()) and whole == truth[: len(whole)]
