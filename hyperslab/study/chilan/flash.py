"""The FLASH checkpoint and its plot files, and reading with and without the chunk cache."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...parallel import FILES, Part, RanksJob, SharedArray, WritePlan, find, flash, run
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
TIMED = WAYS[:3]
"""The lines of the document's Figures 1 and 2."""
BUFFERED: Mapping[str, str] = {"romio_cb_write": "enable"}
AGAIN = 8
"""How often the chunks are read."""
_CHUNK = (128, 128)  # 128 KiB: eight fit into the chunk cache as it comes
_CHUNKS = 4


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
        Of a rank where requests and bytes are counted.
    timed_blocks : int
        Of a rank where time is taken.
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
        """Give the bytes of each file, of 4 ranks, and the fewest of one of them."""
        library = next(name for name in ("hdf5", "pnetcdf", "mpiio") if name in find().programs)
        tasks = [
            self._task(library, "collective", side, 4, self.blocks, file=file)
            for side in SIDES[: self.sides]
            for file in FILES
        ]
        for (task, _), row in zip(
            done := list(jobs.observe(tasks)), jobs.totals(done), strict=True
        ):
            # Ranks differ by a block or two: the first has as many as the document's.
            yield {**row, "case": task.case, "chunk_bytes": task.job.plan.rank_bytes(0)}

    def requests(self) -> Iterator[dict[str, object]]:
        """Give the requests of the checkpoint by ranks; they do not depend on the blocks."""
        tasks = [
            self._task(library, mode, SIDES[-1], ranks, self.timed_blocks)
            for ranks in self.ranks
            for library, mode in WAYS
        ]
        few = min(4, self.most_ranks)
        tasks += [self._task(library, mode, SIDES[0], few, self.blocks) for library, mode in WAYS]
        tasks += [
            self._task(library, "collective", side, few, self.blocks, hints=BUFFERED)
            for library in ("hdf5", "pnetcdf", "mpiio")
            for side in SIDES[:1]
        ]
        return jobs.totals(list(jobs.observe(tasks)))

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
        return [
            task if self._claimed(task.job) else replace(task, most_blocks=other_blocks)
            for task in found
        ]

    def _claimed(self, job: RanksJob) -> bool:
        """Whether a claim compares the times of a job."""
        if job.mode == "independent":
            return job.plan.ranks in (1, self.most_ranks)
        return job.plan.ranks == 2

    def cache(self) -> Iterator[dict[str, object]]:
        """Give the requests of reading the same chunks again, opened in parallel and serially."""
        if "hdf5" not in find().programs:
            return
        program = find()["hdf5"]
        shape = (_CHUNK[0], _CHUNK[1] * _CHUNKS)
        # Half of the columns of each chunk: a read of whole chunks need not keep them.
        parts = (Part((0, 0), (shape[0], shape[1])),)
        plan = WritePlan((SharedArray("data", "f8", shape, parts, _CHUNK),))
        path = self.folder / "cache.h5"
        run(RanksJob("hdf5", plan, path), program)
        for case, serial, read_only in (
            ("serial", True, False),
            ("parallel", False, False),
            ("parallel, read only", False, True),
        ):
            job = RanksJob(
                "hdf5", plan, path, reads=True, serial=serial, read_only=read_only, times=AGAIN
            )
            report = run(job, program)
            task = Task(case, job)
            for phase in report.phases:
                # Counted in one rank: its time means nothing.
                row = {**task.columns, "phase": phase.name, **jobs.cost(phase, job)}
                yield {name: value for name, value in row.items() if name != "wall_s"}
        path.unlink()

    def _task(
        self,
        library: str,
        mode: str,
        side: int,
        ranks: int,
        blocks: int,
        *,
        file: str = "checkpoint",
        hints: Mapping[str, str] | None = None,
    ) -> Task:
        job = RanksJob(
            library,
            flash(file, side, ranks, blocks),
            self.folder / f"{library}-{file}.dat",
            mode,
            hints or {},
        )
        name = f"{file}/{side}" if file != "checkpoint" else f"{library}/{mode}/{side}"
        return Task(name, job, (("size", f"{side}"), ("pattern", file)))
