"""The document's way of indexing and reading: its layout, its points, its requests."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...access.chunkindex_layout import SerialVariable
from ...storage.region import Selection
from ...subchunk import chunkindex

SPACING = 2**21
"""Bytes between points: three a chunk, or one every 2 MB (section 3.3)."""


def build(path: Path, target: Path, variable: str, spacing: int) -> None:
    """Index one variable of a file in the layout of Figure 3."""
    chunkindex.write(path, target, variables=[variable], spacing=spacing)


def open(path: Path, index: Path) -> "Serial":
    """Open a file with such an index, to be read as the document describes."""
    return Serial(path, index)


class Serial(dict[str, "_Variable"]):
    """A file and its index, open; variables are read one request after another."""

    def __init__(self, path: Path, index: Path) -> None:
        super().__init__()
        self._path, self._index = path, index

    def __missing__(self, name: str) -> "_Variable":
        data, index = self._path.open("rb"), self._index.open("rb")
        self[name] = _Variable(SerialVariable(data, index, name))
        return self[name]

    def close(self) -> None:
        """Close what was opened."""
        for variable in self.values():
            variable.serial.close()


@dataclass(frozen=True)
class _Variable:
    serial: SerialVariable

    def __getitem__(self, selection: Selection) -> NDArray[Any]:
        return self.serial.read(selection)


def spacing(chunk_bytes: int, widest: int) -> int:
    """Return the bytes between points of a chunk.

    Examples
    --------
    >>> spacing(1_956_240, SPACING), spacing(53_989_260, SPACING)
    (652080, 2097152)
    """
    return chunkindex.span(chunk_bytes, spacing=widest)


def count(index: Path, variable: str) -> int:
    """Return the points of all chunks."""
    return sum(len(chunk) for chunk in chunkindex.chunk_points(index, variable).values())


def first(index: Path, variable: str) -> tuple[NDArray[np.int64], NDArray[np.int64], int, int]:
    """Return the points of the first chunk: decompressed and compressed bytes before each.

    Returns
    -------
    out, stored : numpy.ndarray
        int64.
    out_bytes, stored_bytes : int
        Of the chunk.
    """
    chunks = chunkindex.chunk_points(index, variable)
    chunk = chunks[min(chunks, key=lambda name: [int(place) for place in name.split(".")])]
    return chunk.outloc, chunk.bit >> 3, chunk.uncompressed_size, chunk.compressed_size
