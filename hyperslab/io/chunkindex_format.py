"""The index of the package chunkindex: an HDF5 file, as in Figure 3 of Penard et al. 2025::

    group: VARIABLE/I.J {         // place of the chunk in the grid
      byte window(outloc, win)    // 32768 decompressed bytes before each point
      int64 outloc(outloc)        // bytes of the decompressed chunk before the point
      int64 inloc(outloc)         // first byte of the compressed chunk that lies behind it whole
      byte bits(outloc)           // bits of the byte before that one that lie behind it too
      :uncompressed_size, :compressed_size
    }

The study re-does the document's reads with it: nobody else needs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import h5py
import numpy as np
from numpy.typing import NDArray

from hyperslab.subchunk import CorruptIndexError, File, Index, StaleIndexError, SubchunkError
from hyperslab.subchunk.chunk_table import Chunks, chunk_table
from hyperslab.subchunk.deflate.inflate import WINDOW
from hyperslab.subchunk.deflate.walk import walk
from hyperslab.subchunk.fetch import LocalFile
from hyperslab.subchunk.fetch.filelike import open_hdf5
from hyperslab.subchunk.hdf5 import Variable
from hyperslab.subchunk.index.build import whole_file
from hyperslab.subchunk.index.format import Entry
from hyperslab.subchunk.index.points import Points
from hyperslab.subchunk.index.survey import look
from hyperslab.subchunk.listing import listing

POINTS, SPACING = 3, 2_000_000
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable.%10d"  # netCDF-4's own words
_LEVEL = 1  # of the windows, as the package has it
_MODE = 15  # zran's number for a stream with zlib's header
_BEGIN = 2  # bytes of zlib's header
_CHUNK = re.compile(r"\d+(\.\d+)*")
_STORED = b"\x01" + WINDOW.to_bytes(2, "little") + (WINDOW ^ 0xFFFF).to_bytes(2, "little")


def span(chunk_bytes: int, spacing: int = SPACING) -> int:
    """Return the least distance of points: three a chunk, or one every so many bytes."""
    return min(spacing, -(-chunk_bytes // POINTS))


def write(
    path: str | Path,
    index: str | Path,
    *,
    variables: Sequence[str] | None = None,
    spacing: int = SPACING,
) -> Path:
    """Build the index of a file as the package does; it appears whole, or not at all."""
    data, target = LocalFile(path), Path(index)
    with open_hdf5(data) as source:
        survey = look(source, variables, Path(path).name)
    with whole_file(target) as partial, h5py.File(partial, "w", track_order=True) as file:
        for variable in survey.listing.variables.values():
            if (chunks := survey.tables.get(variable.name)) is None:
                continue
            file.require_group(variable.name)  # there too when no chunk was written yet
            least = span(variable.chunk_bytes, spacing)
            for row, name in enumerate(chunk_names(variable, chunks.number)):
                start, size = int(chunks.offset[row]), int(chunks.size[row])
                stored = np.frombuffer(data.ranges([start], [start + size])[0], np.uint8)
                if not chunks.mask[row]:
                    group = file.create_group(f"{variable.name}/{name}", track_order=True)
                    _write_chunk(group, variable, stored, least)
    return target


def chunk_names(variable: Variable, numbers: NDArray[np.int64]) -> list[str]:
    positions = np.stack(np.unravel_index(numbers, variable.grid), -1)
    return [".".join(map(str, position)) for position in positions.tolist()]


def _write_chunk(
    group: h5py.Group, variable: Variable, stored: NDArray[np.uint8], least: int
) -> None:
    output = np.empty(variable.chunk_bytes, np.uint8)
    try:
        stream = stored[: stored.size - variable.guard_bytes]
        points = walk(stream, least, output, blocks=True)
    except SubchunkError as error:
        raise SubchunkError(f"{group.name} cannot be indexed: {error}") from error
    bit = points.bit.astype(np.int64)
    inloc = (bit + 7) >> 3
    windows = np.zeros((len(points), WINDOW), np.uint8)
    for window, out in zip(windows, points.out.tolist(), strict=True):
        window[max(0, WINDOW - out) :] = output[max(0, out - WINDOW) : out]
    scale = group.create_dataset("outloc", data=points.out.astype("<i8"))
    scale.make_scale("outloc")
    win = group.create_dataset("win", (WINDOW,), ">f4")  # without values: netCDF-4's way
    win.make_scale(_NO_VARIABLE % WINDOW)
    window = group.create_dataset(
        "window", data=windows.view(np.int8), chunks=(1, WINDOW), compression=_LEVEL
    )
    for axis, dimension in enumerate((scale, win)):
        window.dims[axis].attach_scale(dimension)
    for name, values in (("inloc", inloc.astype("<i8")), ("bits", (inloc * 8 - bit).astype("i1"))):
        group.create_dataset(name, data=values).dims[0].attach_scale(scale)
    sizes = {"uncompressed_size": output.size, "compressed_size": stored.size}
    for name, value in {**sizes, "mode": _MODE, "span": least}.items():
        group.attrs[name] = np.array([value], "<i8")


@dataclass(frozen=True)
class ChunkRecord:
    outloc: NDArray[np.int64]  # bytes of the decompressed chunk before a point
    inloc: NDArray[np.int64]  # first byte of the compressed chunk that lies behind it whole
    bit: NDArray[np.int64]  # bits of the compressed chunk before it
    sizes: tuple[int, int]  # bytes of the chunk, decompressed and compressed


def read_window(group: h5py.Group, point: int) -> bytes:
    return bytes(group["window"][point].tobytes())


def read_sizes(group: h5py.Group) -> tuple[int, int]:
    names = ("uncompressed_size", "compressed_size")
    whole, stored = (int(np.ravel(group.attrs[name])[0]) for name in names)
    return whole, stored


def read_record(group: h5py.Group) -> ChunkRecord:
    """Return what a group says of its chunk, the windows left where they are."""
    sizes = read_sizes(group)
    window = group["window"]  # before the others: what is asked of the file depends on the order
    columns = [group[name] for name in ("outloc", "inloc", "bits")]
    good = all(len(column) == len(window) for column in columns)
    outloc, inloc, bits = (np.asarray(column[()]).astype(np.int64) for column in columns)
    if good:
        inside = outloc < sizes[0]  # a point at the very end has nothing behind it
        outloc, inloc, bits = outloc[inside], inloc[inside], bits[inside]
        good = (
            len(outloc) > 0
            and (outloc[0], inloc[0], bits[0]) == (0, _BEGIN, 0)
            and bool((np.diff(outloc) > 0).all() and (np.diff(inloc) > 0).all())
            and inloc[-1] <= sizes[1]
            and bool(((bits >= 0) & (bits < 8)).all())
        )
    if not good:
        raise CorruptIndexError(
            f"the index is damaged where it describes {group.name}: its points are not in order, "
            "or outside of the chunk; build it again"
        )
    return ChunkRecord(outloc, inloc, inloc * 8 - bits, sizes)


def check_sizes(variable: Variable, name: str, sizes: tuple[int, int], size: int) -> None:
    if sizes != (variable.chunk_bytes, size):
        raise StaleIndexError(
            f"the index does not belong to the file as it is now: chunk {name} of {variable.name} "
            f"had {sizes[1]} bytes and has {size} (decompressed {sizes[0]} and "
            f"{variable.chunk_bytes}); build it again"
        )


def chunk_points(index: str | Path, variable: str) -> dict[str, ChunkRecord]:
    with h5py.File(index, "r") as file:
        return _records(file[variable])


def _records(group: h5py.Group) -> dict[str, ChunkRecord]:
    return {name: read_record(group[name]) for name in group if _CHUNK.fullmatch(name)}


class ChunkindexFile(File):
    """A file that is read by the planner of `hyperslab.subchunk`, through points of chunkindex."""

    def _read_index(self) -> Index:
        return cast(Index, _ChunkindexIndex(self))


@dataclass(frozen=True)
class _WindowPoints(Points):
    groups: tuple[str, ...] = ()  # path of the group of each chunk


class _ChunkindexIndex:
    """An index of chunkindex in place of an `Index`; the file is asked for all but points."""

    def __init__(self, file: File) -> None:
        self.data: dict[str, Any] = {}
        self._file, self._index = file, h5py.File(file.index_path, "r")
        self._points: dict[int, tuple[Chunks, Points]] = {}
        with file.plainly() as hdf5:
            self.listing = listing(hdf5)

    @cached_property
    def entries(self) -> dict[str, Entry]:
        variables = self.listing.variables
        if not any(name in self._index for name in variables):
            raise StaleIndexError("the index describes no variable of the file")
        return {
            name: Entry(variable, number, variable.chunk_bytes * (name in self._index), None)
            for number, (name, variable) in enumerate(variables.items())
            if not variable.plain
        }

    def points(self, entry: Entry) -> tuple[Chunks, Points]:
        if entry.place not in self._points:
            with self._file.plainly() as hdf5:
                chunks = chunk_table(hdf5[entry.variable.name])
            self._points[entry.place] = chunks, self._read(entry.variable, chunks)
        return self._points[entry.place]

    def _read(self, variable: Variable, chunks: Chunks) -> _WindowPoints:
        records = _records(self._index[variable.name])
        names = chunk_names(variable, chunks.number)
        counts, present = [0], []  # a chunk that skipped a filter has no points
        for name, mask, size in zip(names, chunks.mask, chunks.size.tolist(), strict=True):
            record = None if mask else records.get(name)
            if record is not None:
                check_sizes(variable, name, record.sizes, size)
                present.append(record)
            counts.append(0 if record is None else len(record.outloc))
        empty = np.empty(0, np.int64)
        out = np.concatenate([empty, *(record.outloc for record in present)])
        zeros = np.zeros(len(out), np.int64)
        return _WindowPoints(
            first=np.cumsum(counts, dtype=np.int64),
            out=out,
            bit=np.concatenate([empty, *(record.bit for record in present)]),
            segment_crc=empty,
            mark=np.arange(len(out)),
            header_bits=zeros,
            kept_at=zeros,
            kept_bytes=np.where(out > 0, WINDOW + len(_STORED), 0),
            kept_crc=empty,  # HDF5 checks the windows itself
            groups=tuple(f"{variable.name}/{name}" for name in names),
        )

    def kept(self, points: Points, numbers: Iterable[int]) -> list[memoryview]:
        assert isinstance(points, _WindowPoints)
        windows = []
        for number in numbers:
            row = int(np.searchsorted(points.first, number, "right")) - 1
            window = b""
            if points.out[number]:
                group = self._index[points.groups[row]]
                window = _STORED + read_window(group, number - int(points.first[row]))
            windows.append(memoryview(window))
        return windows

    def close(self) -> None:
        self._index.close()
