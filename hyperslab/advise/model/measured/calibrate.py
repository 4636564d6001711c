"""Measure this machine for the cost model."""

from __future__ import annotations

import datetime
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from hyperslab.measure.cold import ColdCacheError, can_evict, evict
from hyperslab.measure.lock import measuring
from hyperslab.measure.machine import identity, versions
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job

from ..calibration import Calibration
from ..errors import NoCalibrationError
from ..terms import path
from .experiment import CODECS, LIBRARIES, File, files, measured
from .fit import Sample, fitted, spread
from .reading import Measured

MODULES = (
    "netCDF4", "h5py", "h5netcdf.legacyapi", "xarray", "zarr", "scipy.optimize",
    "hyperslab.io.by_netcdf4", "hyperslab.io.by_h5py", "hyperslab.io.by_h5netcdf",
    "hyperslab.io.by_zarr", "hyperslab.io.by_xarray", "hyperslab.io.by_subchunk",
    "hyperslab.advise.model.measured.reading",
)  # fmt: skip
"""What the processes that read have imported."""

_MAKING = 0.25  # of the time goes into files and fitting
_SIDES = ((60, 512), (20, 256), (0, 128))  # from so many seconds on, maps of so many elements


def calibrate(
    seconds: float = 110.0,
    libraries: Sequence[str] = LIBRARIES,
    *,
    codecs: Sequence[str] = CODECS,
    workdir: Path | None = None,
    side: int | None = None,
    progress: bool = True,
) -> Calibration:
    """Find what reading costs on this machine, by reading files made for it.

    Each read is timed in fresh processes, in shuffled blocks of all reads, as often as the time
    allows; what a quarter of the samples stay below is fitted.

    Parameters
    ----------
    seconds
        What it may take. The first block is always whole, and takes some 40 s.
    libraries
        Readers of `LIBRARIES`; those that are not installed are left out.
    codecs
        Of `CODECS`.
    workdir
        A folder on the disk that cold reads are about; without it the system's for temporary
        files.
    side
        Elements along a side of the maps that are read; None goes by the seconds.
    progress
        Whether a bar is shown, on a terminal.

    Raises
    ------
    BusyError
        When another program of this library is measuring.
    NoCalibrationError
        When nothing could be read.

    Notes
    -----
    Its files take up to 0.4 GB, and are removed.
    """
    began = time.monotonic()
    with measuring(), tempfile.TemporaryDirectory(prefix="calibration-", dir=workdir) as name:
        folder = Path(name)
        length = side or next(n for least, n in _SIDES if seconds >= least)
        made = [(file, one) for file in files(length, codecs) if (one := _made(file, folder))]
        reads = [m for m in measured(made, libraries) if m.reading.read.cache == "warm" or _cold()]
        if not _evictable(made):
            reads = [m for m in reads if m.reading.read.cache == "warm"]
        until = began + seconds * (1 - _MAKING / 3)
        times = timed(reads, until, progress=progress)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    return fit(reads, times, time.monotonic() - began)


def fit(
    reads: Sequence[Measured],
    times: dict[str, tuple[list[float], list[float]]],
    took_s: float,
) -> Calibration:
    """Return the calibration that reads and their times make.

    Parameters
    ----------
    reads
    times
        By name, seconds of opening and of reading in each block; see `timed`.
    took_s
        How long that took.

    Raises
    ------
    NoCalibrationError
        When there are no times.
    """
    known = [m for m in reads if times.get(m.name, ((), ()))[1]]
    if not known:
        raise NoCalibrationError("no read of the calibration succeeded")
    samples = [
        Sample(m.reading.read, typical(times[m.name][1]), str(m.reading.path)) for m in known
    ]
    opened: dict[str, list[float]] = defaultdict(list)
    for m in known:
        if m.reading.read.cache == "warm":
            opened[path(m.reading.read)] += times[m.name][0]
    opens = {f"{way}:open": typical(found) for way, found in opened.items()}
    return Calibration(
        costs=fitted(samples) | opens,
        spread=spread(samples),
        identity=identity(),
        versions=versions(),
        made=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        samples=sum(len(found) for _, found in times.values()),
        took_s=took_s,
    )


def typical(times: Sequence[float]) -> float:
    """Return the time that a quarter of the samples stay below: what others do only adds.

    Examples
    --------
    >>> typical([1.0, 1.2, 9.0])
    1.1
    """
    return float(np.quantile(times, 0.25))


def timed(
    reads: Sequence[Measured], until: float, *, progress: bool = False, seed: int = 0
) -> dict[str, tuple[list[float], list[float]]]:
    """Return seconds of opening and of reading, by the name of the read.

    Parameters
    ----------
    reads
    until
        On the clock of `time.monotonic`: no block begins that would not end by then, but the first.
    progress
        Whether a bar is shown, on a terminal.
    seed
        Of the order.
    """
    found: dict[str, tuple[list[float], list[float]]] = {m.name: ([], []) for m in reads}
    random = np.random.default_rng(seed)
    last = 0.0
    with Processes(MODULES) as running, _bar(len(reads), progress) as bar:
        running.start()
        while not last or time.monotonic() + last < until:
            block = time.monotonic()
            for index in random.permutation(len(reads)):
                one = reads[index]
                outcome = running.run(Job(one.case(), timeout_s=60))
                bar.update()
                if outcome.status != "ok":
                    continue
                for row in outcome.rows:
                    phase = str(row["phase"])
                    if phase in ("open", "read"):
                        found[one.name][phase == "read"].append(float(str(row["wall_s"])))
            last = time.monotonic() - block
            bar.total = (bar.total or 0) + len(reads)
    return found


def _made(file: File, folder: Path) -> Path | None:
    """Make a file, with its index where one helps; None where the library for it is missing."""
    try:
        made = file.make(folder)
    except (ImportError, ValueError, OSError, RuntimeError):
        return None
    if file.layout.codec == "deflate" and file.layout.format == "netcdf4":
        from hyperslab import subchunk

        subchunk.build(made)
    return made


def _cold() -> bool:
    return can_evict()


def _evictable(made: Iterable[tuple[File, Path]]) -> bool:
    """Whether files on this disk can be evicted from memory."""
    try:
        for _, path in made:
            evict([path])
            return True
    except ColdCacheError:
        return False
    return False


def _bar(total: int, shown: bool) -> tqdm[object]:
    quiet = not (shown and sys.stderr.isatty())
    return tqdm(total=total, desc="calibration", unit="read", disable=quiet, mininterval=1)
