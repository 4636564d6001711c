"""What the ranks of a job told of its phases, put together."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import RanksError


@dataclass(frozen=True)
class Phase:
    """What one phase cost, of all ranks."""

    name: str  # create or open, pack, write or read, close
    wall_s: float  # of the slowest rank
    user_s: float  # CPU time of all ranks
    sys_s: float
    writes: tuple[int, ...]  # requests to the file and their bytes, of each rank
    written_bytes: tuple[int, ...]
    reads: tuple[int, ...]
    read_bytes: tuple[int, ...]

    @property
    def busiest(self) -> int:
        """Requests of the rank that made the most, as it makes them one after another."""
        return max(map(sum, zip(self.writes, self.reads, strict=True)))


@dataclass(frozen=True)
class Report:
    """What came of a job."""

    library: str
    mpi: str
    phases: tuple[Phase, ...]

    def __getitem__(self, name: str) -> Phase:
        """Return the phase of a name."""
        return next(phase for phase in self.phases if phase.name == name)

    def __contains__(self, name: str) -> bool:
        """Return whether there was a phase of a name."""
        return any(phase.name == name for phase in self.phases)

    @property
    def writes(self) -> int:
        """Requests that wrote, from the file's creation to its end."""
        return sum(sum(phase.writes) for phase in self.phases)

    @property
    def reads(self) -> int:
        """Requests that read, likewise."""
        return sum(sum(phase.reads) for phase in self.phases)


def counted(ranks: float) -> str:
    """Return a number of ranks in words."""
    return "1 rank" if ranks == 1 else f"{ranks:.0f} ranks"


def these(ranks: int) -> str:
    """Return a number of ranks as the beginning of a sentence on what was done to them."""
    return f"{counted(ranks)} {'was' if ranks == 1 else 'were'}"


def read_report(folder: Path, ranks: int) -> Report:
    """Put together what each rank wrote into a folder."""
    said = [json.loads(path.read_text()) for path in folder.glob("rank-*.json")]
    said.sort(key=lambda one: int(one["rank"]))
    if [(one["rank"], one["ranks"]) for one in said] != [(rank, ranks) for rank in range(ranks)]:
        raise RanksError(
            f"{these(ranks)} started and {len(said)} told what they did: the launcher belongs "
            "to another MPI, or the folder of the file is not the same on all machines"
        )
    if not all(one["counted"] for one in said):
        raise RanksError(
            "the requests were not counted: LD_PRELOAD did not reach the ranks, or the library it "
            "names is not on their machine. Name a folder that all machines see in the environment "
            "variable XDG_CACHE_HOME, where the library is compiled; a launcher that takes "
            "LD_PRELOAD away has an option to keep it"
        )
    together = zip(*(one["phases"] for one in said), strict=True)
    return Report(said[0]["library"], said[0]["mpi"], tuple(map(_phase, together)))


def _phase(ranks: Sequence[Mapping[str, Any]]) -> Phase:
    writes, written, reads, read = (
        tuple(rank["counts"][place] for rank in ranks) for place in range(4)
    )
    return Phase(
        name=ranks[0]["phase"],
        wall_s=max(rank["wall_s"] for rank in ranks),
        user_s=sum(rank["user_s"] for rank in ranks),
        sys_s=sum(rank["sys_s"] for rank in ranks),
        writes=writes,
        written_bytes=written,
        reads=reads,
        read_bytes=read,
    )
