"""What a file behind a URL is asked for: the pieces of a read, through fsspec's window of bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from hyperslab.io.chunk_shapes import chunk_grid
from hyperslab.io.layout import NETCDF4
from hyperslab.io.selection import Region, region

from .read import Read

# HDF5's chunk index is a tree. Its root holds so many chunks; when it is full they move to a leaf
# at what is then the end of the file, and so does each leaf that follows: nine tenths full.
_ROOT_CHUNKS = 64
_LEAF_CHUNKS = 58
_NODE_BYTES = 2**12
_MOST = 20_000  # pieces that are followed one by one


@dataclass
class Window:
    """fsspec's cache for files over HTTP ("bytes"): one stretch, fetched ahead, cut when long.

    Parameters
    ----------
    ahead_bytes
        What is fetched beyond each piece.
    file_bytes
        Where the file ends.

    Examples
    --------
    >>> window = Window(ahead_bytes=100, file_bytes=1000)
    >>> window.ask(0, 10); window.ask(50, 60); window.ask(500, 510)
    >>> window.requests, window.nbytes
    (2, 220)
    """

    ahead_bytes: int
    file_bytes: int
    requests: int = 0
    nbytes: int = 0
    _first: int = -1
    _last: int = -1

    def ask(self, start: int, stop: int) -> None:
        """Read a piece."""
        known = self._first >= 0
        if known and self._first <= start and stop < self._last:
            return
        far = min(self.file_bytes, stop + self.ahead_bytes)
        if not known or (start < self._first and stop > self._last):
            self._anew(start, far)
        elif start < self._first:
            if self._last - stop > self.ahead_bytes:
                self._anew(start, far)
            else:
                self._fetch(start, self._first)
                self._first = start
        elif far > self._last:
            if stop - self._last > self.ahead_bytes:
                self._anew(start, far)
            else:
                self._fetch(self._last, far)
                self._last = far
        # What it cuts may hold the next piece, which is then fetched again.
        whole = (self._last - self._first) // (self.ahead_bytes + 1)
        if whole > 1:
            self._first += self.ahead_bytes * whole

    def _anew(self, start: int, stop: int) -> None:
        self._fetch(start, stop)
        self._first, self._last = start, stop

    def _fetch(self, start: int, stop: int) -> None:
        self.requests += 1
        self.nbytes += max(stop - start, 0)


def pieces(read: Read, file_bytes: float) -> tuple[Iterator[tuple[int, int]], float]:
    """Return where a read's pieces lie in a file that was written in order, index included.

    Parameters
    ----------
    read
        Of HDF5, in chunks or contiguous.
    file_bytes
        Size of the file.

    Returns
    -------
    iterator of (int, int)
        Start and end of each, in bytes.
    float
        So many times as many there are, where only the first are told.
    """
    regions = [region(selection, read.shape) for selection in read.selections]
    if read.layout.chunks is None:
        return _runs(read, regions)
    return _chunks(read, regions, file_bytes)


def _chunks(
    read: Read, regions: Iterable[Region], file_bytes: float
) -> tuple[Iterator[tuple[int, int]], float]:
    """Tell chunks, each after the leaf of the index that knows it, where that was not read yet."""
    assert read.layout.chunks is not None
    grid = chunk_grid(read.shape, read.layout.chunks)
    each = file_bytes / math.prod(grid)
    lists = [_numbers(one, read.layout.chunks, grid) for one in regions]
    total = sum(math.prod(len(axis) for axis in axes) for axes in lists)
    leaves = read.layout.format in (*NETCDF4, "hdf5") and math.prod(grid) > _ROOT_CHUNKS

    def told() -> Iterator[tuple[int, int]]:
        seen: set[int] = set()
        left = _MOST
        for axes in lists:
            for place in np.ndindex(*(len(axis) for axis in axes)):
                if not left:
                    return
                left -= 1
                at = [axis[i] for axis, i in zip(axes, place, strict=True)]
                number = int(np.ravel_multi_index(at, grid))
                leaf = number // _LEAF_CHUNKS
                if leaves and leaf not in seen:
                    seen.add(leaf)
                    start = int((_ROOT_CHUNKS + max(leaf - 1, 0) * _LEAF_CHUNKS) * each)
                    yield start, start + _NODE_BYTES
                yield int(number * each), int((number + 1) * each)

    return told(), max(total / _MOST, 1.0)


def _numbers(one: Region, chunks: tuple[int, ...], grid: tuple[int, ...]) -> list[list[int]]:
    """Return the chunks that a region touches along each axis."""
    return [
        sorted({min((start + i * step) // c, n - 1) for i in range(count)})
        if step >= c
        else list(range(start // c, (start + max(count - 1, 0) * step) // c + 1))
        for start, count, step, c, n in zip(
            one.starts, one.counts, one.steps, chunks, grid, strict=True
        )
    ]


def _runs(read: Read, regions: Iterable[Region]) -> tuple[Iterator[tuple[int, int]], float]:
    """Tell the rows of contiguous data: what is taken of the last axis at once."""
    strides = [math.prod(read.shape[axis + 1 :]) * read.itemsize for axis in range(len(read.shape))]
    found = list(regions)
    total = sum(math.prod(one.counts[:-1]) for one in found)

    def told() -> Iterator[tuple[int, int]]:
        left = _MOST
        for one in found:
            if not one.size:
                continue
            width = ((one.counts[-1] - 1) * one.steps[-1] + 1) * read.itemsize
            for place in np.ndindex(*one.counts[:-1]):
                if not left:
                    return
                left -= 1
                at = [*(s + i * t for s, i, t in zip(one.starts, place, one.steps, strict=False)),
                      one.starts[-1]]  # fmt: skip
                start = sum(i * stride for i, stride in zip(at, strides, strict=True))
                yield start, start + width

    return told(), max(total / _MOST, 1.0)
