"""Reading inside of chunks with an index of the layout that Penard et al. 2025 describe."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import cached_property
from typing import Any, NamedTuple

import h5py
import numpy as np
from numpy.typing import NDArray

from ..subchunk import CorruptDataError, CorruptIndexError
from ..subchunk.chunk_table import Chunks, chunk_table
from ..subchunk.deflate.inflate import inflate_from, unshuffled
from ..subchunk.hdf5 import describe
from ..subchunk.read.boxes import Box, boxes
from ..subchunk.read.select import wanted
from ..subchunk.read.whole import decode_chunk
from . import chunkindex_format
from .by_h5py import find_plugins
from .chunkindex_format import check_sizes, chunk_names, read_record, read_sizes, read_window
from .reading import Indexed, Opened, Reader
from .urls import Place, Remote

SUFFIX = ".chunkindex"


class StoredChunk(NamedTuple):
    name: str  # in the index
    offset: int
    size: int
    mask: int


class SerialVariable:
    """A variable read with one request for each window and each piece of data, in turn."""

    def __init__(self, data: Any, index: Any, name: str) -> None:
        self.data, self.index = data, index
        self._hdf5 = h5py.File(self.data, "r")
        self._dataset = self._hdf5[name]
        self.variable = describe(name, self._dataset)
        self.shape, self.dtype = self.variable.shape, self._dataset.dtype
        self._begin()

    def _begin(self) -> None:
        self._index = h5py.File(self.index, "r")
        if not self.variable.plain:
            _ = self._names

    @cached_property
    def _chunks(self) -> Chunks:
        return chunk_table(self._dataset)

    @cached_property
    def _names(self) -> list[str]:
        return chunk_names(self.variable, self._chunks.number)

    def close(self) -> None:
        for file in (self._hdf5, getattr(self, "_index", self.index), self.data, self.index):
            file.close()

    def __getitem__(self, key: Any) -> NDArray[Any]:
        if self.variable.plain:
            return np.asarray(self._dataset[key])
        selection = wanted(key, self.variable.shape)
        result = np.empty(selection.shape, self.variable.dtype)
        for box in boxes(selection.axes, self.variable.chunks, self.variable.grid):
            result[box.place] = self._box(box)
        return selection.arrange(result)

    def _box(self, box: Box) -> NDArray[Any]:
        chunk = self._stored_chunk(box.number)
        if chunk is None:
            return np.full(box.shape, self.variable.fill_value, self.variable.dtype)
        return self._values(chunk, box)

    def _stored_chunk(self, number: int) -> StoredChunk | None:
        chunks = self._chunks
        row = int(np.searchsorted(chunks.number, number))
        if row == len(chunks) or chunks.number[row] != number:
            return None
        where = (chunks.offset[row], chunks.size[row], chunks.mask[row])
        return StoredChunk(self._names[row], *map(int, where))

    def _values(self, chunk: StoredChunk, box: Box) -> NDArray[Any]:
        """Return the values of a box, picked from all those between its first and its last."""
        numbers = np.asarray(np.ravel_multi_index(np.ix_(*box.local), self.variable.chunks))
        first, last = int(numbers.flat[0]), int(numbers.flat[-1])
        return self._samples(chunk, first, last - first + 1)[numbers - first]

    def _samples(self, chunk: StoredChunk, first: int, count: int) -> NDArray[Any]:
        group = self._entry(f"{self.variable.name}/{chunk.name}")
        if group is None:  # a chunk that skipped a filter has no points
            stored = self._fetch(chunk.offset, chunk.size)
            raw = decode_chunk(stored, self.variable, chunk.mask)
            return raw.view(self.variable.dtype)[first : first + count]
        raw = np.frombuffer(b"".join(self._pieces(group, chunk, first, count)), np.uint8)
        if self.variable.shuffled:
            raw = unshuffled(raw, self.variable.width)
        return raw.view(self.variable.dtype)

    def _entry(self, name: str) -> h5py.Group | None:
        present = name in self._index  # by get it would make other requests
        return self._index[name] if present else None

    def _spans(self, first: int, count: int) -> list[tuple[int, int]]:
        """Return where the bytes of values lie: with shuffle, a piece for each of their bytes."""
        width = self.variable.width
        if not self.variable.shuffled:
            return [(first * width, count * width)]
        plane = self.variable.chunk_bytes // width
        return [(number * plane + first, count) for number in range(width)]

    def _pieces(
        self, group: h5py.Group, chunk: StoredChunk, first: int, count: int
    ) -> Iterator[bytes]:
        record = read_record(group)
        check_sizes(self.variable, chunk.name, record.sizes, chunk.size)
        for offset, length in self._spans(first, count):
            point = int(np.searchsorted(record.outloc, offset, "right")) - 1
            behind = int(np.searchsorted(record.outloc, offset + length, "left"))
            window = read_window(group, point)
            bit, out = int(record.bit[point]), int(record.outloc[point])
            stop = int(record.inloc[behind]) if behind < len(record.outloc) else chunk.size
            data = self._fetch(chunk.offset + (bit >> 3), stop - (bit >> 3))
            yield self._inflated(data, bit & 7, window if out else b"", offset - out, length)

    def _inflated(self, data: bytes, shift: int, window: bytes, skipped: int, length: int) -> bytes:
        try:
            inflated = inflate_from(
                memoryview(data), shift, (0, 0), window, skipped + length, module=zlib
            )
        except zlib.error as error:
            raise self._damaged(str(error)) from error
        if len(inflated) != skipped + length:
            raise self._damaged("its data end too early")
        return inflated[skipped:]

    def _fetch(self, start: int, size: int) -> bytes:
        self.data.seek(start)
        data: bytes | None = self.data.read(size)
        if data is None or len(data) != size:
            raise self._damaged("the file ends within it")
        return data

    def _damaged(self, why: str) -> CorruptDataError:
        return CorruptDataError(
            f"a chunk of {self.variable.name} cannot be read from its index ({why}): the file or "
            "the index is damaged, or they do not belong together"
        )


# It makes room for the whole variable and for whole chunks, and scales what it read for the time
# that it takes; only what the package reads wrong (missing chunks, strides) is read right.
# tests/test_chunkindex.py holds it against the package.
class StandIn(SerialVariable):
    """A variable read as the published package does: with its requests, in turn, and its work."""

    def _begin(self) -> None:
        names = ("_FillValue", "scale_factor", "add_offset")
        self._fill, self._scale, self._offset = map(self._attribute, names)

    def _attribute(self, name: str) -> Any:
        with suppress(Exception):  # what cannot be read does not scale
            value = np.ravel(self._dataset.attrs[name])[0]
            return value if value.dtype.kind in "iuf" else None
        return None

    def __getitem__(self, key: Any) -> NDArray[Any]:
        shape = self.variable.shape
        selection = None if self.variable.plain else wanted(key, shape)
        if selection is None or not math.prod(selection.shape):
            return super().__getitem__(key)
        whole = np.empty(shape, self.variable.dtype)
        for box in boxes(selection.axes, self.variable.chunks, self.variable.grid):
            ranges = (axis.indices[at] for axis, at in zip(selection.axes, box.place, strict=True))
            whole[_slices(ranges)] = self._box(box)
        self._scaled(whole)
        return selection.arrange(whole[_slices(axis.indices for axis in selection.axes)])

    def _scaled(self, whole: NDArray[Any]) -> NDArray[Any]:
        scale = 1 if self._scale is None else self._scale
        offset = 0 if self._offset is None else self._offset
        with np.errstate(all="ignore"):  # of what was not read, anything
            if self._fill:
                whole = np.ma.masked_where(whole == self._fill, whole)
            return whole * scale + offset

    def _corner(self, number: int) -> tuple[int, ...]:
        at = np.unravel_index(number, self.variable.grid)
        return tuple(int(n) * c for n, c in zip(at, self.variable.chunks, strict=True))

    def _stored_chunk(self, number: int) -> StoredChunk | None:
        corner, sides = self._corner(number), (self.variable.chunks, self.variable.shape)
        whole = all(at + c <= n for at, c, n in zip(corner, *sides, strict=True))
        # HDF5 lists some chunks at other places, and does not say of some at the edge that they
        # are unfiltered: the table has them right.
        if whole and None not in self._dataset.maxshape[1:]:
            with suppress(RuntimeError, ValueError, OverflowError, IndexError):
                info = self._dataset.id.get_chunk_info(number)
                if info.chunk_offset == corner and not info.filter_mask:
                    (name,) = chunk_names(self.variable, np.array([number]))
                    return StoredChunk(name, info.byte_offset, info.size, 0)
        return super()._stored_chunk(number)

    def _values(self, chunk: StoredChunk, box: Box) -> NDArray[Any]:
        chunks, local = self.variable.chunks, _slices(box.local)
        numbers = np.arange(math.prod(chunks)).reshape(chunks)[local].flatten()
        first, end = int(numbers[0]), int(numbers[-1]) + 1
        values = self._samples(chunk, first, end - first)
        room = np.empty(chunks, self.variable.dtype).flatten()
        room[range(first, end)] = values  # place by place, which takes its time
        picked: NDArray[Any] = room.reshape(chunks)[local]
        return picked

    def _entry(self, name: str) -> h5py.Group | None:
        with suppress(KeyError):
            return h5py.File(self.index, "r")[name]  # closed where the last that holds it goes
        return None

    def _pieces(
        self, group: h5py.Group, chunk: StoredChunk, first: int, count: int
    ) -> Iterator[bytes]:
        """Yield the bytes: what begins a section is read anew for each, what ends one once."""
        ends: dict[str, Any] = {}
        for offset, length in self._spans(first, count):
            at = max(int(np.searchsorted(group["outloc"][:], offset, "right")) - 1, 0)
            out, inloc, bits = (int(group[name][at]) for name in ("outloc", "inloc", "bits"))
            window = read_window(group, at)
            if not ends:
                ends["sizes"] = read_sizes(group)
                ends["outloc"] = group["outloc"][:]
            check_sizes(self.variable, chunk.name, ends["sizes"], chunk.size)
            behind = int(np.searchsorted(ends["outloc"], offset + length, "right"))
            stop = chunk.size
            if behind < len(ends["outloc"]):
                if "inloc" not in ends:
                    ends["inloc"] = group["inloc"][:]
                stop = int(ends["inloc"][behind])
            start = inloc - (bits > 0)
            if not (0 <= bits < 8 and 0 <= start < stop <= chunk.size and 0 <= out <= offset):
                raise CorruptIndexError(f"the index is damaged where it describes {group.name}")
            data = self._fetch(chunk.offset + start, stop - start)
            yield self._inflated(data, -bits & 7, window if out else b"", offset - out, length)


def _slices(ranges: Iterable[Any]) -> tuple[slice, ...]:
    return tuple(slice(each.start, each.stop, each.step) for each in ranges)


class ChunkindexLayoutReader(Reader):
    """Reads HDF5, and so netCDF-4, in place of the document's package, by an index beside the file.

    A local file without one gets it first, as by ``chunkindex_format.write(path, index)``. What is
    not compressed by deflate is read by h5py.
    """

    has_chunk_cache = False

    def prepare(self) -> None:
        find_plugins()

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        with ExitStack() as held:
            if isinstance(place, Remote):
                both = place, place.beside(SUFFIX)
                files: list[Any] = [held.enter_context(x.stream(self.card.cache)) for x in both]
            else:
                beside = place.with_name(place.name + SUFFIX)
                if not beside.exists():
                    chunkindex_format.write(place, beside)
                files = [held.enter_context(path.open("rb")) for path in (place, beside)]
            data, index = files
            serial = StandIn(data, index, variable)
            held.callback(serial.close)
            return Indexed(variable, serial, held)


READER = ChunkindexLayoutReader
