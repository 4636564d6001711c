"""An index that is open: what it knows of each variable, read when it is needed."""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..chunk_table import CHUNK_TYPES, Chunks
from ..errors import CorruptIndexError, MemoryLimitError, UnknownVersionError
from ..fetch import RemoteFile, source
from ..hdf5 import DIMENSIONS, Variable
from ..listing import Listing
from ..place import SUFFIX as SUFFIX
from ..process import allowed, cached, refuse_above
from .format import PREAMBLE, Entry, check_head, decode_head, entries, head_bytes
from .points import POINT_ARRAYS, Points
from .survey import Survey

_FIRST_READ = 9 * 2**15  # bytes: the head and the tables of most files in one request
_MOST = 2**62  # bytes of a file
_MOST_HEADER = 2**14  # bits; a block cannot need more


class Index:
    """An index, open; its head, and the tables of a variable, may take so many bytes of memory."""

    def __init__(
        self,
        place: str | Path,
        options: Mapping[str, Any] | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        self._memory_bytes = allowed(memory_bytes)
        self._source = source(place, options)
        self.name = self._source.name
        self._front = bytes(self._source.ranges([0], [_FIRST_READ])[0])
        with self._named():
            needed = head_bytes(self._front[:PREAMBLE])
            refuse_above(self._memory_bytes, 4 * needed, "the head of the index")  # JSON grows
            if needed > len(self._front):
                self._front += bytes(self._source.ranges([len(self._front)], [needed])[0])
            try:
                self.head = decode_head(self._front)
            except CorruptIndexError:
                if isinstance(self._source, RemoteFile):  # or was the answer cut?
                    self._source.check_end(0, _FIRST_READ, len(self._front))
                raise
            check_head(self.head.content)
            # Behind a URL its size would cost a request.
            size = self.head.size if self._source.remote else self._source.identity()["size"]
            if size != self.head.size:
                raise CorruptIndexError(
                    f"the index has {size} bytes and should have {self.head.size}: it was cut off, "
                    "or something was added; build it again"
                )
        self.data: Mapping[str, Any] = self.head.content["data"]
        self._points: dict[int, tuple[Chunks, Points]] = {}

    def close(self) -> None:
        self._source.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except (CorruptIndexError, UnknownVersionError, MemoryLimitError) as error:
            raise type(error)(f"{self.name}: {error}") from error

    @cached
    def listing(self) -> Listing:
        content = self.head.content
        groups = {path: dict(attrs) for path, attrs in content["groups"].items()}
        return Listing(
            {name: entry.variable for name, entry in self.entries.items()},
            {path: attrs.pop(DIMENSIONS, []) for path, attrs in groups.items()},
            content.get("left_out", {}),
            groups,
            content.get("left_out_attrs", {}),
        )

    @cached
    def entries(self) -> dict[str, Entry]:
        with self._named():
            return entries(self.head.content)

    def survey(self) -> Survey:
        entries = self.entries
        return Survey(
            self.listing,
            {name: self.points(entry)[0] for name, entry in entries.items() if entry.spacing},
            {name: entry.values for name, entry in entries.items() if entry.values is not None},
        )

    def points(self, entry: Entry) -> tuple[Chunks, Points]:
        if entry.place not in self._points:
            with self._named():
                self._points[entry.place] = self._read_points(entry)
        return self._points[entry.place]

    def _read_points(self, entry: Entry) -> tuple[Chunks, Points]:
        names = [*CHUNK_TYPES, *POINT_ARRAYS]
        try:
            tables = [self.head.tables[f"{entry.place}/{name}"] for name in names]
        except KeyError as error:
            raise CorruptIndexError(f"the index has no table {error}: it is damaged") from error
        most = 8 * sum(table.length for table in tables)
        refuse_above(self._memory_bytes, most, "a variable's part of the index")
        begins = [self.head.begin + table.at for table in tables]
        ends = [begin + table.size for begin, table in zip(begins, tables, strict=True)]
        pieces = self._ranges(begins, ends)
        columns = {
            name: table.decode(piece)
            for name, table, piece in zip(names, tables, pieces, strict=True)
        }
        chunks = Chunks(**{name: columns[name].astype(kind) for name, kind in CHUNK_TYPES.items()})
        searched = {name: columns[name].astype(np.int64) for name in ("first", "out", "mark")}
        points = Points(**{name: columns[name] for name in POINT_ARRAYS} | searched)
        _check(chunks, points, entry.variable, self.head.size - self.head.kept_begin)
        return chunks, points

    def kept(self, points: Points, numbers: Iterable[int]) -> list[memoryview]:
        chosen = np.fromiter(numbers, np.int64)
        begins = points.kept_at[chosen].astype(np.int64) + self.head.kept_begin
        ends = begins + points.kept_bytes[chosen]
        return self._ranges(begins.tolist(), ends.astype(np.int64).tolist())

    def everything_kept(self) -> bytes:
        return bytes(self._source.ranges([self.head.kept_begin], [self.head.size])[0])

    def _ranges(self, begins: list[int], ends: list[int]) -> list[memoryview]:
        """Return ranges of the index; its beginning is there already."""
        front, length = memoryview(self._front), len(self._front)
        beyond = [number for number, end in enumerate(ends) if end > length]
        pieces = [front[begin:end] for begin, end in zip(begins, ends, strict=True)]
        if beyond:
            more = self._source.ranges(
                [max(begins[number], length) for number in beyond], [ends[n] for n in beyond]
            )
            for number, piece in zip(beyond, more, strict=True):
                start = pieces[number]
                pieces[number] = memoryview(bytes(start) + bytes(piece)) if len(start) else piece
        return pieces


def _ascending(points: Points) -> bool:
    wrong = (points.out[1:] < points.out[:-1]) | (points.bit[1:] <= points.bit[:-1])
    first = points.first[:-1] - 1
    wrong[first[(first >= 0) & (first < len(wrong))]] = False
    return not wrong.any()


def _check(chunks: Chunks, points: Points, variable: Variable, kept_size: int) -> None:
    """Refuse tables that contradict each other, before they are used as positions."""
    lengths = {len(getattr(chunks, name)) for name in CHUNK_TYPES}
    marks = {len(points.out), len(points.bit), len(points.segment_crc)}
    counts = {len(getattr(points, name)) for name in POINT_ARRAYS[4:]}
    begins, ends = points.first[:-1], points.first[1:]
    firsts = begins[begins < ends]
    good = (
        lengths == {len(points.first) - 1}
        and marks == {int(points.first[-1])}
        and counts == {len(points.mark)}
        and (begins <= ends).all()
        and (np.diff(chunks.number) > 0).all()
        and (np.diff(points.mark, append=points.first[-1]) > 0).all()
        and (points.mark.searchsorted(firsts + 1) > points.mark.searchsorted(firsts)).all()
        and not points.out[firsts].any()
        and _ascending(points)
        and (chunks.number[-1:] < math.prod(variable.grid)).all()
        and (points.out <= variable.chunk_bytes).all()
        and (points.header_bits < _MOST_HEADER).all()
        and (points.kept_at <= kept_size).all()
        and (points.kept_bytes <= kept_size).all()
        and ((chunks.offset | chunks.size) < _MOST).all()
        and (points.bit < _MOST).all()
    )
    if not good:
        raise CorruptIndexError("the tables of the index contradict each other: build it again")
