"""Read the values of a selection out of indexed chunks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..fetch import Source
from ..hdf5 import Chunks, Variable
from ..index.index import PointIndex
from ..index.points import Points
from ..memory import HELD, refuse_above
from .boxes import Box, boxes, runs
from .decode import Stretch, check_chunk, decode_stretch, divided, place, stretches, worth
from .select import Wanted
from .whole import decode_chunk

_BATCH = 4096  # chunks that are worked on at a time
_THREADED = 2**20  # decompressed bytes from which on threads pay
_GROUP = 2**18  # decompressed bytes that one thread gets at a time, at least
_PART = 2**20  # decompressed bytes of a part of a long stretch, at least
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Plan:
    """How the part of a selection in one chunk is decoded from points.

    Parameters
    ----------
    box : Box
    row : int
        Place of the chunk in the chunk table.
    starts : numpy.ndarray
        int64, the byte ranges wanted of the decompressed chunk.
    length : int
        Bytes of each range.
    stretches : sequence of Stretch
    """

    box: Box
    row: int
    starts: NDArray[np.int64]
    length: int
    stretches: Sequence[Stretch]

    @property
    def memory_bytes(self) -> int:
        """What decoding it needs: compressed bytes, and the values' own."""
        stored = sum(stretch.stop - stretch.start for stretch in self.stretches)
        return stored + self.starts.nbytes + self.starts.size * self.length


@dataclass(frozen=True)
class Indexed:
    """A variable with its index and its file.

    Parameters
    ----------
    variable : Variable
    index : PointIndex
    chunks : Chunks
    points : Points
    data : Source
    threads : int
    memory_bytes : int
        What a read may hold beside its result.
    """

    variable: Variable
    index: PointIndex
    chunks: Chunks
    points: Points
    data: Source
    threads: int
    memory_bytes: int

    def read(self, asked: Wanted) -> NDArray[Any]:
        """Return the values of a selection, axes not yet dropped or put in order."""
        result = np.empty(asked.shape, self.variable.dtype)
        if result.size:
            found = boxes(asked.axes, self.variable.chunks, self.variable.grid)
            while batch := list(islice(found, _BATCH)):
                self._fill(batch, result)
        return result

    def _fill(self, found: Sequence[Box], result: NDArray[Any]) -> None:
        plans: list[Plan] = []
        whole: list[tuple[Box, int]] = []
        held = 0
        spans = self._spans()
        rows = np.searchsorted(self.chunks.number, [box.number for box in found]).tolist()
        for box, row in zip(found, rows, strict=True):
            if row == len(self.chunks) or self.chunks.number[row] != box.number:
                result[box.place] = self.variable.fill_value
            elif plan := self._plan(box, row, *spans(box)):
                plans.append(plan)
                held += plan.memory_bytes
                if held > min(HELD, self.memory_bytes // 2):
                    self._decode(plans, result)
                    plans, held = [], 0
            else:
                whole.append((box, row))
        self._decode(plans, result)

        def one(item: tuple[Box, int]) -> None:
            result[item[0].place] = self._whole(*item)

        if whole:
            needed = self._whole_bytes(max(int(self.chunks.size[row]) for _, row in whole))
            self._each(one, whole, most=self.memory_bytes // needed)

    def _whole_bytes(self, size: int) -> int:
        """Return what decoding a whole chunk needs: as stored, inflated, and in order."""
        needed = size + 2 * self.variable.chunk_bytes
        refuse_above(self.memory_bytes, needed, f"a chunk of {self.variable.name}")
        return needed

    def _spans(self) -> Callable[[Box], tuple[NDArray[np.int64], int]]:
        """Return what gives the byte ranges of a box; boxes often lie alike in their chunks."""
        known: dict[tuple[int, ...], tuple[NDArray[np.int64], int]] = {}

        def spans(box: Box) -> tuple[NDArray[np.int64], int]:
            key = tuple(map(id, box.local))  # the boxes, and so these, outlive the table
            if key not in known:
                known[key] = self._bytes(*runs(box.local, self.variable.chunks))
            return known[key]

        return spans

    def _plan(self, box: Box, row: int, starts: NDArray[np.int64], length: int) -> Plan | None:
        """Return how to decode a box from points; None if the whole chunk is as quick."""
        if self.points.first[row] == self.points.first[row + 1]:
            return None
        size = int(self.chunks.size[row]) - self.variable.guard_bytes
        made = stretches(self.points, row, size, starts, starts + length)
        if not worth(made, self.variable.chunk_bytes):
            return None
        plan = Plan(box, row, starts, length, made)
        what = f"reading inside of a chunk of {self.variable.name}"
        refuse_above(self.memory_bytes, plan.memory_bytes, what)
        return plan

    def _bytes(self, starts: NDArray[np.int64], length: int) -> tuple[NDArray[np.int64], int]:
        """Return runs of values as runs of bytes, which shuffling spreads over planes."""
        width = self.variable.width
        if not self.variable.shuffled:
            return starts * width, length * width
        plane = self.variable.chunk_bytes // width
        return (np.arange(width)[:, None] * plane + starts[None, :]).reshape(-1), length

    def _decode(self, plans: Sequence[Plan], result: NDArray[Any]) -> None:
        tasks = [
            (number, part)
            for number, plan in enumerate(plans)
            for stretch in plan.stretches
            for part in self._parts(stretch)
        ]
        if not tasks:
            return
        values = [_contiguous(result[plan.box.place]) for plan in plans]
        planes = [self._planes(here, plan.length) for here, plan in zip(values, plans, strict=True)]
        kept = self.index.kept(self.points, (stretch.point for _, stretch in tasks))
        offsets = self.chunks.offset[[plan.row for plan in plans]].tolist()
        begins = [offsets[number] for number, _ in tasks]
        data = self.data.ranges(
            [begin + stretch.start for begin, (_, stretch) in zip(begins, tasks, strict=True)],
            [begin + stretch.stop for begin, (_, stretch) in zip(begins, tasks, strict=True)],
        )

        def one(task: int) -> None:
            number, stretch = tasks[task]
            name, starts, into = self.variable.name, plans[number].starts, planes[number]
            for out, piece in decode_stretch(stretch, data[task], self.points, kept[task], name):
                place(out, piece, stretch.ranges, starts, into)

        self._in_groups(one, [stretch.length for _, stretch in tasks])
        for plan, found in zip(plans, values, strict=True):
            target = result[plan.box.place]
            if not np.shares_memory(found, target):
                target[...] = found

    def _planes(self, values: NDArray[Any], length: int) -> NDArray[np.uint8]:
        """Return the bytes of values as a chunk has them: planes, runs in each, bytes of a run."""
        raw = values.reshape(-1).view(np.uint8)
        if self.variable.shuffled:
            return raw.reshape(-1, length, self.variable.width).transpose(2, 0, 1)
        return raw.reshape(1, -1, length)

    def _parts(self, stretch: Stretch) -> list[Stretch]:
        """Cut what is long, for threads to share; over a network one request is better."""
        count = 1 if self.data.remote else min(self.threads, stretch.length // _PART)
        return divided(stretch, self.points, count) if count > 1 else [stretch]

    def _whole(self, box: Box, row: int) -> NDArray[Any]:
        start, size = int(self.chunks.offset[row]), int(self.chunks.size[row])
        stored = self.data.ranges([start], [start + size])[0]
        compressed = size - self.variable.guard_bytes
        check_chunk(row, compressed, stored[:compressed], self.points, self.variable.name)
        raw = decode_chunk(stored, self.variable, int(self.chunks.mask[row]))
        values = raw.view(self.variable.dtype).reshape(self.variable.chunks)
        for axis, local in enumerate(box.local):
            cut = slice(local.start, local.stop, local.step) if isinstance(local, range) else local
            values = values[(slice(None),) * axis + (cut,)]
        return values

    def _each(self, one: Callable[[_Item], None], items: Sequence[_Item], *, most: int) -> None:
        """Do something to each item, in threads where it pays; the caller's is one of them."""
        left = iter(items)

        def work() -> None:
            try:
                for item in left:
                    one(item)
            except BaseException:
                deque(left, maxlen=0)  # the others need not go on
                raise

        threads = min(self.threads, most, len(items))
        if threads < 2:
            work()
            return
        with ThreadPoolExecutor(threads - 1) as pool:
            others = [pool.submit(work) for _ in range(threads - 1)]
            work()
        for other in others:
            other.result()

    def _in_groups(self, one: Callable[[int], None], costs: Sequence[int]) -> None:
        """Do something to each number, neighbours in one thread: one thread each costs too much.

        Parameters
        ----------
        one : callable
            Takes the place of an item among the costs.
        costs : sequence of int
            Decompressed bytes of each.
        """
        total = sum(costs)
        count = min(2 * self.threads, total // _GROUP, len(costs))
        if total < _THREADED or count < 2:
            count = 1
        shares = np.arange(1, count) * (total / count)
        middles = np.cumsum(costs) - np.asarray(costs) / 2
        bounds = np.unique([0, *np.searchsorted(middles, shares), len(costs)]).tolist()

        def some(bound: tuple[int, int]) -> None:
            for number in range(*bound):
                one(number)

        self._each(some, list(pairwise(bounds)), most=self.threads)


def _contiguous(values: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself if its values lie side by side; else room for as many that do."""
    return values if values.flags.c_contiguous else np.empty(values.shape, values.dtype)
