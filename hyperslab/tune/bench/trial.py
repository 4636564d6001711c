"""One sample of a bench: a copy in one layout, timed, compared and read in all patterns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hyperslab.io.source import reopen
from hyperslab.io.sources.base import Indices, SourceVariable
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
    """Copy variables of a source into one layout and read the copy.

    Its phases are meta_read (open the source), data_read and data_write by turns, meta_write
    (define the copy), sync (to the device), close, meta_reread and data_reread (the copy, still in
    memory), and pattern:NAME for each pattern, warm and then cold. What is read again is read into
    new memory, so that no layout profits from what its writing left behind.
    """

    address: str  # of the source, with its format and the library for `reopen`
    format: str
    library: str
    path: Path  # of the copy; removed by the case, not here
    variables: tuple[SourceVariable, ...]
    fitted: Fitted  # what is defined in the copy
    reads: Reads
    cache_bytes: int | None  # chunk cache of each variable of the copy; None for the library's own
    memory_bytes: int  # what this process may take
    verify: bool = True  # whether every value is compared; all are read in any case
    cold: bool = False  # whether the source was evicted before

    def __call__(self, watch: Stopwatch) -> None:
        """Run the sample; an error says which value is wrong, or what failed."""
        variables = {variable.name: variable for variable in self.variables}
        limit = self.memory_bytes // _TRUTH_SHARE
        truth = Truth(self.reads if self.verify else {}, variables, limit)
        plan = plan_copy(
            [(variable, self.fitted.layouts[name]) for name, variable in variables.items()],
            source_format=self.format,
            cache_bytes=self.cache_bytes,
            memory_bytes=self.memory_bytes,
            taken_bytes=resident_bytes() + truth.nbytes,
        )
        job = Copying(self.variables, self.fitted, plan)
        with zarr_at_once(plan):
            self._run(_Timer(watch, self.cold, self.verify), job, truth)

    def _run(self, timer: _Timer, job: Copying, truth: Truth) -> None:
        with timer("meta_read"):
            source = reopen(self.address, self.format, self.library)
            for variable in self.variables:
                source.touch(variable.name)
        timer.watch.chill()  # the source again, of which opening it read a part ahead
        with source:
            ledgers = job.write(source, self.path, timer, seen=truth.watcher)
            timer.watch.note(file_bytes=stored_bytes(self.path))
            state = "warm" if _warmed(self.path) else ""
            give_up()  # else the quickest to open or read is what left the most memory behind
            with timer("meta_reread", state):
                copy = job.open(self.path)
            with copy:
                give_up()
                again = partial(timer, state=state)
                job.compare(copy, source, ledgers, again, verify=self.verify)
        # Warm first: what was evicted and read again lies otherwise in memory.
        for state in ("warm", "cold"):
            for pattern, reads in self.reads.items():
                if (_warmed if state == "warm" else evicted)(self.path):
                    self._pattern(timer, pattern, reads, state, job, truth)

    def _pattern(
        self,
        timer: _Timer,
        pattern: str,
        reads: Mapping[str, list[Indices]],
        state: str,
        job: Copying,
        truth: Truth,
    ) -> None:
        variables = {variable.name: variable for variable in self.variables}
        with job.open(self.path) as copy:
            if state == "cold":
                evicted(self.path)  # opening read some of it ahead
            resident = resident_fraction([self.path])
            give_up()
            for name, selections in reads.items():
                variable, layout = variables[name], self.fitted.layouts[name]
                for number, selection in enumerate(selections):
                    for piece in pieces(selection, variable, layout, job.plan.piece_bytes):
                        with timer(f"pattern:{pattern}", state) as columns:
                            values = copy.read(name, piece)
                        add_bytes(columns, values.nbytes)
                        truth.check(pattern, name, number, piece, values, layout)
                        del values
                if copy.format != "nczarr":  # whose chunk cache stays
                    copy.cache(name, 0)
        timer.watch.note(resident_before=resident, pattern=pattern)


def _warmed(path: Path, tries: int = 3) -> bool:
    """Bring a file into memory; where the system does not tell, it is thought to be there."""
    while resident_fraction([path]) < _WARM and tries:
        warm([path])
        tries -= 1
    return not resident_fraction([path]) < _WARM


class _Timer:
    """A stopwatch that knows the cache state of each phase and keeps the peak of memory."""

    def __init__(self, watch: Stopwatch, cold: bool, verified: bool) -> None:
        self.watch, self._verified = watch, verified
        self._states = dict.fromkeys(("meta_read", "data_read"), "cold" if cold else "")

    @contextmanager
    def __call__(self, phase: str, state: str = "") -> Iterator[dict[str, object]]:
        state = state or self._states.get(phase, "")
        with self.watch.lap(phase, cache_state=state) as columns:
            yield columns
        columns["peak_bytes"] = peak_bytes()
        if not self._verified:
            columns["verified"] = False
