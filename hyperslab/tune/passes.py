"""Copy variables piece by piece, in one pass or by way of a scratch file, and compare the copy."""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.chunk_shapes import cut
from hyperslab.io.creation import Writer, create
from hyperslab.io.opening import reopen
from hyperslab.io.source import Source, SourceVariable
from hyperslab.tune.report.differences import WrongValuesError, difference
from hyperslab.tune.specs.target import Fitted

from .copy_plan import CopyPlan, Route, Slab
from .partial import explained

Lap = Callable[[str], AbstractContextManager[dict[str, object]]]
Ledger = list[int]  # what stands for the values of each piece of a variable, in order
Watcher = Callable[[Slab, NDArray[Any]], None]


def untimed(_: str) -> AbstractContextManager[dict[str, object]]:
    """Stand in for a stopwatch where nothing is timed."""
    return nullcontext({})


@dataclass(frozen=True)
class Copying:
    """A copy that is settled: which variables of a source, defined how, in which pieces."""

    fitted: Fitted
    plan: CopyPlan

    def write(
        self,
        source: Source,
        path: Path,
        lap: Lap,
        *,
        scratch: Path | None = None,
        seen: Callable[[str], Watcher | None] = lambda name: None,
    ) -> dict[str, Ledger]:
        """Write the copy to the device; return what its values are compared by."""
        fitted, cache = self.fitted, self.plan.cache_bytes
        explain = partial(explained, path.parent, fitted.most_bytes)
        with explain(), lap("meta_write"):
            writer = create(
                path, fitted.variables, fitted.layouts, attrs=fitted.attrs, chunk_cache_bytes=cache
            )
        with writer, explain():
            ledgers = {
                v.name: self.transfer(source, writer, v, lap, scratch, seen(v.name))
                for v in fitted.sources
            }
            with lap("sync"):
                writer.sync()
            with lap("close"):
                writer.close()
        return ledgers

    def transfer(
        self,
        source: Source,
        writer: Writer,
        variable: SourceVariable,
        lap: Lap = untimed,
        scratch: Path | None = None,
        seen: Watcher | None = None,
    ) -> Ledger:
        """Copy one variable, show each piece to `seen`, and return what it is compared by."""
        name, route, ledger = variable.name, self.plan.each[variable.name], []
        source.cache(name, route.source_cache_bytes)
        with ExitStack() as stack:
            staged = None
            if route.first is not None:
                file = stack.enter_context(tempfile.TemporaryFile(dir=scratch))
                staged = _Staged(file, route, np.dtype(variable.dtype))
                for slab in route.first:
                    staged.put(slab, _read(source, name, slab, lap, "data_read"))
                source.cache(name, 0)
            for slab in route.pieces:
                if staged:
                    values, mark = staged.take(slab)
                else:
                    values = _read(source, name, slab, lap, "data_read")
                    mark = _mark(values, slab, route)
                ledger.append(mark)
                if seen:
                    seen(slab, values)
                with lap("data_write") as columns:
                    writer.write(name, slab or ..., values)
                    add_bytes(columns, values.nbytes)
                del values  # the next piece needs its memory
        with lap("data_write"):
            writer.finish(name)
        source.cache(name, 0)
        return ledger

    def open(self, path: Path) -> Source:
        """Open the copy for reading, with the chunk cache that it was written with."""
        copy = reopen(os.fspath(path), self.fitted.format)
        for v in self.fitted.sources:
            copy.touch(v.name)
            if self.plan.cache_bytes is not None:
                copy.cache(v.name, self.plan.cache_bytes)
        return copy

    def compare(
        self, copy: Source, source: Source, ledgers: Mapping[str, Ledger], lap: Lap
    ) -> None:
        """Read the copy again, phase data_reread, and compare every value."""
        for v in self.fitted.sources:
            name, route = v.name, self.plan.each[v.name]
            quantize = self.fitted.layouts[name].quantize
            for slab, expected in zip(route.pieces, ledgers[name], strict=True):
                values = _read(copy, name, slab, lap, "data_reread")
                if quantize is not None or _mark(values, slab, route) != expected:
                    truth = source.read(name, slab)
                    how: dict[str, Any] = {"quantize": quantize, "fill_value": v.fill_value}
                    wrong = difference(values, truth, format=copy.format, **how)
                    # What is rounded, and NaN, may be right with other bits.
                    loose = quantize is not None or (truth != truth).any()
                    if wrong or not loose:
                        where = ", ".join(f"{i.start}:{i.stop}" for i in slab)
                        wrong = wrong or "the source itself has changed since it was read"
                        raise WrongValuesError(f"{name} of the copy is wrong in [{where}]: {wrong}")
                    del truth
                del values
            if copy.format != "nczarr":  # whose chunk cache stays
                copy.cache(name, 0)


def _read(source: Source, name: str, slab: Slab, lap: Lap, phase: str) -> NDArray[Any]:
    with lap(phase) as columns:
        values = source.read(name, slab)
        add_bytes(columns, values.nbytes)
    return values


class _Staged:
    """The scratch file: the pieces of the second pass, of each its parts in C order."""

    def __init__(self, file: IO[bytes], route: Route, dtype: np.dtype[Any]) -> None:
        self._file, self._route, self._dtype = file, route, dtype
        self._marks: dict[int, int] = defaultdict(int)  # by the elements before a piece

    def put(self, slab: Slab, values: NDArray[Any]) -> None:
        """Take a piece of the first pass."""
        pieces = self._route.pieces
        for part in cut(slab, pieces.lengths):
            block = np.ascontiguousarray(values[_within(part, slab)])
            before = self._seek(part, pieces.around(part))
            self._file.write(_bytes(block))
            # Parts come in no order: their marks are added so that the order does not matter.
            self._marks[before] ^= _mark_of(part, block)

    def take(self, slab: Slab) -> tuple[NDArray[Any], int]:
        """Return a piece of the second pass, and what stands for its values."""
        values = np.empty([s.stop - s.start for s in slab], self._dtype)
        for part in self._route.parts(slab):
            block = np.empty([s.stop - s.start for s in part], self._dtype)
            before = self._seek(part, slab)
            if self._file.readinto(_bytes(block)) != block.nbytes:  # type: ignore[attr-defined]
                raise OSError("the scratch file of the copy ended early")
            values[_within(part, slab)] = block
        return values, self._marks.pop(before)

    def _seek(self, part: Slab, piece: Slab) -> int:
        """Go to where a part of a piece lies; return the elements before the piece."""
        before = _offset(piece, self._route.pieces.whole)
        self._file.seek((before + _offset(part, piece)) * self._dtype.itemsize)
        return before


def _bytes(block: NDArray[Any]) -> memoryview:
    return block.reshape(-1).view(np.uint8).data


def _mark(values: NDArray[Any], slab: Slab, route: Route) -> int:
    """Return what stands for the values of a piece, put together from its parts."""
    total = 0
    for part in route.parts(slab):
        total ^= _mark_of(part, values[_within(part, slab)])
    return total


def _mark_of(part: Slab, block: NDArray[Any]) -> int:
    """Return a digest of a part and of its place: two that are exchanged show."""
    bounds = [(s.start, s.stop) for s in part]
    hashed = hashlib.blake2b(repr((bounds, str(block.dtype))).encode(), digest_size=16)
    hashed.update(_bytes(np.ascontiguousarray(block)))
    return int.from_bytes(hashed.digest(), "big")


def _within(part: Slab, slab: Slab) -> Slab:
    pairs = zip(part, slab, strict=True)
    return tuple(slice(p.start - s.start, p.stop - s.start) for p, s in pairs)


def _offset(part: Slab, whole: Slab) -> int:
    """Return the elements before a part, where the parts of a whole lie in C order."""
    lengths = [p.stop - p.start for p in part]
    full = [w.stop - w.start for w in whole]
    return sum(
        (p.start - w.start) * math.prod(lengths[:axis]) * math.prod(full[axis + 1 :])
        for axis, (p, w) in enumerate(zip(part, whole, strict=True))
    )


def add_bytes(columns: dict[str, object], nbytes: int) -> None:
    """Count bytes of values to the columns of a phase."""
    columns["useful_bytes"] = int(str(columns.get("useful_bytes", 0))) + nbytes
