"""Compare an index with its file: all that reading takes from it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .deflate.inflate import WINDOW
from .errors import CorruptIndexError
from .file import File
from .index.entries import Entry
from .index.place import file_name
from .read.decode import check_chunk, decode_stretch
from .read.stretch import Stretch
from .read.whole import checked, inflated_chunk


def check(
    path: str | Path,
    index: str | Path | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> int:
    """Compare an index with its file: what it says of variables and chunks, and every point.

    Each chunk is inflated whole, and from each of its points to each place where reading can end.
    What passes reads as the file itself, whoever made the index.

    Parameters
    ----------
    path : path-like
        The file, or its URL.
    index : path-like, optional
        Its index; beside the file if not given.
    storage_options : mapping, optional
        What opens URLs; see `open`.

    Returns
    -------
    int
        Points that were checked.

    Raises
    ------
    SubchunkError
        When anything differs.
    """
    with File(path, index, storage_options=storage_options, verify=True) as file:
        if file.index is None:
            raise CorruptIndexError(f"{file_name(path)} has no index: build one")
        pointed = [entry for entry in file.index.entries.values() if entry.spacing]
        return sum(_check_variable(file, entry) for entry in pointed)


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
        truth = np.frombuffer(inflated_chunk(stream, variable), np.uint8)
        low, high = np.searchsorted(points.mark, [begin, last]).tolist()
        outs = [*points.out[begin:last].tolist(), variable.chunk_bytes]
        bits = [*points.bit[begin:last].astype(np.int64).tolist(), 8 * len(stream)]
        for point, kept in zip(
            range(low, high), file.index.kept(points, range(low, high)), strict=True
        ):
            mark = int(points.mark[point])
            until = int(points.mark[point + 1]) if point + 1 < high else last
            out, bit = outs[mark - begin], bits[mark - begin]
            # A point's window may be referred to as far as it is long, past the next point.
            reach = begin + bisect_left(outs, out + WINDOW, lo=mark - begin)
            for end in sorted({*range(mark + 1, until + 1), max(until, min(reach, last))}):
                stop = (bits[end - begin] + 7) >> 3
                length = outs[end - begin] - out
                stretch = Stretch(point, mark, end, out, length, bit >> 3, stop, bit & 7, (0, 0))
                data = stream[stretch.start : stop]
                pieces = decode_stretch(stretch, data, points, kept, variable.name)
                if not all(
                    np.array_equal(piece, truth[at : at + len(piece)]) for at, piece in pieces
                ):
                    raise CorruptIndexError(
                        f"a point of {variable.name} in the index gives other values than its "
                        "chunk: build it again"
                    )
    return len(points)
