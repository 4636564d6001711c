"""Reading inside of chunks as Penard et al. 2025 describe it, on the layout of their index.

Points at the ends of deflate's blocks, three a chunk or one every 2 MB, each with its whole window;
a request for every window and every piece of data, one after another. What the package does
beyond the description (opening the index again for every chunk, an array of the whole variable) is
left out, and what it reads wrong (missing chunks, strides) is read right.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np
from numpy.typing import NDArray

from hyperslab.access.base import LibraryReader, NotNumbersError, Opened, OpenedArray, no_cache
from hyperslab.access.card import Card
from hyperslab.access.h5py import dataset_names, find_plugins
from hyperslab.access.urls import Remote
from hyperslab.storage.region import Region
from hyperslab.subchunk import CorruptDataError, chunkindex
from hyperslab.subchunk.chunkindex.opening import group_of, read_window
from hyperslab.subchunk.chunkindex.record import ChunkRecord, check_sizes, read_record
from hyperslab.subchunk.chunkindex.write import chunk_names
from hyperslab.subchunk.deflate.inflate import inflate_from
from hyperslab.subchunk.deflate.shuffle import unshuffled
from hyperslab.subchunk.fetch.collection import COLLECTION
from hyperslab.subchunk.hdf5 import chunk_table, describe
from hyperslab.subchunk.read.boxes import Box, boxes
from hyperslab.subchunk.read.select import wanted
from hyperslab.subchunk.read.whole import decode_chunk

SUFFIX = ".chunkindex"


class Counted(io.RawIOBase):
    """A stream that counts what is read from it: requests, where the file is far away.

    Parameters
    ----------
    stream : binary file
        Open for reading.

    Examples
    --------
    >>> counted = Counted(io.BytesIO(b"chunk"))
    >>> counted.read(3), counted.requests, counted.read_bytes
    (b'chu', 1, 3)
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.requests = self.read_bytes = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a place."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """Return where the next read begins."""
        return self._stream.tell()

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer, by one request."""
        out = memoryview(buffer).cast("B")
        with COLLECTION.put_off():  # h5py, which may ask, holds its lock meanwhile
            data = self._stream.read(len(out))
        out[: len(data)] = data
        self.requests += 1
        self.read_bytes += len(data)
        return len(data)

    def close(self) -> None:
        """Close the stream too."""
        self._stream.close()
        super().close()


class SerialVariable:
    """A variable read inside of its chunks, one request after another.

    Parameters
    ----------
    data, index : binary file
        The file and its index, open for reading: of this machine, or from fsspec.
    name : str
        The variable.

    Raises
    ------
    KeyError
        When the file has no such variable.
    NotNumbersError
        When it holds nothing.

    Source
    ------
    Penard et al. 2025, sections 3.2 to 3.4, Figures 2 to 4.
    """

    def __init__(self, data: BinaryIO, index: BinaryIO, name: str) -> None:
        self.data, self.index = Counted(data), Counted(index)
        self._hdf5 = h5py.File(self.data, "r")
        self._index = h5py.File(self.index, "r")
        self._dataset = self._hdf5[name]
        if not isinstance(self._dataset, h5py.Dataset) or self._dataset.shape is None:
            raise NotNumbersError(f"{name!r} holds nothing; readers take integers and floats")
        self.variable = describe(name, self._dataset)
        if not self.variable.plain:
            self._chunks = chunk_table(self._dataset)
            self._names = chunk_names(self.variable, self._chunks.number)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the stored values."""
        found: np.dtype[Any] = self._dataset.dtype
        return found

    @property
    def requests(self) -> int:
        """Reads of the file and of the index so far."""
        return self.data.requests + self.index.requests

    @property
    def read_bytes(self) -> int:
        """Bytes read of the file and of the index so far."""
        return self.data.read_bytes + self.index.read_bytes

    def close(self) -> None:
        """Close both files."""
        for file in (self._hdf5, self._index, self.data, self.index):
            file.close()

    def read(self, key: Any) -> NDArray[Any]:
        """Return the values of a selection, chunk after chunk; what has no deflate, plainly.

        Parameters
        ----------
        key
            As between brackets: whole numbers, slices with positive steps, an ellipsis.

        Raises
        ------
        SubchunkError
            When the index does not fit the file, or either is damaged.
        """
        if self.variable.plain:
            return np.asarray(self._dataset[key])
        asked = wanted(key, self.variable.shape)
        result = np.empty(asked.shape, self.variable.dtype)
        if result.size:
            for box in boxes(asked.axes, self.variable.chunks, self.variable.grid):
                result[box.place] = self._box(box)
        return asked.arrange(result)

    def _box(self, box: Box) -> NDArray[Any]:
        row = int(np.searchsorted(self._chunks.number, box.number))
        if row == len(self._chunks) or self._chunks.number[row] != box.number:
            return np.full(box.shape, self.variable.fill_value, self.variable.dtype)
        places = _places(box, self.variable.chunks)
        first, last = int(places.flat[0]), int(places.flat[-1])
        group = f"{self.variable.name}/{self._names[row]}"
        if group in self._index:
            values = self._samples(group_of(self._index, group), row, first, last - first + 1)
        else:  # a chunk that skipped a filter has no points
            start, size = int(self._chunks.offset[row]), int(self._chunks.size[row])
            mask = int(self._chunks.mask[row])
            raw = decode_chunk(self._fetch(start, size), self.variable, mask)
            values = raw.view(self.variable.dtype)[first : last + 1]
        return values[places - first]

    def _samples(self, group: h5py.Group, row: int, first: int, count: int) -> NDArray[Any]:
        """Return the values from one to another: with shuffle, a piece for each of their bytes."""
        record = read_record(group)
        name = group.name.rpartition("/")[2]
        check_sizes(self.variable, name, record, int(self._chunks.size[row]))
        width = self.variable.width
        if not self.variable.shuffled:
            pieces = [self._piece(group, record, row, first * width, count * width)]
        else:
            plane = self.variable.chunk_bytes // width
            pieces = [
                self._piece(group, record, row, number * plane + first, count)
                for number in range(width)
            ]
        raw = np.frombuffer(b"".join(pieces), np.uint8)
        if self.variable.shuffled:
            raw = unshuffled(raw, width)
        return raw.view(self.variable.dtype)

    def _piece(
        self, group: h5py.Group, record: ChunkRecord, row: int, offset: int, length: int
    ) -> bytes:
        """Return bytes of the decompressed chunk from the point before them."""
        point = int(np.searchsorted(record.outloc, offset, "right")) - 1
        behind = int(np.searchsorted(record.outloc, offset + length, "left"))
        place = point - record.inserted
        window = read_window(group, place) if place >= 0 else b""
        bit = int(record.bit[point])
        stop = int(record.inloc[behind]) if behind < len(record) else record.compressed_size
        data = self._fetch(int(self._chunks.offset[row]) + (bit >> 3), stop - (bit >> 3))
        skipped = offset - int(record.outloc[point])
        window = window if record.outloc[point] else b""
        try:
            found = inflate_from(
                memoryview(data), bit & 7, (0, 0), window, skipped + length, module=zlib
            )
        except zlib.error as error:
            raise self._damaged(str(error)) from error
        if len(found) != skipped + length:
            raise self._damaged("its data end too early")
        return found[skipped:]

    def _fetch(self, start: int, size: int) -> bytes:
        self.data.seek(start)
        found = self.data.read(size)
        if found is None or len(found) != size:
            raise self._damaged("the file ends within it")
        return found

    def _damaged(self, why: str) -> CorruptDataError:
        return CorruptDataError(
            f"a chunk of {self.variable.name} cannot be read from its index ({why}): the file or "
            "the index is damaged, or they do not belong together"
        )


class ChunkindexLayoutReader(LibraryReader):
    """Reads HDF5, and so netCDF-4, as the document describes; the index lies beside the file.

    Where there is no index one is built first: build it before anything is timed, by
    ``hyperslab.subchunk.chunkindex.write(path, f"{path}.chunkindex")``. Variables that are not
    deflate-compressed are read plainly, by h5py. Behind a URL the index must lie beside the file;
    fsspec opens both, with its own choice of cache, or for `chunkindex_layout-none` without one.
    """

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        no_cache(self.name, chunk_cache_bytes)
        index = path.with_name(path.name + SUFFIX)
        if not index.exists():
            chunkindex.write(path, index)
        with ExitStack() as opened:
            serial = SerialVariable(
                opened.enter_context(path.open("rb")),
                opened.enter_context(index.open("rb")),
                variable,
            )
            array = _SerialArray(variable, serial)
            opened.pop_all()
        return array

    def _open_remote(self, remote: Remote, variable: str, chunk_cache_bytes: int | None) -> Opened:
        no_cache(self.name, chunk_cache_bytes)
        cache = {"cache_type": "none"} if self.name.endswith("-none") else {}
        with ExitStack() as opened:
            data: Any = opened.enter_context(remote.stream(cache))
            index: Any = opened.enter_context(remote.beside(SUFFIX).stream(cache))
            array = _SerialArray(variable, SerialVariable(data, index, variable))
            opened.pop_all()
        return array

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the datasets, with their groups."""
        return dataset_names(path)

    def remote_names(self, remote: Remote) -> Iterable[str]:
        with remote.stream() as stream:
            return dataset_names(stream)

    def version(self) -> str:
        """Give the version of zlib, and that of h5py, which reads the index."""
        return f"{zlib.ZLIB_RUNTIME_VERSION} (h5py {h5py.__version__})"


class _SerialArray(OpenedArray):
    def __init__(self, name: str, serial: SerialVariable) -> None:
        super().__init__(name, serial.variable.shape, serial.dtype)
        self.serial = serial

    def _fetch(self, chosen: Region) -> Any:
        return self.serial.read(chosen.indices)

    def _close(self) -> None:
        self.serial.close()


def _places(box: Box, chunks: tuple[int, ...]) -> NDArray[np.int64]:
    """Return where the values of a box lie in its chunk, counted in C order."""
    steps = np.cumprod((1, *chunks[:0:-1]), dtype=np.int64)[::-1]
    found = np.zeros(box.shape, np.int64)
    for axis, (indices, step) in enumerate(zip(box.local, steps.tolist(), strict=True)):
        along = [1] * len(chunks)
        along[axis] = -1
        found += (np.asarray(indices, np.int64) * step).reshape(along)
    return found


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    find_plugins()
    return ChunkindexLayoutReader(card)
