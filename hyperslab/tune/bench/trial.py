"""One sample of a bench: a copy in one layout, timed, compared and read in all patterns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hyperslab.io.source import reopen
from hyperslab.io.writing import stored_bytes
from hyperslab.measure.case import Stopwatch
from hyperslab.measure.cold import resident_fraction, warm
from hyperslab.tune.copy_plan import plan_copy, zarr_at_once
from hyperslab.tune.passes import Copying, add_bytes

from ..process_memory import evicted, give_up, peak_bytes, resident_bytes
from ..specs.fitting import Fitted
from ..specs.patterns import Reads
from .reads import Truth, pieces

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
            for name, selections in self.reads[pattern].items():
                variable, layout = variables[name], self.fitted.layouts[name]
                for number, selection in enumerate(selections):
                    for piece in pieces(selection, variable, layout, job.plan.piece_bytes):
                        with self._lap(watch, f"pattern:{pattern}", state) as columns:
                            values = copy.read(name, piece)
                        add_bytes(columns, values.nbytes)
                        truth.check((pattern, name, number), piece, values, layout)
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
