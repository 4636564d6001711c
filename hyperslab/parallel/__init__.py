"""Writes and reads of several ranks: MPI-IO, parallel HDF5 and PnetCDF, whichever are here."""

from .errors import AbsentError, ParallelError, RanksError
from .flash import FILES, flash
from .found import Found, Program, find
from .job import RanksJob, came_up, run
from .launcher import Launcher
from .patterns import PATTERNS, pattern
from .plan import Part, SharedArray, WritePlan
from .report import Phase, Report
from .verify import holds

__all__ = [
    "FILES", "PATTERNS", "AbsentError", "Found", "Launcher", "ParallelError", "Part", "Phase",
    "Program", "RanksError", "RanksJob", "Report", "SharedArray", "WritePlan", "came_up", "find",
    "flash", "holds", "pattern", "run",
]  # fmt: skip
