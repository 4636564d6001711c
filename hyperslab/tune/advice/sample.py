"""A part of the variable that stands for it: what candidates are compressed and measured with."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.chunk_shapes import chunk_grid, far_apart, padded_bytes
from hyperslab.io.creation import stored_bytes, write_array
from hyperslab.io.file_plan import check_blosc
from hyperslab.io.layout import Layout
from hyperslab.io.selection import Indices
from hyperslab.io.source import Source, SourceVariable
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job

from .accesses import Access
from .costs import THREADED, Calibration, decoding_share, engine_of
from .counts import Read, counts_of
from .fetches import UncalibratedError
from .visit import Visit, case_of

SAMPLE_BYTES = 64 * 2**20
_READ = 24  # times the sample: bytes of source chunks decompressed for it, at most
_BLOCK_BYTES = 4 * 2**20  # what the ratio of a codec is measured on
_BROAD = 8  # places beside a read that stay in the box: chunks of the candidates reach there
_COUNTED = 100_000  # values that tell the most common one
_SHORT = 8  # axes that are read and no longer than this are not cut
_PROBED, _PROBED_BYTES, _PROBES = 12, 2**25, 3  # chunks of a file, their bytes, and how often


@dataclass(frozen=True)
class Sample:
    """A box of a variable, with its values in memory."""

    variable: SourceVariable  # as it would be if the box were all of it
    values: NDArray[Any]
    whole: bool  # whether it is all of the variable

    @property
    def words(self) -> str:
        shape = "x".join(map(str, self.values.shape))
        return "all of the variable" if self.whole else f"a sample of {shape}"

    def clipped(self, layout: Layout) -> Layout:
        """Return a layout with chunks and shards cut to the box."""
        if layout.chunks is None:
            return layout
        shape, shards = self.values.shape, layout.shards
        chunks = tuple(np.minimum(layout.chunks, shape).tolist())
        if shards is not None:
            lengths = zip(shards, shape, chunks, strict=True)
            shards = tuple(-(-min(s, n) // c) * c for s, n, c in lengths)
        return replace(layout, chunks=chunks, shards=shards)

    def block(self, chunks: Sequence[int] | None) -> NDArray[Any]:
        """Return chunks from all over the box along the first axis: neighbours are alike."""
        shape = self.values.shape
        unit = [min(c, n) for c, n in zip(chunks or shape, shape, strict=True)]
        grid = [n // c for n, c in zip(shape, unit, strict=True)]
        nbytes = math.prod(unit) * self.values.itemsize
        few = min(max(_BLOCK_BYTES // nbytes, 2), math.prod(grid))
        if nbytes > 4 * _BLOCK_BYTES:  # a part of one does
            few, unit[0] = 1, max(4 * _BLOCK_BYTES * unit[0] // nbytes, 1)
        return np.concatenate([
            self.values[tuple(slice(i * c, i * c + c) for i, c in zip(index, unit, strict=True))]
            for index in far_apart(grid, few)
        ])  # fmt: skip

    def weight(self, block: NDArray[Any]) -> float:
        """Return the share of values that say something, over that of a block of them."""
        # The most common value, such as that of land, takes next to no room however it is packed.
        there = self._share(block)
        return self._own_share / there if self._own_share and there else 1.0

    @cached_property
    def _common(self) -> Any:
        some = self.values.reshape(-1)[:: max(self.values.size // _COUNTED, 1)]
        kinds, counts = np.unique(some, return_counts=True)
        return kinds[counts.argmax()]

    @cached_property
    def _own_share(self) -> float:
        return self._share(self.values)

    def _share(self, values: NDArray[Any]) -> float:
        """Return the share of values that are not the most common one of the sample."""
        common = self._common
        return float(np.mean(~np.isnan(values) if common != common else values != common))


def take(
    source: Source, variable: SourceVariable, accesses: Sequence[Access], most_bytes: int
) -> Sample:
    """Read the box that stands for a variable; a SourceError says that it cannot be read."""
    values = source.read(variable.name, box_of(variable, accesses, most_bytes))
    chunks = variable.chunks and tuple(np.minimum(variable.chunks, values.shape).tolist())
    clipped = replace(variable, shape=values.shape, chunks=chunks, unlimited=(), stored_bytes=None)
    return Sample(clipped, values, values.shape == variable.shape)


def box_of(
    variable: SourceVariable, accesses: Sequence[Access], most_bytes: int
) -> tuple[slice, ...]:
    """Return the box that stands for a variable: all of it, or cut alike along its axes."""
    shape, itemsize = variable.shape, variable.itemsize
    chunks = [min(c, n) for c, n in zip(variable.chunks or (1,) * len(shape), shape, strict=True)]
    lengths = list(shape)

    def cut(axes: Sequence[int], least: int) -> None:
        """Cut these axes alike until the box fits, or is so short along them."""
        long = [axis for axis in axes if lengths[axis] > least]
        while long and (excess := math.prod(lengths) * itemsize / most_bytes) > 1:
            factor = excess ** (-1 / len(long))
            for axis in long:
                length = max(min(int(lengths[axis] * factor), lengths[axis] - 1), least)
                unit = chunks[axis] if chunks[axis] <= length else 1
                lengths[axis] = max(length // unit * unit, 1)
            long = [axis for axis in long if lengths[axis] > least]

    every = [selection for access in accesses for selection in access.selections]
    read = [a for a in range(len(shape)) if any(isinstance(indices[a], slice) for indices in every)]
    # Not to a line: what a chunk holds beyond the read is what layouts differ in.
    others = [axis for axis, n in enumerate(shape) if axis not in read and n > 1]
    cut(others, math.ceil(_BROAD ** (1 / max(len(others), 1))))
    cut(read, _SHORT)
    while (
        padded_bytes(lengths, chunks, itemsize) > _READ * most_bytes
        or math.prod(lengths) * itemsize > most_bytes
    ):
        able = [axis for axis, n in enumerate(lengths) if n > 1]
        if not able:
            break
        cuts = [axis for axis in able if lengths[axis] > chunks[axis]] or able
        axis = max(cuts, key=lambda axis: lengths[axis] / chunks[axis])
        lengths[axis] = -(-lengths[axis] // 2)
    starts = []
    for n, length, chunk in zip(shape, lengths, chunks, strict=True):
        first = (n - length) // 2 // chunk * chunk
        inside = max(min(chunk, n - first) - length, 0) // 2  # the edge of a map may be all land
        starts.append(min(first + inside, n - length))
    return tuple(slice(i, i + n) for i, n in zip(starts, lengths, strict=True))


@dataclass(frozen=True)
class Packed:
    """What a codec does to the values of a variable."""

    value_bytes: float  # that a value takes as stored
    decode_s: float | None = None  # of a value; None where that was not measured

    def times(self, factor: float) -> Packed:
        """Return the same of values of which so many times as many say something."""
        decode_s = None if self.decode_s is None else self.decode_s * factor
        return Packed(self.value_bytes * factor, decode_s)


def pack(
    values: NDArray[Any],
    layout: Layout,
    library: str,
    calibration: Calibration,
    workdir: Path,
    processes: Processes,
) -> Packed:
    """Store values and time decoding; an OSError or RuntimeError says that they cannot be."""
    chunks = tuple(np.minimum(layout.chunks or values.shape, values.shape).tolist())
    bare = replace(layout, chunks=chunks, shards=None, page_bytes=None)
    check_blosc(values, bare)
    with tempfile.TemporaryDirectory(dir=workdir) as folder:
        path, empty = Path(folder) / f"a{layout.suffix}", Path(folder) / f"b{layout.suffix}"
        small, size = np.zeros((1,) * values.ndim, values.dtype), write_array(path, values, bare)
        plain = replace(bare, chunks=small.shape, codec=None, level=None, shuffle=False)
        value_bytes = max(size - write_array(empty, small, plain), 1) / values.size
        number = math.prod(chunk_grid(values.shape, chunks))
        if not calibration.made or number < 2:
            return Packed(value_bytes)
        each = stored_bytes(path) / number
        read = Read(values.shape, values.dtype.str, bare, (...,), library, each)
        try:
            decode_s = decode_seconds(read, path, calibration, processes)
        except UncalibratedError:
            decode_s = None
    return Packed(value_bytes, decode_s and decode_s / math.prod(chunks))


def decode_seconds(
    read: Read, path: Path, calibration: Calibration, processes: Processes
) -> float | None:
    """Time the decoding of a few chunks, less what all else costs; None where none is decoded."""
    if read.layout.codec is None or read.library == "subchunk" or read.link is not None:
        return None
    library = engine_of(read.library)
    probe = replace(read, library=library, selections=_few(read), cache="warm", decode_s=0.0)
    visit = Visit(path, library, probe.selections, read.cache_bytes)
    case = case_of("probe", visit, "warm", pinned=library not in THREADED)
    rest, times = calibration.predict(probe).seconds, list[float]()
    for _ in range(_PROBES):
        outcome = processes.run(Job(case, timeout_s=60))
        if outcome.status != "ok":
            raise OSError(f"chunks of {path.name} cannot be decoded: {outcome.status}")
        times += [float(str(r["wall_s"])) for r in outcome.rows if r["phase"] == "read"]
    counts = counts_of(probe)
    each = (min(times) - rest) / max(counts.fetched * decoding_share(probe, counts), 1.0)
    return max(each, 0.0)


def _few(read: Read) -> tuple[Indices, ...]:
    """Return an element of each of a few chunks, far apart, or a line through a few neighbours."""
    chunks = read.chunks or read.shape
    grid = chunk_grid(read.shape, chunks)
    if engine_of(read.library) not in THREADED:
        few = min(_PROBED, max(_PROBED_BYTES // (math.prod(chunks) * read.itemsize), 1))
        indices = far_apart(grid, few)
        return tuple(tuple(i * c for i, c in zip(index, chunks, strict=True)) for index in indices)
    # Libraries that decode on all cores are given several chunks in one call.
    axis = max(range(len(grid)), key=lambda number: grid[number])
    few = min(_PROBED, grid[axis])
    first = (grid[axis] - few) // 2 * chunks[axis]
    line: list[int | slice] = [n // 2 for n in read.shape]
    line[axis] = slice(first, min(first + few * chunks[axis], read.shape[axis]))
    return (tuple(line),)
