"""One sample of a bench: a copy in one layout, timed, compared and read in all patterns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.layout import Layout
from hyperslab.io.opening import reopen
from hyperslab.io.selection import Indices, Region, region
from hyperslab.io.source import SourceVariable
from hyperslab.io.writing import stored_bytes
from hyperslab.measure.case import Stopwatch
from hyperslab.measure.cold import resident_fraction, warm
from hyperslab.tune.copy_plan import Slabs, call_bytes, choose, plan_copy, runs, zarr_at_once
from hyperslab.tune.passes import Copying, Watcher, add_bytes

from ..process_memory import evicted, give_up, peak_bytes, resident_bytes
from ..report.differences import WrongValuesError, difference
from ..specs.axes import Reads
from ..specs.target import Fitted

Read = tuple[str, str]  # a pattern, and a variable
PIECE_BYTES = 32 * 2**20  # a read that gives more is made in pieces
_LEAST_CHUNKS = 64  # a read that touches no more is not cut for their sake
_WARM = 0.999  # of the copy's bytes: what must be in memory for a warm read
_TRUTH_SHARE = 32  # of the memory goes into what patterns must read


@dataclass(frozen=True)
class Trial:
    """Copy variables of a source into one layout and read the copy."""

    address: str  # of the source, with its format and the library for `reopen`
    format: str
    library: str
    path: Path  # of the copy; removed by the case, not here
    fitted: Fitted  # what is copied, and how it is defined in the copy
    reads: Reads
    cache_bytes: int | None  # chunk cache of each variable of the copy; None for the library's own
    memory_bytes: int  # what this process may take
    cold: bool = False  # whether the source was evicted before

    def __call__(self, watch: Stopwatch) -> None:
        """Run the sample; an error says which value is wrong, or what failed."""
        limit = self.memory_bytes // _TRUTH_SHARE
        truth = Truth(self.reads, self.fitted.sources, limit)
        plan = plan_copy(
            self.fitted,
            source_format=self.format,
            cache_bytes=self.cache_bytes,
            memory_bytes=self.memory_bytes,
            taken_bytes=resident_bytes() + truth.nbytes,
        )
        job = Copying(self.fitted, plan)
        with zarr_at_once(plan):
            self._copy(watch, job, truth)
            # Warm first: what was evicted and read again lies otherwise in memory.
            for state, bring in (("warm", _warmed), ("cold", evicted)):
                for pattern in self.reads:
                    if bring(self.path):
                        self._pattern(watch, pattern, state, job, truth)

    def _copy(self, watch: Stopwatch, job: Copying, truth: Truth) -> None:
        lap = partial(self._lap, watch)
        with lap("meta_read"):
            source = reopen(self.address, self.format, self.library)
            for variable in self.fitted.sources:
                source.touch(variable.name)
        watch.chill()  # the source again, of which opening it read a part ahead
        with source:
            ledgers = job.write(source, self.path, lap, seen=truth.watcher)
            watch.note(file_bytes=stored_bytes(self.path))
            state = "warm" if _warmed(self.path) else ""
            give_up()  # else the quickest to open or read is what left the most memory behind
            with lap("meta_reread", state):
                copy = job.open(self.path)
            with copy:
                give_up()
                job.compare(copy, source, ledgers, partial(lap, state=state))

    def _pattern(
        self, watch: Stopwatch, pattern: str, state: str, job: Copying, truth: Truth
    ) -> None:
        variables = {variable.name: variable for variable in self.fitted.sources}
        with job.open(self.path) as copy:
            if state == "cold":
                evicted(self.path)  # opening read some of it ahead
            resident = resident_fraction([self.path])
            give_up()
            for name, selection in self.reads[pattern].items():
                variable, layout = variables[name], self.fitted.layouts[name]
                for piece in pieces(selection, variable, layout, job.plan.piece_bytes):
                    with self._lap(watch, f"pattern:{pattern}", state) as columns:
                        values = copy.read(name, piece)
                    add_bytes(columns, values.nbytes)
                    truth.check((pattern, name), piece, values, layout)
                    del values
                if copy.format != "nczarr":  # whose chunk cache stays
                    copy.cache(name, 0)
        watch.note(resident_before=resident, pattern=pattern)

    @contextmanager
    def _lap(self, watch: Stopwatch, phase: str, state: str = "") -> Iterator[dict[str, object]]:
        """Time a phase, and add its cache state and the peak of memory to its columns."""
        if self.cold and phase in ("meta_read", "data_read"):
            state = "cold"
        with watch.lap(phase, cache_state=state) as columns:
            yield columns
        columns["peak_bytes"] = peak_bytes()


def _warmed(path: Path) -> bool:
    """Bring a file into memory; where the system does not tell, it is thought to be there."""
    for _ in range(3):
        if resident_fraction([path]) < _WARM:
            warm([path])
    return not resident_fraction([path]) < _WARM


def pieces(
    selection: Indices, variable: SourceVariable, layout: Layout, limit_bytes: int = PIECE_BYTES
) -> Iterator[Indices]:
    """Cut a selection into pieces that fit into memory, in whole chunks if it begins with one."""
    chosen = region(selection, variable.shape, variable.name)
    limit = min(limit_bytes, PIECE_BYTES)
    chunks = layout.chunks if variable.shape else None
    most = max(limit // max(call_bytes(layout.format), 1), _LEAST_CHUNKS)

    def crowded(lengths: Sequence[int]) -> float:
        """Return how many times too many chunks a block of elements may touch."""
        axes = zip(lengths, chunks or lengths, variable.shape, strict=True)
        touched = (max(min((n - 2) // c + 2, n, -(-size // c)), 1) for n, c, size in axes)
        return math.prod(touched) / most

    if chosen.size * variable.itemsize <= limit and crowded(chosen.counts) <= 1:
        yield selection
        return
    cut = _cut(chosen.counts, variable.itemsize, chunks, limit // variable.itemsize)
    while (over := crowded(cut.lengths)) > 1 and cut.elements > 1:
        fewer = min(int(cut.elements / over), cut.elements - 1)
        cut = _cut(chosen.counts, variable.itemsize, chunks, fewer)
    for slab in cut:
        yield tuple(
            index if isinstance(index, int) else slice(start + span.start, start + span.stop, 1)
            for index, start, span in zip(chosen.indices, chosen.starts, slab, strict=True)
        )


def _cut(counts: Sequence[int], itemsize: int, chunks: Sequence[int] | None, most: int) -> Slabs:
    """Cut at the ends of chunks where one fits, else in runs."""
    most = max(most, 1)
    unit = tuple(min(c, n) for c, n in zip(chunks or counts, counts, strict=True))
    if not chunks or math.prod(unit) > most:
        return choose(counts, itemsize, runs(counts, itemsize), (1,) * len(counts), most)
    return choose(counts, itemsize, tuple(chunks), unit, most)


class Truth:
    """The values of each selection, picked out of the pieces while the source is copied."""

    def __init__(self, reads: Reads, variables: Sequence[SourceVariable], limit_bytes: int) -> None:
        self._variables = {variable.name: variable for variable in variables}
        self._expected: dict[Read, tuple[Region, NDArray[Any]]] = {}
        self.nbytes = 0  # of the values that are kept
        for pattern, each in reads.items():
            for name, selection in each.items():
                variable = self._variables[name]
                chosen = region(selection, variable.shape, name)
                nbytes = chosen.size * variable.itemsize
                # What is larger is not kept: the whole copy is compared in its values.
                if self.nbytes + nbytes <= limit_bytes:
                    self.nbytes += nbytes
                    self._expected[pattern, name] = chosen, np.empty(chosen.counts, variable.dtype)

    def watcher(self, name: str) -> Watcher | None:
        """Return what is to be shown each piece of a variable."""
        expected = [pair for (_, variable), pair in self._expected.items() if variable == name]

        def see(slab: tuple[slice, ...], values: NDArray[Any]) -> None:
            for chosen, truth in expected:
                there, here = [], []
                for start, count, span in zip(chosen.starts, chosen.counts, slab, strict=True):
                    first, last = max(start, span.start), min(start + count, span.stop)
                    there.append(slice(first - start, last - start))
                    here.append(slice(first - span.start, last - span.start))
                if all(overlap.start < overlap.stop for overlap in there):
                    truth[tuple(there)] = values[tuple(here)]

        return see if expected else None

    def check(self, read: Read, piece: Indices, values: NDArray[Any], layout: Layout) -> None:
        """Compare what was read of a selection, or of a piece of it."""
        if read not in self._expected:
            return
        pattern, name = read
        chosen, truth = self._expected[read]
        variable = self._variables[name]
        slab = region(piece, variable.shape, name)
        axes = zip(slab.starts, slab.counts, chosen.starts, strict=True)
        within = tuple(slice(start - whole, start - whole + n) for start, n, whole in axes)
        wrong = difference(
            values.reshape(slab.counts),
            np.asarray(truth[within], order="C"),
            quantize=layout.quantize,
            format=layout.format,
            fill_value=variable.fill_value,
        )
        if wrong:
            raise WrongValuesError(f"{pattern} of {name} was read wrong: {wrong}")
