"""Decode many stretches, in threads where it pays.

One thread decodes piece by piece, straight to where the values belong. Threads hinder each other
where each does a little Python between long calls that do not need it. So of short stretches
everything before decompression is done first, for a batch, then they are decompressed side by side
with nothing between, and then the values are put in their places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import WINDOW, inflate_spliced
from ..deflate.packing import unpacked
from ..index.points import Points
from .crew import Crew
from .decode import decode_stretch, place, prepared
from .stretch import Stretch

_THREADED = 2**20  # decompressed bytes from which on threads pay
_SHORT = 2**18  # decompressed bytes of a stretch up to which it goes into a batch
_PIECES = 2**19  # bytes that a thread holds that decodes piece by piece
_BATCH, _HELD = 64, 2**23  # stretches of a batch, and bytes that it holds, at most


@dataclass(frozen=True)
class Task:
    """A stretch, with all that is needed to decode it."""

    stretch: Stretch
    data: memoryview  # its compressed bytes
    points: Points
    kept: memoryview  # what the index keeps for its point
    starts: NDArray[np.int64]  # the byte ranges wanted of its chunk
    into: NDArray[np.uint8]  # of shape (planes, ranges in a plane, length): where they go
    name: str  # of the variable, for messages

    @property
    def skip(self) -> int:
        """Bytes at its beginning that nobody wants."""
        return max(0, int(self.starts[self.stretch.ranges[0]]) - self.stretch.out)

    @property
    def held_bytes(self) -> int:
        """What a batch holds for it beside its compressed data, at most."""
        return len(self.data) + WINDOW + 2 * (self.stretch.length - self.skip)

    def decode(self) -> None:
        """Decode it piece by piece, and put the values in their places."""
        for out, piece in decode_stretch(
            self.stretch, self.data, self.points, self.kept, self.name
        ):
            place(out, piece, self.stretch.ranges, self.starts, self.into)

    def prepared(self) -> tuple[bytes, memoryview, int, int]:
        """Return stream, packed window, and bytes to decompress and to skip."""
        ready = prepared(self.stretch, self.data, self.points, self.kept, self.name)
        return *ready, self.stretch.length, self.skip

    def put(self, found: bytes) -> None:
        """Put the values in their places, out of what comes behind the bytes to skip."""
        piece = np.frombuffer(found, np.uint8)
        place(self.stretch.out + self.skip, piece, self.stretch.ranges, self.starts, self.into)


def decode(tasks: Sequence[Task], crew: Crew, memory_bytes: int) -> None:
    """Decode stretches, and put the values in their places."""
    if crew.threads < 2 or sum(task.stretch.length for task in tasks) < _THREADED:
        for task in tasks:
            task.decode()
        return
    short = [task for task in tasks if task.stretch.length <= _SHORT]
    long = [task for task in tasks if task.stretch.length > _SHORT]
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
    ready = [task.prepared() for task in batch]
    found = [b""] * len(batch)

    def inflate(number: int) -> None:
        stream, packed, length, skip = ready[number]
        whole = inflate_spliced(stream, unpacked(packed), length)
        if len(whole) == length:
            found[number] = whole[skip:]

    crew.each(inflate, range(len(batch)))
    for task, values in zip(batch, found, strict=True):
        if values:
            task.put(values)
        else:
            task.decode()  # which tells what is wrong, or asks another module
