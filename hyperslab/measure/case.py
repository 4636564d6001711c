"""What is measured: a case, and the stopwatch that it brackets its phases with."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .cold import evict, resident_fraction
from .counters import Counters, Counts

CACHE_STATES = ("cold", "warm", "")


@dataclass(frozen=True)
class Case:
    """One configuration of an experiment; everything in it can be pickled.

    `run` is called with a `Stopwatch` in a fresh process; or it is the words of a program that
    prints its phases as JSON. `check` is called after timing with what `run` returned; False, or an
    exception, spoils the sample.

    Examples
    --------
    >>> Case("nothing", run=print, cache_state="cold").label
    'nothing, cold'
    """

    name: str  # unique among the cases of one cache state
    run: Callable[["Stopwatch"], Any] | Sequence[str]
    check: Callable[[Any], bool] | None = None
    columns: Mapping[str, object] = field(default_factory=dict)  # of records, that describe it
    files: Sequence[str | Path] = ()  # evicted (cold) or read (warm) before each sample
    # That a write may take, or a read beyond its files' pages, such as decoded chunks. Of a cold
    # read of a large file it counts the pages too, where it is known what is read.
    memory_bytes: int = 0
    cache_state: str = ""  # "cold", "warm", or "" where it means nothing, as for a new file
    prepare: Callable[[], None] | None = None  # called in the same process before all timing
    cleanup: Callable[[], None] | None = None  # and after it
    aa: bool = False  # whether it is measured under a second label too, to show what noise does
    most_blocks: int = 0  # after which it is left out of the rest; 0 measures it in all
    pinned: bool = True  # whether a forked sample is kept on one core; not for what has threads
    labels: Mapping[str, str] = field(default_factory=dict)  # what tells it apart, as the layout

    def __post_init__(self) -> None:
        if self.cache_state not in CACHE_STATES:
            raise ValueError(
                f"case {self.name!r}: cache_state is {self.cache_state!r}, "
                f"not one of {CACHE_STATES}"
            )

    @property
    def label(self) -> str:
        """The name, with the cache state where there is one."""
        return f"{self.name}, {self.cache_state}" if self.cache_state else self.name


class Stopwatch:
    """Brackets the phases of a sample and keeps what each of them cost.

    How much of `files` is in the page cache is noted before each phase; `chill` evicts `cold` ones.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> with watch("read"):
    ...     total = sum(range(1000))
    >>> [row["phase"] for row in watch.rows()]
    ['read']
    """

    def __init__(self, files: Sequence[str | Path] = (), cold: bool = False) -> None:
        self._files, self._cold = files, cold
        self.elsewhere_s = 0.0  # CPU time of others for this sample, as servers that outlive it
        self._counters = Counters()
        self._phases: list[_Phase] = []
        self._empty_s = self._calibrate()

    @contextmanager
    def __call__(self, phase: str, **columns: object) -> Iterator[None]:
        """Time the body as one phase; `columns` go into its record."""
        with self._time(_Phase(phase, self._resident(), columns)):
            yield

    @contextmanager
    def lap(self, phase: str, **columns: object) -> Iterator[dict[str, object]]:
        """Time a piece of a phase, whose pieces add up; give the phase's columns, to add to."""
        same = (p for p in self._phases if p.name == phase and columns.items() <= p.columns.items())
        timed = next(same, None) or _Phase(phase, self._resident(), columns)
        with self._time(timed):
            yield timed.columns

    def chill(self) -> None:
        """Evict the files again (untimed) of a cold case: read-ahead of an open goes far."""
        if self._cold:
            evict(self._files)

    def note(self, **columns: object) -> None:
        """Add columns to the last phase, from what is known only after it."""
        self._last.columns.update(columns)

    def rows(self) -> list[dict[str, object]]:
        """Return one mapping of record columns a phase."""
        return [
            {
                "phase": phase.name,
                "resident_before": phase.resident,
                "overhead_s": phase.pieces * self._empty_s,
                **asdict(phase.cost),
                **phase.columns,
            }
            for phase in self._phases
        ]

    def _resident(self) -> float:
        return resident_fraction(self._files) if self._files else float("nan")

    @contextmanager
    def _time(self, phase: "_Phase") -> Iterator[None]:
        before = self._counters.start()
        try:
            yield
        finally:
            cost = self._counters.stop() - before
        if not phase.pieces:
            self._phases.append(phase)
        phase.cost = phase.cost + cost
        phase.pieces += 1
        self._last = phase

    def _calibrate(self) -> float:
        gc.disable()  # a collection inside a phase would be charged to it
        for _ in range(3):  # the first is dearer; the last is what every phase pays
            before = self._counters.start()
            with _nothing(), _nothing():  # as deep as a phase is
                pass
            cost = self._counters.stop() - before
        return cost.wall_s


@dataclass
class _Phase:
    name: str
    resident: float
    columns: dict[str, object]
    cost: Counts = field(default_factory=Counts)
    pieces: int = 0


@contextmanager
def _nothing() -> Iterator[None]:
    yield
