"""A small job, to see whether a launcher starts ranks that find each other and write."""

from pathlib import Path

from .errors import RanksError
from .found import Program
from .job import RanksJob, run
from .patterns import pattern
from .report import these
from .verify import holds

LIMIT_S = 60.0  # a batch system's launcher may wait for a node for ever


def came_up(program: Program, folder: Path, ranks: int = 2) -> int:
    """Start a small job, which writes one file and is read back, and return how many ranks came up."""
    plan = pattern("rows", rows=2, columns=4, ranks=ranks)
    path = folder / f"{program.library}.dat"
    report = run(RanksJob(program.library, plan, path, timeout_s=LIMIT_S), program)
    if not holds(plan, path, program.library):
        raise RanksError(
            f"{these(ranks)} started, and the file is not what they were to write: choose a folder "
            "that all machines of the job see"
        )
    return len(report.phases[0].writes)
