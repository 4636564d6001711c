"""Writes and reads of several ranks: MPI-IO, parallel HDF5 and PnetCDF, whichever are here."""

from .errors import (
    MissingError,
    ParallelError,
    RankError,
    RanksError,
    SlotsError,
    TimeLimitError,
)
from .flash import FILES, flash
from .found import LIBRARIES, Found, Program, find
from .job import HINTS, MODES, Job, run
from .launcher import Launcher
from .patterns import PATTERNS, pattern
from .plan import Dataset, Part, Plan
from .report import Phase, Report
from .verify import holds

__all__ = [
    "FILES",
    "HINTS",
    "LIBRARIES",
    "MODES",
    "PATTERNS",
    "Dataset",
    "Found",
    "Job",
    "Launcher",
    "MissingError",
    "ParallelError",
    "Part",
    "Phase",
    "Plan",
    "Program",
    "RankError",
    "RanksError",
    "Report",
    "SlotsError",
    "TimeLimitError",
    "find",
    "flash",
    "holds",
    "pattern",
    "run",
]
