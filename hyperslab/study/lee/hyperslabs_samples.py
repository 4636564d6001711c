"""Samples of many small accesses: an array read or written in blocks, and blocks of all sizes."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...io.work import Values
from ...kernels import kernel
from ...measure.case import Stopwatch
from ...storage.write import stored_bytes
from .hyperslabs_blocks import Array, Blocks
from .hyperslabs_ways import WAYS, Way

ITEMSIZE = 4


@dataclass(frozen=True)
class Access:
    """Read an array in blocks: phases open, read and close.

    Parameters
    ----------
    path : Path
    way : str
        One of `WAYS`.
    blocks : Blocks
    """

    path: Path
    way: str
    blocks: Blocks

    def __call__(self, watch: Stopwatch) -> Array:
        way = ready(self.way)
        with watch("open"):
            file = way.open(self.path)
        read, cache = file.reading(self.blocks), file.cache_bytes()
        with watch("read", cache_bytes=cache):
            values, seconds = read()
        note_seconds(watch, seconds)
        watch.note(useful_bytes=values.nbytes)
        with watch("close"):
            file.close()
        return values


@dataclass(frozen=True)
class Fill:
    """Write an array in blocks to a new file: phases create, write and close.

    Parameters
    ----------
    path : Path
    way : str
        One of `WAYS`.
    blocks : Blocks
    values : callable
        Returns the int32 array.
    chunks : tuple of int, or None
    """

    path: Path
    way: str
    blocks: Blocks
    values: Values
    chunks: tuple[int, int] | None

    def __call__(self, watch: Stopwatch) -> None:
        values = self.values()
        way = ready(self.way)
        with watch("create"):
            file = way.create(self.path, self.blocks.shape, self.chunks)
        write, cache = file.writing(self.blocks, values), file.cache_bytes()
        with watch("write", useful_bytes=values.nbytes, cache_bytes=cache):
            seconds = write()
        note_seconds(watch, seconds)
        with watch("close"):
            file.close()
        watch.note(file_bytes=stored_bytes(self.path))


@dataclass(frozen=True)
class Sweep:
    """Read blocks of many sizes from one file: a phase read for each, the calls in ``stages``.

    A call before them, in a phase first, pays for what a library does once.

    Parameters
    ----------
    path : Path
    way : str
        One of `WAYS`.
    sizes : tuple of Blocks
    """

    path: Path
    way: str
    sizes: tuple[Blocks, ...]

    def __call__(self, watch: Stopwatch) -> Array:
        way = ready(self.way)
        last = []
        with watch("open"):
            file = way.open(self.path)
        read = file.reading(replace(self.sizes[0], most=1), keep=False)
        with watch("first"):
            read()
        for blocks in self.sizes:
            calls, (high, wide) = len(blocks.starts()), blocks.count
            columns = {"pattern": f"{high}x{wide}", "stages": calls}
            read = file.reading(blocks, keep=False)
            with watch("read", useful_bytes=calls * high * wide * ITEMSIZE, **columns):
                found, seconds = read()
            note_seconds(watch, seconds)
            last.append(np.ravel(found)[-wide:])
        with watch("close"):
            file.close()
        return np.concatenate(last)


def ready(name: str) -> Way:
    """Return a way with what it needs loaded, so that no phase pays for it."""
    way = WAYS[name]
    if way.in_c:
        kernel()
    return way


def note_seconds(watch: Stopwatch, seconds: float | None) -> None:
    """Take the time of the last phase from C's own clock, where it has one."""
    if seconds is not None:
        watch.note(wall_s=seconds)
