"""What cold reads ask of the storage device, and how often they wait for it."""

import math
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...measure.case import Stopwatch
from .format_cells import KINDS, Cell, shapes
from .format_samples import ReadNetcdf

BLOCKS = 5


def device_counts(profile: str, folder: Path) -> Iterator[dict[str, object]]:
    """Yield the counts of cold reads of the two-dimensional arrays, each a few times.

    Parameters
    ----------
    profile : str
    folder : Path
        Of the files for cold reads.

    Yields
    ------
    dict
        Record columns of one sample: requests, the reads that the device completed; stages, how
        often the process slept; and the bytes and calls behind them. What the device counts is the
        whole machine's, so take medians.
    """
    for block in range(BLOCKS):
        for size, known in shapes(profile).items():
            for kind in KINDS:
                cell = Cell(kind, size, known[2])
                common = {"case": cell.name, "cache_state": "cold", "block": block}
                yield {**common, **cell.columns, **_sample(cell, cell.path(folder))}


class _Watch(Stopwatch):
    """A stopwatch that also notes what the device did during the read."""

    def __init__(self, path: Path) -> None:
        super().__init__((path,), cold=True)
        self._path = path

    @contextmanager
    def __call__(self, phase: str, **columns: object) -> Iterator[None]:
        asked, slept = device_reads(self._path), sleeps()
        with super().__call__(phase, **columns):
            yield
        self.note(stages=sleeps() - slept, requests=device_reads(self._path) - asked)


def device_reads(path: Path) -> float:
    """Return how many reads a file's device completed since boot; NaN where that is unknown.

    Examples
    --------
    >>> found = device_reads(Path("."))
    >>> math.isnan(found) or found >= 0
    True
    """
    number = path.stat().st_dev
    counted = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat")
    try:
        return float(counted.read_text().split()[0])
    except OSError:
        return math.nan


def sleeps() -> float:
    """Return how often this thread gave up the processor to wait; NaN where that is unknown.

    Examples
    --------
    >>> math.isnan(sleeps()) or sleeps() >= 0
    True
    """
    who = getattr(resource, "RUSAGE_THREAD", None)
    return math.nan if who is None else float(resource.getrusage(who).ru_nvcsw)


def _sample(cell: Cell, path: Path) -> dict[str, object]:
    watch = _Watch(path)
    try:
        ReadNetcdf(path, cell.array, cell.layout)(watch)
    except OSError as error:  # no way to evict
        return {"phase": "read", "status": f"{type(error).__name__}: {error}", "verified": False}
    names = ("phase", "rchar", "syscr", "read_bytes", "requests", "stages")
    return next(
        {name: row[name] for name in names} for row in watch.rows() if row["phase"] == "read"
    )
