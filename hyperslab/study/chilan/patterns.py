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
CLAIMED_RANKS = 4
"""Where the claims compare requests."""
CHUNKED = ("overhang", "within")
"""What HDF5 writes into chunks: its collective writes alone are compared with PnetCDF's."""
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


def latencies(latency_ms: str) -> tuple[float, ...]:
    """Return the seconds that are added to each request, the longest first.

    Parameters
    ----------
    latency_ms : str
        Milliseconds with spaces between; 0 for the file system's own cost alone.

    Raises
    ------
    ValueError
        For what is no number, negative or longer than a second, or where there is none.

    Examples
    --------
    >>> latencies("0 1 3")
    (0.003, 0.001, 0.0)
    >>> latencies("3ms")
    Traceback (most recent call last):
    ...
    ValueError: latency_ms is '3ms': give milliseconds from 0 to 1000 with spaces between, as ...
    """
    try:
        found = {float(word) / 1e3 for word in latency_ms.split()}
        if not found or not all(0 <= latency_s <= 1 for latency_s in found):
            raise ValueError
    except ValueError:
        raise ValueError(
            f"latency_ms is {latency_ms!r}: give milliseconds from 0 to 1000 with spaces between, "
            'as "0 1 3"'
        ) from None
    return tuple(sorted(found, reverse=True))


@dataclass(frozen=True)
class Patterns:
    """What a profile measures of the four patterns.

    Parameters
    ----------
    folder : Path
        For the files.
    ranks, most_ranks, timed_ranks : int
        Where requests are counted, beside those of the claims; the most, for interleaved columns;
        and where time is taken.
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

    @property
    def counted_ranks(self) -> list[int]:
        """Where all patterns are counted: as many as asked for, and as the claims compare."""
        known = {self.ranks} | ({CLAIMED_RANKS} if self.most_ranks >= CLAIMED_RANKS else set())
        return sorted(known)

    @cached_property
    def done(self) -> list[tuple[Task, Report]]:
        """What came of the jobs that are counted, once they have run."""
        return list(jobs.observe([*self.tasks()]))

    def tasks(self) -> Iterator[Task]:
        """Give the jobs that are counted: each pattern, library and mode, and more ranks."""
        chosen = PATTERNS[: self.patterns]
        for ranks, name, (library, mode) in product(self.counted_ranks, chosen, WAYS):
            yield self._counted(library, name, mode, ranks)
        both = {"hdf5", "pnetcdf"} <= set(find().programs)
        ranks = 1
        while ranks <= self.most_ranks:
            if ranks not in self.counted_ranks:
                # MPI-IO's are HDF5's and PnetCDF's without what is their files' own.
                for library, mode in WAYS[:4] if both else WAYS:
                    yield self._counted(library, "interleaved", mode, ranks)
            ranks *= 2

    def requests(self) -> Iterator[dict[str, object]]:
        """Give the requests of each job."""
        return jobs.totals(self.done)

    def sizes(self) -> Iterator[dict[str, object]]:
        """Give the sizes of these requests."""
        whole = self.counted_ranks
        return jobs.sizes([item for item in self.done if item[0].job.plan.ranks in whole])

    def hints(self) -> Iterator[dict[str, object]]:
        """Give the requests with each hint, of the first two of HDF5, PnetCDF and MPI-IO here."""
        smallest = self.patterns < len(PATTERNS)
        here = [name for name in ("hdf5", "pnetcdf", "mpiio") if name in find().programs][:2]
        tasks = [
            self._counted(library, name, mode, ranks, hints)
            for ranks in self.counted_ranks
            for library in here
            for name, mode, hints in (HINTED[:2] if smallest else HINTED)
        ]
        return jobs.totals(list(jobs.observe(tasks)))

    def latency_tasks(self, latency_ms: str, wide: int = 1, other_blocks: int = 0) -> list[Task]:
        """Return the jobs that are timed.

        Parameters
        ----------
        latency_ms : str
            What is added to each request, as `latencies` takes it: the longest for all patterns.
        wide : int
            For how many patterns the others are added.
        other_blocks : int
            Blocks of what no claim compares; 0 is all.
        """
        whole = self.patterns == len(PATTERNS)
        longest, *others = latencies(latency_ms)
        found = [
            self._timed(library, name, mode, latency_s)
            for latency_s in (longest, *others)
            for number, name in enumerate(PATTERNS[: self.patterns])
            for library, mode in WAYS[: 4 if whole and (latency_s == longest or wide > 1) else 2]
            if latency_s == longest or number < wide
        ]
        for latency_s in (longest, *others[-1:]):
            for mode in ("rowwise", "collective"):
                found.append(self._timed("mpiio", "interleaved", mode, latency_s))

        def claimed(job: RanksJob, pattern: str) -> bool:
            alone = job.library == "pnetcdf" and job.mode == "independent"
            if job.library == "mpiio" or (alone and pattern in CHUNKED):
                return False
            least = job.library == "hdf5" and pattern == "interleaved" and not job.latency_s
            return job.latency_s in (LATENCY_S, longest) or least

        return [
            task
            if claimed(task.job, task.case.split("/")[1])
            else replace(task, most_blocks=other_blocks)
            for task in found
        ]

    def document_tasks(self, rows: int, latency_ms: str) -> list[Task]:
        """Return interleaved columns of more rows, as a job of its own; none for no rows.

        MPI-IO itself stands in where HDF5 is not here: a call for each row takes minutes.
        """
        if not rows:
            return []
        longest, here = latencies(latency_ms)[0], "hdf5" in find().programs
        return [
            self._task(library, "interleaved", mode, self.timed_ranks, (rows, 8), longest, {})
            for library, mode in ((WAYS[1], WAYS[0]) if here else (WAYS[6], WAYS[4]))
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
        rows, (counted, columns) = self.timed_rows, COUNTED[name]
        if name == "overhang":
            rows = max(rows // 4, min(rows, 128))
        if not latency_s:  # where nothing waits, few rows are over before they tell anything
            rows = max(rows, counted // self.divisor)
        shape = (max(1, rows), columns)
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
            # A file system may have a cost of its own for each request.
            timeout_s=60 + 3 * shape[0] * (latency_s + LATENCY_S),
        )
        described = (("pattern", name), ("size", f"{shape[0]}x{shape[1]}"))
        return Task(f"{library}/{name}/{mode}", job, described)
