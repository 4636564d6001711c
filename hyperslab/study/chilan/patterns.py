"""The document's four writes: their requests, their time over a latency, and what hints change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path

from ...parallel import PATTERNS, RanksJob, Report, find, pattern
from . import jobs
from .jobs import Task

COUNTED = {
    "interleaved": (8192, 8),
    "rows": (2048, 256),
    "overhang": (2048, 256),
    "within": (32768, 32),
}
"""Rows and columns of one rank where requests are counted."""
WAYS = (
    ("hdf5", "independent"),
    ("hdf5", "collective"),
    ("pnetcdf", "independent"),
    ("pnetcdf", "collective"),
    ("mpiio", "rowwise"),
    ("mpiio", "independent"),
    ("mpiio", "collective"),
)
LATENCY_S = 0.003
"""Added to each request: the document's 1659 s are 3.2 ms for each row."""
HINTED: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("interleaved", "independent", {}),
    ("interleaved", "independent", {"romio_ds_write": "disable"}),
    ("interleaved", "independent", {"ind_wr_buffer_size": "65536"}),
    ("interleaved", "collective", {}),
    ("interleaved", "collective", {"romio_cb_write": "disable"}),
    ("interleaved", "collective", {"cb_buffer_size": "262144"}),
    ("interleaved", "collective", {"cb_nodes": "2"}),
    ("interleaved", "collective", {"cb_nodes": "2", "cb_config_list": "*:*"}),
    ("rows", "collective", {}),
    ("rows", "collective", {"romio_cb_write": "enable"}),
)


@dataclass(frozen=True)
class Patterns:
    """What a profile measures of the four patterns.

    Parameters
    ----------
    folder : Path
        For the files.
    ranks, most_ranks, timed_ranks : int
        Where requests are counted; the most, for interleaved columns; and where time is taken.
    patterns : int
        How many of `PATTERNS`.
    divisor : int
        Of the rows of `COUNTED`.
    timed_rows : int
        Rows of a rank, of interleaved columns that are timed.
    """

    folder: Path
    ranks: int
    most_ranks: int
    timed_ranks: int
    patterns: int
    divisor: int
    timed_rows: int

    @cached_property
    def done(self) -> list[tuple[Task, Report]]:
        """What came of the jobs that are counted, once they have run."""
        return list(jobs.observe([*self.tasks()]))

    def tasks(self) -> Iterator[Task]:
        """Give the jobs that are counted: each pattern, library and mode, and more ranks."""
        chosen = PATTERNS[: self.patterns]
        for name, (library, mode) in product(chosen, WAYS):
            yield self._counted(library, name, mode, self.ranks)
        ranks = 1
        while ranks <= self.most_ranks:
            if ranks != self.ranks:
                for library, mode in WAYS:
                    if (library, mode) != ("mpiio", "independent"):  # as PnetCDF's
                        yield self._counted(library, "interleaved", mode, ranks)
            ranks *= 2

    def requests(self) -> Iterator[dict[str, object]]:
        """Give the requests of each job."""
        return jobs.totals(self.done)

    def sizes(self) -> Iterator[dict[str, object]]:
        """Give the sizes of these requests."""
        return jobs.sizes([item for item in self.done if item[0].job.plan.ranks == self.ranks])

    def hints(self) -> Iterator[dict[str, object]]:
        """Give the requests with each hint, of the first two of PnetCDF, MPI-IO and HDF5 here."""
        smallest = self.patterns < len(PATTERNS)
        here = [name for name in ("pnetcdf", "mpiio", "hdf5") if name in find().programs][:2]
        tasks = [
            self._counted(library, name, mode, self.ranks, hints)
            for library in here[: 1 if smallest else 2]
            for name, mode, hints in (HINTED[:2] if smallest else HINTED)
        ]
        return jobs.totals(list(jobs.observe(tasks)))

    def latency_tasks(self, middle: bool = False, other_blocks: int = 0) -> list[Task]:
        """Return the jobs that are timed.

        Parameters
        ----------
        middle : bool
            Whether 1 ms is tried too.
        other_blocks : int
            Blocks of what no claim compares: MPI-IO itself, and 1 ms; 0 is all.
        """
        found = [
            self._timed(library, name, mode, LATENCY_S)
            for name in PATTERNS[: self.patterns]
            for library, mode in (WAYS[:4] if self.patterns == len(PATTERNS) else WAYS[:2])
        ]
        for latency_s in (0.0, 0.001)[: 1 + middle]:
            found += [self._timed("hdf5", "interleaved", mode, latency_s) for _, mode in WAYS[:2]]
        for latency_s in (LATENCY_S, 0.0):
            for mode in ("rowwise", "collective"):
                found.append(self._timed("mpiio", "interleaved", mode, latency_s))
        return [
            replace(task, most_blocks=other_blocks)
            if task.job.library == "mpiio" or 0 < task.job.latency_s < LATENCY_S
            else task
            for task in found
        ]

    def document_tasks(self, rows: int) -> list[Task]:
        """Return interleaved columns of more rows, as a job of its own; none for no rows."""
        if not rows:
            return []
        return [
            self._task(library, "interleaved", mode, self.timed_ranks, (rows, 8), LATENCY_S, {})
            for library, mode in (WAYS[1], WAYS[0], WAYS[6], WAYS[4])
        ]

    def _counted(
        self,
        library: str,
        name: str,
        mode: str,
        ranks: int,
        hints: Mapping[str, str] | None = None,
    ) -> Task:
        rows, columns = COUNTED[name]
        shape = (max(1, rows // self.divisor), columns)
        return self._task(library, name, mode, ranks, shape, 0.0, hints or {})

    def _timed(self, library: str, name: str, mode: str, latency_s: float) -> Task:
        # A row is a request at worst, which takes 3 ms. Fewer rows than 128 of the chunk that
        # overhangs lie within the half MiB that MPI-IO sieves at once, and hide what differs.
        rows = self.timed_rows
        if name == "overhang":
            rows = max(rows // 4, min(rows, 128))
        shape = (max(1, rows), COUNTED[name][1])
        return self._task(library, name, mode, self.timed_ranks, shape, latency_s, {})

    def _task(
        self,
        library: str,
        name: str,
        mode: str,
        ranks: int,
        shape: tuple[int, int],
        latency_s: float,
        hints: Mapping[str, str],
    ) -> Task:
        job = RanksJob(
            library,
            pattern(name, *shape, ranks),
            self.folder / f"{library}-{name}.dat",
            mode,
            hints,
            latency_s,
            timeout_s=60 + 3 * shape[0] * latency_s,
        )
        described = (("pattern", name), ("size", f"{shape[0]}x{shape[1]}"))
        return Task(f"{library}/{name}/{mode}", job, described)
