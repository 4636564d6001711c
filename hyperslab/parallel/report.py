"""What the ranks of a job told of its phases, put together."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .mpi_errors import RanksError


@dataclass(frozen=True)
class Phase:
    """What one phase cost, of all ranks together where nothing else is said."""

    name: str  #: create or open, pack, write or read, close
    wall_s: float  #: of the slowest rank
    user_s: float  #: CPU time
    sys_s: float
    writes: int  #: requests to the file, and their bytes
    written_bytes: int
    reads: int
    read_bytes: int
    busiest: int  #: requests of the rank that made the most, as it makes them one after another


@dataclass(frozen=True)
class Report:
    library: str
    mpi: str
    phases: tuple[Phase, ...]

    def __getitem__(self, name: str) -> Phase:
        return next(phase for phase in self.phases if phase.name == name)

    def total(self, name: str) -> int:
        """Return the sum of one of the counts, from the file's creation to its end."""
        return sum(getattr(phase, name) for phase in self.phases)


def read_report(folder: Path, ranks: int) -> Report:
    reports = [json.loads(path.read_text()) for path in folder.glob("rank-*.json")]
    reports.sort(key=lambda report: int(report["rank"]))
    if [(r["rank"], r["ranks"]) for r in reports] != [(rank, ranks) for rank in range(ranks)]:
        raise RanksError(
            f"a job of {ranks} was started and {len(reports)} told what they did: the launcher "
            "belongs to another MPI, or the folder of the file is not the same on all machines"
        )
    if not all(report["counted"] for report in reports):
        raise RanksError(
            "the requests were not counted: LD_PRELOAD did not reach the ranks, or the library it "
            "names is not on their machine. Name a folder that all machines see in the environment "
            "variable XDG_CACHE_HOME, where the library is compiled; a launcher that takes "
            "LD_PRELOAD away has an option to keep it"
        )
    phases = zip(*(report["phases"] for report in reports), strict=True)
    return Report(reports[0]["library"], reports[0]["mpi"], tuple(map(_phase, phases)))


def _phase(ranks: Sequence[Mapping[str, Any]]) -> Phase:
    counts = [rank["counts"][:4] for rank in ranks]
    sums = [sum(each) for each in zip(*counts, strict=True)]  # in the order of `Phase`
    sums.append(max(count[0] + count[2] for count in counts))
    return Phase(
        ranks[0]["phase"],
        max(rank["wall_s"] for rank in ranks),
        sum(rank["user_s"] for rank in ranks),
        sum(rank["sys_s"] for rank in ranks),
        *sums,
    )
