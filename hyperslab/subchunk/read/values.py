"""Read the values of a selection out of indexed chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..chunk_table import Chunks
from ..errors import MemoryLimitError
from ..fetch import Source
from ..fetch.ranges import both
from ..hdf5 import Variable
from ..index.index import Index
from ..index.points import Points
from ..process import HELD, refuse_above
from .boxes import Box, boxes, count_runs, runs
from .decode import Crew, Task, check_chunk, decode
from .select import Selection, picked_of
from .stretch import Stretch, divided, stretches
from .whole import decode_chunk

_BATCH = 4096  # chunks that are worked on at a time
_RANGES = 2**16  # byte ranges that are looked up at a time
_LOOKED_UP = 64  # bytes that looking one up takes
_OBJECTS = 2048  # bytes of the objects about a chunk or a stretch
_WHOLE = 0.7  # share of a chunk from which on it is decoded whole
_PIECE = 2**20  # decompressed bytes of a piece of a long stretch, at least


@dataclass(frozen=True)
class Plan:
    """How the part of a selection in one chunk is decoded from points."""

    box: Box
    row: int  # place of the chunk in the chunk table
    starts: NDArray[np.int64]  # the byte ranges wanted of the decompressed chunk
    length: int  # bytes of each range
    stretches: Sequence[Stretch]
    memory_bytes: int  # what decoding needs, and the values' own


@dataclass(frozen=True)
class Indexed:
    variable: Variable
    index: Index
    chunks: Chunks
    points: Points
    data: Source
    threads: int
    memory_bytes: int  # what a read may hold beside its result

    def read(self, selection: Selection) -> NDArray[Any]:
        """Return the values of a selection, axes not yet dropped or put in order."""
        try:
            result = np.empty(selection.shape, self.variable.dtype)
        except (MemoryError, ValueError) as error:  # ValueError: more than can be addressed
            what = f"what is asked for of {self.variable.name} does not fit into memory"
            raise MemoryLimitError(f"{what}: {error}") from error
        if result.size:
            remaining = boxes(selection.axes, self.variable.chunks, self.variable.grid)
            most = max(16, min(_BATCH, self.memory_bytes // (4 * _OBJECTS)))
            with Crew(self.threads) as crew:
                while batch := list(islice(remaining, most)):
                    self._fill(batch, result, crew)
        return result

    def _fill(self, batch: Sequence[Box], result: NDArray[Any], crew: Crew) -> None:
        whole: list[tuple[Box, int]] = []
        inside: dict[tuple[Any, ...], list[tuple[Box, int]]] = {}  # boxes often lie alike
        numbers = np.array([box.number for box in batch])
        rows = np.searchsorted(self.chunks.number, numbers)
        written = rows < len(self.chunks)
        written[written] = self.chunks.number[rows[written]] == numbers[written]
        if not written.all():  # nothing is fetched that would tell
            self.data.check()
        first = self.points.first
        pointed = first.take(rows + 1, mode="clip") > first.take(rows)
        columns = (batch, rows.tolist(), written.tolist(), pointed.tolist())
        for box, row, stored, indexed in zip(*columns, strict=True):
            if not stored:
                result[box.place] = self.variable.fill_value
            elif indexed:
                inside.setdefault(box.alike, []).append((box, row))
            else:
                whole.append((box, row))
        plans: list[Plan] = []
        held = 0
        for alike in inside.values():
            for item, plan in zip(alike, self._plans(alike), strict=True):
                if plan is None:
                    whole.append(item)
                    continue
                plans.append(plan)
                held += plan.memory_bytes
                if held > min(HELD, self.memory_bytes // 2):
                    self._decode(plans, result, crew)
                    plans, held = [], 0
        self._decode(plans, result, crew)
        if whole:
            self._fill_whole(whole, result, crew)

    def _fill_whole(
        self, whole: Sequence[tuple[Box, int]], result: NDArray[Any], crew: Crew
    ) -> None:
        """Read chunks whole; over a network as many at once as there is memory for."""
        largest = max(int(self.chunks.size[row]) for _, row in whole)
        needed = largest + 2 * self.variable.chunk_bytes  # as stored, and inflated, with room
        refuse_above(self.memory_bytes, needed, f"a chunk of {self.variable.name}")

        def fill(item: tuple[tuple[Box, int], memoryview | None]) -> None:
            (box, row), stored = item
            self._whole(box, row, stored, result[box.place])

        most = max(1, min(HELD, self.memory_bytes - needed) // largest)
        left = iter(whole)
        while some := list(islice(left, most if self.data.remote else None)):
            fetched: Sequence[memoryview | None] = [None] * len(some)  # each by who decodes it
            held = 0
            if self.data.remote:
                stored = fetched = self._stored([row for _, row in some])
                held = sum(map(len, stored))
            threads = min(len(some), max(1, (self.memory_bytes - held) // needed))
            crew.each(fill, zip(some, fetched, strict=True), most=threads)

    def _plans(self, alike: Sequence[tuple[Box, int]]) -> Iterator[Plan | None]:
        """Give how to decode boxes that lie alike from points; None to read the chunk whole."""
        local, planes = alike[0][0].local, self.variable.width if self.variable.shuffled else 1
        count = planes * count_runs(local, self.variable.chunks)
        if count * _LOOKED_UP > self.memory_bytes // 2:
            yield from [None] * len(alike)
            return
        starts, length = self._bytes(*runs(local, self.variable.chunks))
        own = starts.nbytes + starts.size * length
        most = _WHOLE * self.variable.chunk_bytes
        each = _OBJECTS + int(self.points.kept_bytes.max())  # beside a stretch's compressed data
        left = iter(alike)
        while some := list(islice(left, max(1, _RANGES // count))):
            rows = np.array([row for _, row in some])
            sizes = self.chunks.size[rows].astype(np.int64) - self.variable.guard_bytes
            by_chunk = stretches(self.points, rows, sizes, starts, starts + length)
            for (box, row), spans in zip(some, by_chunk, strict=True):
                needed = own + sum(stretch.stop - stretch.start + each for stretch in spans)
                few = sum(stretch.length for stretch in spans) < most
                good = few and needed <= self.memory_bytes
                yield Plan(box, row, starts, length, spans, needed) if good else None

    def _bytes(self, starts: NDArray[np.int64], length: int) -> tuple[NDArray[np.int64], int]:
        """Return runs of values as runs of bytes, which shuffling spreads over planes."""
        width = self.variable.width
        if not self.variable.shuffled:
            return starts * width, length * width
        plane = self.variable.chunk_bytes // width
        return (np.arange(width)[:, None] * plane + starts[None, :]).reshape(-1), length

    def _decode(self, plans: Sequence[Plan], result: NDArray[Any], crew: Crew) -> None:
        cut = [
            (number, piece)
            for number, plan in enumerate(plans)
            for stretch in plan.stretches
            for piece in self._divided(stretch)
        ]
        if not cut:
            return
        targets = [result[plan.box.place] for plan in plans]
        # Where values do not lie side by side, there is room for as many that do.
        values = [
            target if target.flags.c_contiguous else np.empty(target.shape, target.dtype)
            for target in targets
        ]
        planes = [self._planes(here, plan.length) for here, plan in zip(values, plans, strict=True)]
        offsets = self.chunks.offset[[plan.row for plan in plans]].tolist()
        begins = [offsets[number] for number, _ in cut]
        kept, data = both(
            lambda: self.index.kept(self.points, (stretch.point for _, stretch in cut)),
            lambda: self.data.ranges(
                [begin + stretch.start for begin, (_, stretch) in zip(begins, cut, strict=True)],
                [begin + stretch.stop for begin, (_, stretch) in zip(begins, cut, strict=True)],
            ),
            at_once=self.data.remote,
        )
        name = self.variable.name
        tasks = [
            Task(stretch, piece, self.points, window, plans[number].starts, planes[number], name)
            for (number, stretch), piece, window in zip(cut, data, kept, strict=True)
        ]
        decode(tasks, crew, self.memory_bytes)
        for target, filled in zip(targets, values, strict=True):
            if filled is not target:
                target[...] = filled

    def _planes(self, values: NDArray[Any], length: int) -> NDArray[np.uint8]:
        """Return the bytes of values as a chunk has them: planes, runs in each, bytes of a run."""
        raw = values.reshape(-1).view(np.uint8)
        if self.variable.shuffled:
            return raw.reshape(-1, length, self.variable.width).transpose(2, 0, 1)
        return raw.reshape(1, -1, length)

    def _divided(self, stretch: Stretch) -> list[Stretch]:
        """Cut what is long, for threads to share; over a network one request is better."""
        count = 1 if self.data.remote else min(self.threads, stretch.length // _PIECE)
        return divided(stretch, self.points, count) if count > 1 else [stretch]

    def _stored(self, rows: Sequence[int]) -> list[memoryview]:
        starts = self.chunks.offset[rows]
        return self.data.ranges(starts.tolist(), (starts + self.chunks.size[rows]).tolist())

    def _whole(self, box: Box, row: int, stored: memoryview | None, target: NDArray[Any]) -> None:
        size, variable = int(self.chunks.size[row]), self.variable
        if stored is None:
            [stored] = self._stored([row])
        compressed = size - variable.guard_bytes
        check_chunk(row, compressed, stored[:compressed], self.points, variable.name)
        entire = target.flags.c_contiguous and target.shape == variable.chunks
        into = target.reshape(-1).view(np.uint8) if entire else None
        raw = decode_chunk(stored, variable, int(self.chunks.mask[row]), into)
        if not entire:
            target[...] = picked_of(raw.view(variable.dtype).reshape(variable.chunks), box.local)
