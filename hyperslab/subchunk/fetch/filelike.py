"""A file as h5py reads it, here or over ranges."""

from __future__ import annotations

import io
import os
from functools import lru_cache
from typing import Any

import h5py

from ..errors import SubchunkError, UnfitFileError
from ..place import file_name
from ..process import COLLECTION
from . import RemoteFile, Source

_BLOCK = 2**16  # bytes fetched at once: metadata lies close together
_BLOCKS = 256


def open_hdf5(data: Source) -> h5py.File:
    try:
        if isinstance(data, RemoteFile):
            data.identity()  # says what is missing
            return h5py.File(RangeReader(data), "r")
        found = h5py.File(data.path, "r")
    except SubchunkError:
        raise
    except Exception as error:
        what = "this is a folder: name the files in it, such as folder/*.nc"
        if data.remote or not os.path.isdir(data.name):  # noqa: PTH112
            what = f"it cannot be opened as HDF5 or netCDF-4, the formats that can be read: {error}"
        raise UnfitFileError(f"{file_name(data.name)}: {what}") from error
    data.check(found.id.get_vfd_handle())
    return found


class RangeReader(io.RawIOBase):
    """A stream over the ranges of a file; small reads come from blocks, which are kept."""

    def __init__(self, source: Source) -> None:
        self._source, self._at = source, 0
        self._size = int(source.identity()["size"])
        self._block = lru_cache(_BLOCKS)(self._fetched)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        with COLLECTION.put_off():
            return self._fill(memoryview(buffer).cast("B"))

    def _fill(self, out: memoryview) -> int:
        begin, stop = self._at, min(self._at + len(out), self._size)
        large = stop - begin >= _BLOCK
        while self._at < stop:
            if large:
                piece = self._source.ranges([self._at], [stop])[0]
            else:
                number, inside = divmod(self._at, _BLOCK)
                piece = self._block(number)[inside : inside + stop - self._at]
            if not piece:
                break
            out[self._at - begin : self._at - begin + len(piece)] = piece
            self._at += len(piece)
        return self._at - begin

    def _fetched(self, number: int) -> memoryview:
        begin = number * _BLOCK
        return self._source.ranges([begin], [min(begin + _BLOCK, self._size)])[0]
