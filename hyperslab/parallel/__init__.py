"""Writes and reads of several ranks: MPI-IO, parallel HDF5 and PnetCDF, whichever are here."""

from .errors import (
    AbsentError,
    FolderError,
    ParallelError,
    RankError,
    RanksError,
    SlotsError,
    TimeLimitError,
)
from .flash import FILES, flash
from .found import LIBRARIES, Found, Program, find
from .job import HINTS, MODES, RanksJob, came_up, run
from .launcher import Launcher
from .patterns import PATTERNS, pattern
from .plan import Part, SharedArray, WritePlan
from .report import Phase, Report, counted
from .verify import holds

__all__ = [
    "FILES",
    "HINTS",
    "LIBRARIES",
    "MODES",
    "PATTERNS",
    "AbsentError",
    "FolderError",
    "Found",
    "Launcher",
    "ParallelError",
    "Part",
    "Phase",
    "Program",
    "RankError",
    "RanksError",
    "RanksJob",
    "Report",
    "SharedArray",
    "SlotsError",
    "TimeLimitError",
    "WritePlan",
    "came_up",
    "counted",
    "find",
    "flash",
    "holds",
    "pattern",
    "run",
]
