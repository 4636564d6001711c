"""Try the model on files that calibration has not seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from hyperslab.access.registry import readers
from hyperslab.storage.layout import Layout
from hyperslab.storage.region import Selection

from ..calibration import Calibration
from ..predict import predict
from ..probe import probe
from ..read import Read
from .reading import Measured, Reading

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
        Only every so many-th read is taken, for a quick look.
    """
    count = 0
    for file in files:
        for library in (name for name in readers(file.layout) if name in libraries):
            for pattern, selection in file.selections.items():
                for cache in ("warm", "cold") if library in COLD else ("warm",):
                    count += 1
                    if (cache == "cold" and pattern == "strided") or count % every:
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
    for one in reads:
        read = one.reading.read
        key = one.reading.path, read.library
        if key not in known:
            known[key] = probe(one.reading, calibration).decode_s
        for mode, asked in (("blind", read), ("probed", replace(read, decode_s=known[key]))):
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
