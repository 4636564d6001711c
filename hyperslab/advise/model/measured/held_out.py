"""Try the model on files that calibration has not seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from hyperslab.io.cards import readers
from hyperslab.io.layout import Layout
from hyperslab.io.selection import Selection
from hyperslab.measure.case import Case
from hyperslab.measure.processes import Processes

from ..calibration import Calibration
from ..errors import UncalibratedError
from ..predict import predict
from ..probe import probe
from ..read import Read
from ..terms import ENGINES, codec, path
from .calibrate import MODULES, calibrate
from .experiment import CODECS, LIBRARIES
from .reading import Measured, Reading

FEW = ("h5py", "plain")
"""Readers of a quick look."""
COLD = ("netcdf4", "h5py", "zarr", "plain")
"""Readers that are tried cold as well."""


class Trial(Protocol):
    """A file to be read: one array, called "data"."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def chunk_bytes(self) -> float | None: ...
    @property
    def selections(self) -> Mapping[str, Any]: ...


def held_out(
    files: Iterable[Trial],
    totals: Mapping[str, int],
    libraries: Sequence[str],
    every: int = 1,
) -> Iterator[Measured]:
    """Yield the reads of files by every library, warm, and cold by some.

    Parameters
    ----------
    files
    totals
        `reading.checksum` of what each read must give, by file/pattern.
    libraries
        Readers; those that do not read a file are left out.
    every
        One in so many reads is taken, by chance but the same each time, for a quick look.
    """
    if not totals:
        return  # nothing was made: figures are drawn from records
    random = np.random.default_rng(every)
    for file in files:
        for library in (name for name in readers(file.layout) if name in libraries):
            for pattern, selection in file.selections.items():
                for cache in ("warm", "cold") if library in COLD else ("warm",):
                    left_out = random.random() * every > 1
                    if (cache == "cold" and pattern == "strided") or left_out:
                        continue
                    yield _one(file, library, pattern, selection, cache, totals)


def _one(
    file: Trial,
    library: str,
    pattern: str,
    selection: Selection,
    cache: str,
    totals: Mapping[str, int],
) -> Measured:
    read = Read(
        file.shape, file.dtype, file.layout, (selection,), library, file.chunk_bytes, cache=cache
    )
    return Measured(
        f"{file.name}/{library}/{pattern}",
        Reading(file.path, read),
        totals[f"{file.name}/{pattern}"],
        {"pattern": pattern, "size": file.name},
    )


def cases(reads: Sequence[Measured]) -> list[Case]:
    """Return the reads as cases, with a pair of equal ones for each cache state.

    Parameters
    ----------
    reads
        From `held_out`.
    """
    seen: set[str] = set()
    found = []
    for one in reads:
        cache = one.reading.read.cache
        found.append(one.case(aa=cache not in seen))
        seen.add(cache)
    return found


def costs(
    seconds: float,
    workdir: Path,
    *,
    few: bool = False,
    side: int | None = None,
    kept: Path | None = None,
) -> list[dict[str, object]]:
    """Calibrate this machine and return what came of it, as rows of records.

    Parameters
    ----------
    seconds, side
        See `calibrate`.
    workdir
        On the disk that cold reads are about.
    few
        Only some libraries and codecs.
    kept
        A folder where the calibration is kept, unless it has only a few.
    """
    libraries, codecs = (FEW, ("deflate",)) if few else (LIBRARIES, CODECS)
    found = calibrate(seconds, libraries, codecs=codecs, workdir=workdir, side=side, progress=False)
    if kept and not few:
        found.save(kept)
    return [*cost_rows(found)]


def predictions(reads: Iterable[Measured], calibration: Calibration) -> Iterator[dict[str, object]]:
    """Yield what is predicted of each read, blind and with a probe of its file.

    Parameters
    ----------
    reads
    calibration

    Yields
    ------
    dict
        A row of records: `mode` is "blind" or "probed"; `wall_s` is the prediction, `hints` the
        part that takes most, and counts are beside.
    """
    known: dict[tuple[Path, str], float | None] = {}
    with Processes(MODULES) as running:
        for one in reads:
            read = one.reading.read
            if path(read) not in calibration.ways or not _calibrated(read, calibration):
                continue
            engine = ENGINES.get(read.library, read.library)
            if (key := (one.reading.path, engine)) not in known:
                known[key] = probe(one.reading, calibration, running).decode_s
            yield from _rows(one, known[key], calibration)


def _rows(
    one: Measured, decode_s: float | None, calibration: Calibration
) -> Iterator[dict[str, object]]:
    read = one.reading.read
    for mode, asked in (("blind", read), ("probed", replace(read, decode_s=decode_s))):
        found = predict(asked, calibration)
        yield {
            "case": one.name,
            "cache_state": read.cache,
            "library": read.library,
            **read.layout.record(),
            **one.columns,
            "mode": mode,
            "phase": "read",
            "wall_s": found.seconds,
            "hints": found.most,
            "useful_bytes": found.counts.useful_bytes,
            "predicted_reads": found.counts.fetched,
            "predicted_bytes": found.counts.stored_bytes,
        }


def _calibrated(read: Read, calibration: Calibration) -> bool:
    decoder = codec(read).partition("/")[2]
    return not decoder or decoder in calibration.codecs(read.library)


def cost_rows(calibration: Calibration) -> Iterator[dict[str, object]]:
    """Yield a calibration as rows of records: a cost a row, and what the whole of it took.

    Examples
    --------
    >>> made = Calibration({"h5py/chunked:first": 1e-3}, {"": (0.9, 1.1)}, {}, {}, "", 9, 2.0)
    >>> [row["mode"] for row in cost_rows(made)]
    ['cost', 'spread', 'spread', 'made']
    """
    for name, cost in calibration.costs.items():
        yield {"case": name, "mode": "cost", "wall_s": cost}
    for name, ends in calibration.spread.items():
        for end, factor in zip(("low", "high"), ends, strict=True):
            yield {"case": name, "mode": "spread", "hints": end, "wall_s": factor}
    samples = float(calibration.samples)
    yield {"case": "calibration", "mode": "made", "points": samples, "wall_s": calibration.took_s}


def from_rows(rows: Iterable[Mapping[str, Any]]) -> Calibration:
    """Return the calibration that `cost_rows` gave.

    Parameters
    ----------
    rows
        As mappings.

    Examples
    --------
    >>> made = Calibration({"h5py/chunked:first": 1e-3}, {"": (0.9, 1.1)}, {}, {}, "", 9, 2.0)
    >>> from_rows(cost_rows(made)).spread
    {'': (0.9, 1.1)}
    """
    costs: dict[str, float] = {}
    ends: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["mode"] == "cost":
            costs[str(row["case"])] = float(row["wall_s"])
        elif row["mode"] == "spread":
            ends.setdefault(str(row["case"]), {})[str(row["hints"])] = float(row["wall_s"])
    spread = {name: (found["low"], found["high"]) for name, found in ends.items()}
    return Calibration(costs, spread, {}, {}, "", 0, 0.0)


def refusals(calibration: Calibration) -> Iterator[dict[str, object]]:
    """Yield what the model says of reads that it cannot know, as rows of records.

    Parameters
    ----------
    calibration
    """
    here = Read((8, 8), "f4", Layout("netcdf4"), (...,), "h5py")
    shuffled = Layout("hdf5", chunks=(4, 4), codec="szip", shuffle=True)
    asked = {
        "a codec": replace(here, layout=shuffled, chunk_bytes=9.0),
        "a library": replace(here, library="hidefix"),
    }
    for name, read in asked.items():
        try:
            predict(read, calibration)
        except UncalibratedError as error:
            yield {"case": name, "hints": f"{type(error).__name__}: {error}"}
