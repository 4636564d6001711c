"""Decode stretches of chunks, in threads where it pays, and put values where they belong."""
# Threads hinder each other where each does a little Python between long calls that need none. So of
# a batch of short stretches everything else is done before or after they are decompressed.

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import WINDOW, inflate_spliced, inflated, inflater, spliced
from ..deflate.windows import unpacked
from ..errors import CorruptDataError, CorruptIndexError
from ..index.points import Points, segment_sums
from .stretch import Stretch

_SHORT, _MANY = 64, 64  # bytes of a range, and ranges, that are quicker picked all at once
_THREADED = 2**20  # decompressed bytes from which on threads pay
_BRIEF = 2**18  # decompressed bytes of a stretch up to which it goes into a batch
_PIECES = 2**19  # bytes that a thread holds that decodes piece by piece
_BATCH, _HELD = 64, 2**23  # stretches of a batch, and bytes that it holds, at most
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Task:
    stretch: Stretch
    data: memoryview  # its compressed bytes
    points: Points
    kept: memoryview  # what the index keeps for its point
    starts: NDArray[np.int64]  # the byte ranges wanted of its chunk
    into: NDArray[np.uint8]  # of shape (planes, ranges in a plane, length): where they go
    name: str  # of the variable, for messages

    def decode(self) -> None:
        header, packed = self.start()
        stretch, misfit = self.stretch, f"the index does not fit the data of {self.name}"
        window, out = unpacked(packed), stretch.out
        try:
            for piece in inflated(self.data, stretch.shift, header, window, stretch.length):
                scatter(out, np.frombuffer(piece, np.uint8), stretch.ranges, self.starts, self.into)
                out += len(piece)
        except (zlib.error, inflater().error) as error:
            raise CorruptIndexError(f"{misfit}: {error}") from error
        if out != stretch.out + stretch.length:
            raise CorruptIndexError(f"{misfit}: build it again")

    @property
    def skip(self) -> int:
        """Bytes at its beginning that nobody wants."""
        return max(0, int(self.starts[self.stretch.ranges[0]]) - self.stretch.out)

    @property
    def held_bytes(self) -> int:
        """What a batch holds for it beside its compressed data, at most."""
        return len(self.data) + WINDOW + 2 * (self.stretch.length - self.skip)

    def put(self, values: bytes) -> None:
        piece = np.frombuffer(values, np.uint8)
        scatter(self.stretch.out + self.skip, piece, self.stretch.ranges, self.starts, self.into)

    def start(self) -> tuple[tuple[int, int], memoryview]:
        return checked_start(self.stretch, self.data, self.points, self.kept, self.name)


def checked_start(
    stretch: Stretch, data: memoryview, points: Points, kept: memoryview, name: str
) -> tuple[tuple[int, int], memoryview]:
    """Check a stretch; return its point's header, with the length in bits, and packed window."""
    size = stretch.stop - stretch.start
    _check(data, size, stretch.mark, stretch.last, stretch.start, points, name)
    bits = int(points.header_bits[stretch.point])
    width = (bits + 7) >> 3
    header = int.from_bytes(kept[:width], "little")
    damaged = len(points.kept_crc) and inflater().crc32(kept) != points.kept_crc[stretch.point]
    if damaged or header >> bits or stretch.length < 0:
        raise CorruptIndexError(f"the index is damaged where it describes {name}: build it again")
    return (header, bits), kept[width:]


def decode(tasks: Sequence[Task], crew: Crew, memory_bytes: int) -> None:
    if crew.threads < 2 or sum(task.stretch.length for task in tasks) < _THREADED:
        for task in tasks:
            task.decode()
        return
    short = [task for task in tasks if task.stretch.length <= _BRIEF]
    long = [task for task in tasks if task.stretch.length > _BRIEF]
    crew.each(Task.decode, long, most=max(1, memory_bytes // _PIECES))
    for batch in _batches(short, min(_HELD, memory_bytes // 2)):
        _side_by_side(batch, crew)


def _batches(tasks: Sequence[Task], most: int) -> Iterator[list[Task]]:
    batch: list[Task] = []
    held = 0
    for task in tasks:
        if batch and (len(batch) == _BATCH or held + task.held_bytes > most):
            yield batch
            batch, held = [], 0
        batch.append(task)
        held += task.held_bytes
    if batch:
        yield batch


def _side_by_side(batch: Sequence[Task], crew: Crew) -> None:
    ready = []
    for task in batch:
        header, packed = task.start()
        stream = spliced(task.data, task.stretch.shift, header)
        ready.append((stream, packed, task.stretch.length, task.skip))
    decoded = [b""] * len(batch)

    def inflate(number: int) -> None:
        stream, packed, length, skip = ready[number]
        whole = inflate_spliced(stream, unpacked(packed), length)
        if len(whole) == length:
            decoded[number] = whole[skip:]

    crew.each(inflate, range(len(batch)))
    for task, values in zip(batch, decoded, strict=True):
        if values:
            task.put(values)
        else:
            task.decode()  # which tells what is wrong, or asks another module


def check_chunk(chunk: int, size: int, data: memoryview, points: Points, name: str) -> None:
    """Compare a whole chunk with what was indexed: its own Adler-32 can fit by chance."""
    mark, last = points.first[chunk : chunk + 2].tolist()
    if mark < last and len(points.segment_crc):
        _check(data, size, mark, last, 0, points, name)


def _check(
    data: memoryview, size: int, mark: int, last: int, start: int, points: Points, name: str
) -> None:
    """Compare bytes of a chunk, from `start` on, with what the index says between two marks."""
    if len(data) != size:
        raise CorruptDataError(f"the file ends within a chunk of {name}: it is truncated")
    if not len(points.segment_crc):
        return
    if segment_sums(data, points.bit[mark:last], start) != points.segment_crc[mark:last].tolist():
        raise CorruptDataError(
            f"compressed data of {name} are not those that were indexed: the file was changed or "
            "damaged; build its index again if it was changed"
        )


def scatter(
    out: int,
    data: NDArray[np.uint8],
    ranges: tuple[int, int],
    starts: NDArray[np.int64],
    into: NDArray[np.uint8],
) -> None:
    """Put what of the ranges `starts` lies in `data`, which begins at byte `out` of a chunk."""
    # Ranges of a shuffled chunk are those of all planes; `into` is (planes, ranges, length).
    count, length = into.shape[1:]
    low, high = ranges
    if high - low > 1:
        inside = starts[low:high]
        after = int(inside.searchsorted(out + len(data)))
        low, high = low + int(inside.searchsorted(out - length, "right")), low + after
    alone = list(range(low, high))
    if length <= _SHORT or high - low > _MANY:
        alone = alone[:1] + alone[1:][-1:]  # they may reach beyond the data
        for plane in range((low + 1) // count, (high - 2) // count + 1):
            first, last = max(low + 1, plane * count), min(high - 1, (plane + 1) * count)
            inside = starts[first:last] - out
            picked = data[inside[:, None] + np.arange(length)]
            into[plane, first - plane * count : last - plane * count] = picked
    for number in alone:
        plane, run = divmod(number, count)
        at = int(starts[number]) - out
        begin, end = max(at, 0), min(at + length, len(data))
        if begin < end:
            into[plane, run, begin - at : end - at] = data[begin:end]


class Crew(AbstractContextManager["Crew"]):
    """Threads that are started when they are first needed; the caller's is one of them."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def each(
        self, act: Callable[[_Item], object], items: Iterable[_Item], *, most: int | None = None
    ) -> None:
        left = iter(items)

        def work() -> None:
            try:
                for item in left:
                    act(item)
            except BaseException:
                deque(left, maxlen=0)  # the others need not go on
                raise

        helpers = (self.threads if most is None else min(self.threads, most)) - 1
        others: list[Future[None]] = []
        try:
            if helpers > 0:
                self._pool = self._pool or ThreadPoolExecutor(self.threads - 1)
                with suppress(RuntimeError):  # no more threads to be had, as in a process that ends
                    for _ in range(helpers):
                        others.append(self._pool.submit(work))
            work()
        except BaseException:  # also Ctrl-C while threads are started
            deque(left, maxlen=0)
            raise
        finally:
            wait(others)
        for other in others:
            other.result()
