"""An index of the package chunkindex that is open: its points as our own planner takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..deflate.inflate import WINDOW
from ..errors import StaleIndexError
from ..forks import ForkLock, cached
from ..hdf5 import Chunks, Variable, chunk_table
from ..index.index import Entry
from ..index.points import Points
from ..listing import Listing, listing
from .opening import chunks_of, group_of, indexed, opened, read_window
from .record import ChunkRecord, check_sizes, read_record
from .write import chunk_names

_STORED = b"\x01" + WINDOW.to_bytes(2, "little") + (WINDOW ^ 0xFFFF).to_bytes(2, "little")


@dataclass(frozen=True)
class LayoutPoints(Points):
    """Points whose windows lie in the groups of an HDF5 file."""

    groups: tuple[str, ...] = ()  # path of the group of each chunk; "" where it has none
    inserted: tuple[bool, ...] = ()  # whether the first point of a chunk is not in its group


class ChunkindexIndex:
    """An index of the package chunkindex, open.

    It says nothing of variables and chunks: the file itself is asked. It holds no checksums and
    nothing of the file but the chunks' sizes: an error where these differ is all that tells a
    changed file, and damaged data are noticed only where deflate notices them.
    """

    def __init__(
        self,
        place: str | Path,
        options: Mapping[str, Any] | None,
        plainly: Callable[[], AbstractContextManager[h5py.File]],
    ) -> None:
        self._plainly, self._lock = plainly, ForkLock()
        self._place, self._options = place, options
        self._open: h5py.File | None = opened(place, options)
        self._points: dict[int, tuple[Chunks, Points]] = {}
        self.data: Mapping[str, Any] = {}

    @cached
    def listing(self) -> Listing:
        """What the file holds."""
        with self._plainly() as file:
            return listing(file, attrs=True)

    @cached
    def entries(self) -> dict[str, Entry]:
        """The variables of the file by their names."""
        found = self.listing.variables
        with self._lock:
            held = set(indexed(self._file()))
        if held.isdisjoint(found):
            raise StaleIndexError(
                f"the index describes {', '.join(sorted(held))}, and the file has none of them: "
                "it belongs to another file"
            )
        return {
            name: Entry(
                variable,
                place,
                variable.chunk_bytes if name in held and not variable.plain else 0,
                None,
            )
            for place, (name, variable) in enumerate(found.items())
        }

    def points(self, entry: Entry) -> tuple[Chunks, Points]:
        """Return chunk table and points of a variable."""
        if entry.place not in self._points:
            variable = entry.variable
            with self._plainly() as file:
                chunks = chunk_table(file[variable.name])
            with self._lock:
                self._points[entry.place] = chunks, self._read(variable, chunks)
        return self._points[entry.place]

    def kept(self, points: Points, numbers: Iterable[int]) -> list[memoryview]:
        """Return the windows of some points, as our own index keeps them."""
        assert isinstance(points, LayoutPoints)
        found = []
        with self._lock:
            for number in numbers:
                row = int(np.searchsorted(points.first, number, "right")) - 1
                place = number - int(points.first[row]) - points.inserted[row]
                window = b""
                if points.out[number]:
                    window = _STORED + read_window(
                        group_of(self._file(), points.groups[row]), place
                    )
                found.append(memoryview(window))
        return found

    def close(self) -> None:
        """Close the file; a later read opens it again."""
        with self._lock:
            if self._open is not None:
                self._open.close()
            self._open = None

    def _file(self) -> h5py.File:
        if self._open is None:
            self._open = opened(self._place, self._options)
        return self._open

    def _read(self, variable: Variable, chunks: Chunks) -> LayoutPoints:
        held = set(chunks_of(self._file(), variable.name))
        paths, records = [], []
        for row, name in enumerate(chunk_names(variable, chunks.number)):
            record = None
            if not chunks.mask[row] and name in held:
                record = read_record(group_of(self._file(), f"{variable.name}/{name}"))
                check_sizes(variable, name, record, int(chunks.size[row]))
            paths.append("" if record is None else f"{variable.name}/{name}")
            records.append(record)
        return _points(records, paths)


def _points(records: list[ChunkRecord | None], paths: list[str]) -> LayoutPoints:
    counts = [0 if record is None else len(record) for record in records]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    there = [record for record in records if record is not None]
    out = np.concatenate([np.empty(0, np.int64), *(record.outloc for record in there)])
    bit = np.concatenate([np.empty(0, np.int64), *(record.bit for record in there)])
    zeros, none = np.zeros(len(out), np.int64), np.empty(0, np.int64)
    return LayoutPoints(
        first=first,
        out=out.astype(np.int64),
        bit=bit,
        segment_crc=none,
        mark=np.arange(len(out)),
        header_bits=zeros,
        kept_at=zeros,
        kept_bytes=np.where(out > 0, WINDOW + len(_STORED), 0),
        kept_crc=none,  # HDF5 checks the windows itself
        groups=tuple(paths),
        inserted=tuple(record is not None and record.inserted for record in records),
    )
