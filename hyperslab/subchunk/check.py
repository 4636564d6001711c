"""Compare an index with its file, byte for byte."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .errors import CorruptIndexError
from .fetch import Source
from .file import File
from .index.index import PointIndex
from .index.place import file_name
from .read.decode import check_segments
from .read.stretch import Stretch


def check(
    path: str | Path,
    index: str | Path | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> int:
    """Compare an index with its file: fingerprint, tables, what points keep, compressed data.

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
    count = 0
    with File(path, index, storage_options=storage_options, verify=True) as file:
        if file.index is None:
            raise CorruptIndexError(f"{file_name(path)} has no index: build one")
        for entry in file.index.entries.values():
            if entry.spacing:
                count += _check_variable(file.index, entry.variable.name, file.data)
    return count


def _check_variable(index: PointIndex, name: str, data: Source) -> int:
    chunks, points = index.points(index.entries[name])
    for row in range(len(chunks)):
        first, last = points.first[row : row + 2].tolist()
        if first == last:
            continue
        low, high = np.searchsorted(points.mark, [first, last]).tolist()
        kept = index.kept(points, range(low, high))
        if [zlib.crc32(piece) for piece in kept] != points.kept_crc[low:high].tolist():
            raise CorruptIndexError(f"the index is damaged where it describes {name}")
        begin, size = int(chunks.offset[row]), int(chunks.size[row])
        start = int(points.bit[first]) >> 3
        stop = size - index.entries[name].variable.guard_bytes
        stored = data.ranges([begin + start], [begin + stop])[0]
        stretch = Stretch(low, first, last, 0, 0, start, stop, 0, (0, 0))
        check_segments(stretch, stored, points, name)
    return len(points)
