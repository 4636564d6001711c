"""One file for each size of chunk, read from its beginning."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from ...measure.case import Case
from ...measure.records import main
from ...measure.stats import median_interval
from . import plan
from .files import ITEMSIZE, VARIABLE, Files, truth
from .plan import Cell, size_bytes, size_name
from .reads import LONGEST_S

CHUNKS = ("4KiB", "64KiB", "256KiB", "1MiB", "4MiB", "16MiB")
"""Sizes of chunks; the chunk cache of a variable holds the largest."""
CHUNK_BUFFER = "1MiB"
"""The buffer that chunked files are read in: the size that the document recommends."""


@dataclass(frozen=True)
class ChunkedFiles:
    """One file for each size of chunk.

    Parameters
    ----------
    folder : Path
    values : int
        How many each of them holds.
    """

    folder: Path
    values: int

    @property
    def sizes(self) -> tuple[str, ...]:
        """The sizes of chunks that the variable can fill."""
        return tuple(size for size in CHUNKS if size_bytes(size) <= self.values * ITEMSIZE)

    def of(self, size: str) -> Files:
        """Return the file in chunks of one size."""
        return Files(self.folder / size, self.values)

    def make(self) -> None:
        """Write the files."""
        import netCDF4

        values = truth(0, self.values)
        for size in self.sizes:
            path = self.of(size).path("netcdf4")
            path.parent.mkdir(parents=True, exist_ok=True)
            with netCDF4.Dataset(path, "w") as file:
                file.createDimension("x", self.values)
                chunk = (size_bytes(size) // ITEMSIZE,)
                variable = file.createVariable(VARIABLE, "f8", ("x",), chunksizes=chunk)
                variable[:] = values


def cases(files: Mapping[str, ChunkedFiles]) -> list[Case]:
    """Return the reads of files in chunks, 1 MiB at a time, to their end or for 10 s.

    Parameters
    ----------
    files : mapping
        From cache state to files.
    """
    found = []
    for state, chunked in files.items():
        buffer = min(size_bytes(CHUNK_BUFFER), chunked.values * ITEMSIZE)
        for size in chunked.sizes:
            cell = Cell("netcdf4-python", "sequential", size_name(buffer))
            case = plan.case(cell, chunked.of(size), state, LONGEST_S, aa=size == CHUNK_BUFFER)
            chunk = size_bytes(size)
            columns = {**case.columns, "chunks": str(chunk // ITEMSIZE), "chunk_bytes": chunk}
            found.append(replace(case, name=f"netcdf4-python/{size}", columns=columns))
    return found


def by_chunk(records: pd.DataFrame) -> pd.DataFrame:
    """Return the rate of each size of chunk.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "chunk-sizes".

    Returns
    -------
    pandas.DataFrame
        chunk (its name), chunk_bytes, state, rate, low, high (bytes a second), n (blocks), user
        (seconds of CPU time outside the system for each MiB), calls (read calls of the system for
        each), amplification (bytes read over bytes asked for), least (bytes that a sample read).
    """
    rows = main(records)
    rows = rows[rows["phase"] == "read"]
    found = []
    for _, part in rows.groupby(["cache_state", "chunk_bytes"]):
        rate = median_interval(part["useful_bytes"] / part["wall_s"])
        nbytes = int(part["chunk_bytes"].iloc[0])
        found.append(
            {
                "chunk": size_name(nbytes),
                "chunk_bytes": nbytes,
                "state": part["cache_state"].iloc[0],
                "rate": rate.value,
                "low": rate.low,
                "high": rate.high,
                "n": rate.n,
                "user": float((part["user_s"] / part["useful_bytes"]).median()) * 2**20,
                "calls": float((part["syscr"] / part["useful_bytes"]).median()) * 2**20,
                "least": float(part["useful_bytes"].min()),
                "amplification": float((part["rchar"] / part["useful_bytes"]).median()),
            }
        )
    return pd.DataFrame(found)
