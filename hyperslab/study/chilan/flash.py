"""The FLASH checkpoint and its plot files, and reading with and without the chunk cache."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ...parallel import FILES, Part, RanksJob, Report, SharedArray, WritePlan, find, flash, run
from . import jobs
from .jobs import Task

SIDES = (8, 16)
WAYS = (
    ("hdf5", "collective"),
    ("pnetcdf", "collective"),
    ("hdf5", "independent"),
    ("pnetcdf", "independent"),
    ("mpiio", "collective"),
    ("mpiio", "independent"),
)
TIMED = WAYS[:4]
"""The lines of the document's Figures 1 and 2, and PnetCDF independent, which they lack."""
BUFFERED: Mapping[str, str] = {"romio_cb_write": "enable"}
FEW = 2
"""Ranks where the libraries are compared by time: as many as a small machine has cores."""
CLAIMED_RANKS = 8
"""Where the claims compare the modes."""
CHECKPOINT = "checkpoint"
AS_BYTES = "checkpoint as bytes"
"""The two patterns of what is timed: the second has the same bytes, which nobody converts."""
WITHOUT_TREE = "checkpoint without tree"
"""The same without the tree of blocks, to see what a dataset costs."""
DATASETS = len(flash(CHECKPOINT, SIDES[0], 1).datasets)
UNKNOWNS = len(flash(CHECKPOINT, SIDES[0], 1, tree=False).datasets)
AGAIN = 8
"""How often the chunks are read."""
CHUNK = (128, 128)
"""Doubles of a chunk, of 128 KiB: eight fit into the chunk cache as it comes."""
CHUNKS = 4


@dataclass(frozen=True)
class Flash:
    """What a profile measures of the checkpoint.

    Parameters
    ----------
    folder : Path
        For the files.
    most_ranks : int
        Jobs have 1, 2, 4 … ranks up to this.
    blocks : int
        Of a rank where the bytes of its files are counted.
    timed_blocks : int
        Of a rank where time is taken and requests are counted.
    """

    folder: Path
    most_ranks: int
    blocks: int
    timed_blocks: int
    sides: int = len(SIDES)

    @property
    def ranks(self) -> list[int]:
        """1, 2, 4 … ranks."""
        return [2**power for power in range(self.most_ranks.bit_length())]

    def files(self) -> Iterator[dict[str, object]]:
        """Give the bytes of each file, of 4 ranks, and the fewest of one of them.

        MPI-IO itself stands in where HDF5 and PnetCDF are not here.
        """
        here = find().programs
        libraries = [name for name in ("hdf5", "pnetcdf") if name in here] or ["mpiio"]
        tasks = [
            self._task(library, "collective", side, 4, self.blocks, file=file)
            for side in SIDES[: self.sides]
            for file in FILES
            for library in libraries
        ]
        for (task, _), row in zip(
            done := list(jobs.observe(tasks)), jobs.totals(done), strict=True
        ):
            # Ranks differ by a block or two: the first has as many as the document's.
            yield {**row, "case": task.case, "chunk_bytes": task.job.plan.rank_bytes(0)}

    @cached_property
    def done(self) -> list[tuple[Task, Report]]:
        """What came of the checkpoints that are counted, once they have run."""
        here, few = find().programs, min(4, self.most_ranks)
        both = {"hdf5", "pnetcdf"} <= set(here)
        tasks = [
            self._task(library, mode, SIDES[-1], ranks, self.timed_blocks)
            for ranks in self.ranks
            for library, mode in WAYS
            if ranks == few or library != "mpiio" or not both  # then as PnetCDF's
        ]
        tasks += [
            self._task(library, mode, SIDES[0], few, self.timed_blocks) for library, mode in WAYS
        ]
        tasks += [
            self._task(library, "collective", SIDES[0], few, self.timed_blocks, hints=BUFFERED)
            for library in ("hdf5", "pnetcdf", "mpiio")
        ]
        tasks += [
            self._task(library, "collective", SIDES[0], few, self.timed_blocks, tree=False)
            for library in ("hdf5", "pnetcdf")
        ]
        return list(jobs.observe(tasks))

    def requests(self) -> Iterator[dict[str, object]]:
        """Give the requests of the checkpoint by ranks; they do not depend on the blocks."""
        return jobs.totals(self.done)

    def sizes(self) -> Iterator[dict[str, object]]:
        """Give the sizes of these requests, phase by phase."""
        return jobs.sizes(self.done)

    def checkpoint_tasks(self, side: int, other_blocks: int = 0) -> list[Task]:
        """Return the checkpoints that are timed: each line of the figure at each number of ranks.

        MPI-IO itself stands in where HDF5 and PnetCDF are not here.

        Parameters
        ----------
        side : int
            Cells of a block along each dimension.
        other_blocks : int
            Blocks of what no claim compares; 0 is all.
        """
        if side not in SIDES[-self.sides :]:
            return []
        here = find().programs
        lines = [way for way in TIMED if way[0] in here] or [WAYS[4], WAYS[5]]
        found = [
            self._task(library, mode, side, ranks, self.timed_blocks)
            for ranks in self.ranks
            for library, mode in lines
        ]
        if side == SIDES[-1] and self.most_ranks >= FEW:
            # MPI-IO converts nothing, and PnetCDF need not.
            wanted = ("pnetcdf", "collective", side, FEW, self.timed_blocks)
            found.append(self._task(*wanted, as_bytes=True))
        # The first is measured as an A/A pair too, so what is compared comes first.
        found.sort(key=lambda task: not self._claimed(task.job))
        return [
            task if self._claimed(task.job) else replace(task, most_blocks=other_blocks)
            for task in found
        ]

    def _claimed(self, job: RanksJob) -> bool:
        """Whether the times of a job are compared, by a claim or to explain one."""
        if job.plan.ranks == FEW:
            return job.mode == "collective"
        return job.plan.ranks == min(CLAIMED_RANKS, self.most_ranks) and job.library == "hdf5"

    @cached_property
    def _read_again(self) -> list[tuple[Task, Report]]:
        """Read the same chunks again, by each of some ranks, and by one that opens serially."""
        program = find()["hdf5"]
        shape = (CHUNK[0], CHUNK[1] * CHUNKS)

        def plan(ranks: int) -> WritePlan:
            whole = (Part((0, 0), shape),) * ranks
            return WritePlan((SharedArray("data", "f8", shape, whole, CHUNK),))

        path, few = self.folder / "cache.h5", min(4, self.most_ranks)
        run(RanksJob("hdf5", plan(1), path), program)
        found = []
        for case, ranks, serial, read_only in (
            ("serial", 1, True, False),
            ("parallel", few, False, False),
            ("parallel, read only", few, False, True),
        ):
            job = RanksJob(
                "hdf5",
                plan(ranks),
                path,
                reads=True,
                serial=serial,
                read_only=read_only,
                times=AGAIN,
            )
            found.append((Task(case, job), run(job, program)))
        path.unlink()
        return found

    def cache(self) -> Iterator[dict[str, object]]:
        """Give the requests of reading the same chunks again, opened in parallel and serially."""
        for task, report in self._read_again:
            for phase in report.phases:
                # Counted, and not timed in turns: its time means nothing.
                row = {**task.columns, "phase": phase.name, **jobs.cost(phase, task.job)}
                yield {name: value for name, value in row.items() if name != "wall_s"}

    def cache_sizes(self) -> Iterator[dict[str, object]]:
        """Give the sizes of these requests."""
        return jobs.sizes(self._read_again)

    def _task(
        self,
        library: str,
        mode: str,
        side: int,
        ranks: int,
        blocks: int,
        *,
        file: str = CHECKPOINT,
        hints: Mapping[str, str] | None = None,
        as_bytes: bool = False,
        tree: bool = True,
    ) -> Task:
        job = RanksJob(
            library,
            flash(file, side, ranks, blocks, as_bytes=as_bytes, tree=tree),
            self.folder / f"{library}-{file}.dat",
            mode,
            hints or {},
        )
        name = f"{library}/{mode}/{side}" + f" {file}" * (file != CHECKPOINT)
        if as_bytes:
            name, file = f"{name} as bytes", AS_BYTES
        if not tree:
            name, file = f"{name} without tree", WITHOUT_TREE
        return Task(name, job, (("size", f"{side}"), ("pattern", file)))
