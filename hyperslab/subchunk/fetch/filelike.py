"""A file as h5py reads it, over ranges."""

from __future__ import annotations

import io
from collections import OrderedDict
from typing import Any

from .collection import COLLECTION
from .ranges import Source

_BLOCK = 2**16  # bytes fetched at once: metadata lies close together
_BLOCKS = 256


class RangeReader(io.RawIOBase):
    """A stream over the ranges of a file, for libraries that want one.

    Small reads come from blocks, which are kept; large ones are fetched as they are.

    Examples
    --------
    >>> from hyperslab.subchunk.fetch import source
    >>> with RangeReader(source(__file__)) as stream:
    ...     len(stream.read(6))
    6
    """

    def __init__(self, source: Source) -> None:
        self._source, self._at = source, 0
        self._size = int(source.identity()["size"])
        self._blocks: OrderedDict[int, memoryview] = OrderedDict()

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """Return where the next read begins."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a place."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer, as far as the file goes."""
        with COLLECTION.put_off():
            return self._fill(buffer)

    def _fill(self, buffer: Any) -> int:
        out = memoryview(buffer).cast("B")
        stop = min(self._at + len(out), self._size)
        done = 0
        if stop - self._at >= _BLOCK:
            data = self._source.ranges([self._at], [stop])[0]
            out[: len(data)] = data
            self._at += len(data)
            return len(data)
        while self._at < stop:
            number, inside = divmod(self._at, _BLOCK)
            piece = self._block(number)[inside : inside + stop - self._at]
            if not piece:
                break
            out[done : done + len(piece)] = piece
            done += len(piece)
            self._at += len(piece)
        return done

    def _block(self, number: int) -> memoryview:
        if number not in self._blocks:
            if len(self._blocks) == _BLOCKS:
                self._blocks.popitem(last=False)
            begin = number * _BLOCK
            end = min(begin + _BLOCK, self._size)
            self._blocks[number] = self._source.ranges([begin], [end])[0]
        self._blocks.move_to_end(number)
        return self._blocks[number]
