"""A file as h5py reads it, here or over ranges."""

import io
import os
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
        file = h5py.File(data.path, "r")
    except SubchunkError:
        raise
    except Exception as error:
        what = "this is a folder: name the files in it, such as folder/*.nc"
        if data.remote or not os.path.isdir(data.name):  # noqa: PTH112
            what = f"it cannot be opened as HDF5 or netCDF-4, the formats that can be read: {error}"
        raise UnfitFileError(f"{file_name(data.name)}: {what}") from error
    data.check(file.id.get_vfd_handle())
    return file


class RangeReader(io.RawIOBase):
    """A stream over the ranges of a file; small reads come from blocks, which are kept."""

    def __init__(self, source: Source) -> None:
        from fsspec.caching import BlockCache

        self._source, self._at = source, 0
        self._size = int(source.identity()["size"])
        self._blocks = BlockCache(_BLOCK, self._fetched, self._size, _BLOCKS)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        out = memoryview(buffer).cast("B")
        begin, stop = self._at, min(self._at + len(out), self._size)
        fetch = self._fetched if stop - begin >= _BLOCK else self._blocks._fetch
        with COLLECTION.put_off():
            data = fetch(begin, stop)
        out[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _fetched(self, begin: int, stop: int) -> memoryview:
        return self._source.ranges([begin], [min(stop, self._size)])[0]
