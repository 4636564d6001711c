"""Indexes of places inside compressed chunks: what lies beside a file, and reads through them."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import subchunk
from ..measure.case import Stopwatch
from ..subchunk.chunk_table import Chunks
from ..subchunk.deflate.inflate import inflater
from ..subchunk.index.format import Entry
from ..subchunk.index.points import Points as AllPoints
from ..subchunk.read import boxes
from . import chunkindex_format, references, work
from .by_chunkindex import SUFFIX, SerialVariable
from .chunkindex_format import ChunkindexFile
from .experiment import File, columns

SPACING = 2_000_000  # three points a chunk, or one every 2 MB: section 3.3 of Penard et al. 2025
PIECES = 10  # about how many chunks lie in a shard along each side of a map
NEEDS = ("h5py", "hyperslab.io.by_h5py", __name__)
Places = NDArray[np.int64]
Box = tuple[range, ...]
WIDTH = 4  # bytes of a float32


@dataclass(frozen=True)
class Points:
    out: Places  # decompressed bytes before each point, ascending
    stored: Places  # compressed bytes before each point
    starts: NDArray[np.bool_]  # whether decompression can start there, or only end
    out_bytes: int
    stored_bytes: int

    # A row for each section, those that touch are one; the last ones are excluded.
    def sections(self, begins: Places, ends: Places) -> Places:
        """Return first and last byte, decompressed and compressed, that is decoded for ranges."""
        able = np.flatnonzero(self.starts)
        first = able[np.searchsorted(self.out[able], begins, "right") - 1]
        last = np.searchsorted(self.out, ends, "left")
        reach = np.maximum.accumulate(last)
        cuts = np.flatnonzero(first[1:] > reach[:-1]) + 1
        heads = first[np.concatenate([[0], cuts])]
        tails = reach[np.concatenate([cuts - 1, [len(first) - 1]])]
        out = np.append(self.out, self.out_bytes)
        stored = np.append(self.stored, self.stored_bytes)
        return np.stack([out[heads], out[tails], stored[heads], stored[tails]], axis=1)


@dataclass(frozen=True)
class Index:
    name: str
    spacing: int = 0  # bytes of values between points; 0 leaves it to the budget
    of_chunkindex: bool = False  # layout and points are those of chunkindex
    serial: bool = False  # read as the document describes, one request after another

    def path(self, file: File) -> Path:
        whose = "chunkindex" if self.of_chunkindex else "subchunk"
        return file.path.with_name(f"{file.path.name}.{whose}-{self.spacing}.index")

    def build(self, file: File, threads: int = 2, target: Path | None = None) -> Path:
        target, variables = target or self.path(file), [file.array.variable]
        if target.exists():
            return target
        if self.of_chunkindex:
            chunkindex_format.write(file.path, target, variables=variables, spacing=self.spacing)
        else:
            spacing = self.spacing or None
            subchunk.build(file.path, target, variables=variables, spacing=spacing, threads=threads)
        return target

    def size(self, file: File) -> dict[str, object]:
        """Return the bytes and points of it; ``useful_bytes`` are those of the file."""
        entry, chunks, points = self._contents(file)
        spacing = entry.spacing
        if self.of_chunkindex:
            spacing = chunkindex_format.span(entry.variable.chunk_bytes, self.spacing)
        return {
            "phase": "size",
            **columns(file.layout, "subchunk"),
            "file_bytes": self.path(file).stat().st_size,
            "useful_bytes": int(chunks.size.sum()),
            "points": len(points),
            "spacing_bytes": spacing,
            "stages": file.array.shape[0],
        }

    def points(self, file: File) -> Points:
        entry, chunks, points = self._contents(file)
        end = int(points.first[1])
        able = np.isin(np.arange(end), points.mark)
        stored = points.bit[:end].astype(np.int64) >> 3
        sizes = entry.variable.chunk_bytes, int(chunks.size[0])
        return Points(points.out[:end], stored, able, *sizes)

    def _contents(self, file: File) -> tuple[Entry, Chunks, AllPoints]:
        with self._file(file.path, self.path(file)) as source:
            assert source.index is not None
            entry = source.index.entries[file.array.variable]
            return entry, *source.index.points(entry)

    def opened(self, path: Path, index: Path, variable: str) -> tuple[Any, Callable[[], None]]:
        """Open a variable with it; return what is indexed, and what closes."""
        if self.serial:
            array = SerialVariable(path.open("rb"), index.open("rb"), variable)
            return array, array.close
        file = self._file(path, index)
        return file[variable], file.close

    def _file(self, path: Path, index: Path) -> subchunk.File:
        # A forked sample has one core, and so one thread.
        return (ChunkindexFile if self.of_chunkindex else subchunk.File)(path, index, threads=1)


BUDGET = Index("hyperslab, by the budget")
CHUNKINDEX = Index("chunkindex", SPACING, of_chunkindex=True, serial=True)
BY_HYPERSLAB = Index("chunkindex, read by hyperslab", SPACING, of_chunkindex=True)


def _stacked(reads: Sequence[Callable[[], NDArray[Any]]]) -> NDArray[Any]:
    return np.stack([read() for read in reads])


@dataclass(frozen=True)
class Read:
    file: File
    selections: Sequence[tuple[Any, ...]]
    index: Index | None = None  # none reads by h5py

    needs: ClassVar = NEEDS

    def parts(self, cache_state: str) -> dict[str, Any]:
        path, array, index = self.file.path, self.file.array, self.index
        reads = self.file.steps(self.selections[0]) * len(self.selections)
        extra = {"predicted_reads": reads, "stages": array.shape[0]}
        if index is None:
            (selection,) = self.selections
            return {
                "run": work.Read(path, "h5py", selection, array.variable),
                "check": work.Equals(self.file.part(selection)),
                "columns": columns(self.file.layout, "h5py") | extra,
                "files": (path,),
            }
        extra |= {"spacing_bytes": index.spacing} if index.spacing else {}
        mode = "zlib" if index.serial else getattr(inflater(), "__name__", "")
        return {
            "run": self,
            "check": work.Equals(partial(_stacked, [*map(self.file.part, self.selections)])),
            "columns": columns(self.file.layout, "subchunk") | extra | {"mode": mode},
            "files": (path, index.path(self.file)),
        }

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        assert self.index is not None
        slabs, paths = [], (self.file.path, self.index.path(self.file))
        for selection in self.selections:
            with watch.lap("open"):
                variable, close = self.index.opened(*paths, self.file.array.variable)
            with watch.lap("read"):
                slabs.append(variable[selection])
            close()
        values = np.stack(slabs)
        watch.note(useful_bytes=values.nbytes)
        return values


def index(files: Iterable[File]) -> None:
    """Write what readers look for beside netCDF files: both indexes, and kerchunk's references."""
    for file in files:
        subchunk.build(file.path, variables=[file.array.variable])
        index_as_document(file)
        if find_spec("kerchunk"):
            references.write(file.path)


def index_as_document(file: File) -> None:
    beside = file.path.with_name(file.path.name + SUFFIX)
    chunkindex_format.write(file.path, beside, variables=[file.array.variable])


def inner(shard: Sequence[int]) -> tuple[int, ...]:
    """Return chunks that fill a shard: one of all but the last two axes, parts of a map.

    >>> inner((1, 13, 721, 1440)), inner((1, 380, 1287))
    ((1, 1, 103, 144), (1, 38, 143))
    """
    *rest, rows, columns = shard
    return (*(1 for _ in rest), _divisor(rows), _divisor(columns))


def _divisor(length: int) -> int:
    """Return the divisor of a length that cuts it into nearly `PIECES`."""
    counts = (count for count in range(1, length + 1) if length % count == 0)
    return length // min(counts, key=lambda count: abs(count - PIECES))


def runs(box: Box, chunk: tuple[int, ...], shuffled: bool) -> tuple[Places, Places]:
    """Return the ranges of bytes, joined, that a box takes of a decompressed chunk."""
    begins, length = boxes.runs(box, chunk)
    if shuffled:
        planes = np.arange(WIDTH)[:, None] * math.prod(chunk)
        begins = (planes + begins).reshape(-1)
    else:
        begins, length = WIDTH * begins, WIDTH * length
    ends = begins + length
    apart = begins[1:] != ends[:-1]
    return begins[np.append(True, apart)], ends[np.append(apart, True)]


def requests(chunk: tuple[int, ...], point: tuple[int, int]) -> dict[str, Box]:
    """Return a row, a patch of a map, and a box over levels, of as many values each."""
    count = chunk[-1]
    side = _factor(count, round(math.sqrt(count)))
    levels = _factor(count, min(chunk[0], round(count ** (1 / 3)) + 1))
    rest = _factor(count // levels, round(math.sqrt(count // levels)))
    shapes = {
        "row": (1, 1, count),
        "patch": (1, side, count // side),
        "box": (levels, rest, count // levels // rest),
    }
    return {name: _about(shape, chunk, (0, *point)) for name, shape in shapes.items()}


def _factor(number: int, near: int) -> int:
    return next(factor for factor in range(min(near, number), 0, -1) if number % factor == 0)


def _about(shape: tuple[int, ...], chunk: tuple[int, ...], point: tuple[int, ...]) -> Box:
    starts = (
        min(max(at - length // 2, 0), whole - length)
        for length, whole, at in zip(shape, chunk, point, strict=True)
    )
    return tuple(range(start, start + n) for start, n in zip(starts, shape, strict=True))
