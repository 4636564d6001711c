"""Reads of a netCDF file through every layer, and of files in chunks of many sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from ...measure.case import Case
from ...measure.records import main
from ...measure.stats import median_interval
from . import plan
from .files import ITEMSIZE, VARIABLE, Files, truth
from .plan import Cell, cells, size_bytes, size_name

NAMES = {
    "c-fread": "C, fread",
    "c-pread": "C, pread",
    "netcdf-c": "netCDF-C",
    "python-read": "Python, read",
    "python-readinto": "Python, readinto",
    "numpy-fromfile": "numpy.fromfile",
    "numpy-memmap": "numpy.memmap",
    "netcdf4-python": "netCDF4-python",
    "netcdf4-python-plain": "netCDF4-python, no masking",
    "h5py": "h5py",
    "h5netcdf": "h5netcdf",
    "xarray": "xarray",
    "zarr": "Zarr",
}
"""The readers as the page calls them, in the order of its tables."""
LAYERS = (
    "c-fread",
    "netcdf-c",
    "python-read",
    "netcdf4-python",
    "netcdf4-python-plain",
    "h5py",
)
"""Read sequentially, cold and warm: Figures 6 to 8."""
OTHERS = ("c-pread", "python-readinto", "numpy-fromfile", "numpy-memmap", "h5netcdf", "xarray")
"""Read sequentially from memory, for what they cost."""
NETCDF = ("netcdf-c", "netcdf4-python")
"""Read in all patterns: Figure 6."""
FEWER = ("4KiB", "64KiB", "1MiB", "8MiB", "64MiB")
"""Sizes of buffers of the reads that no claim needs, where a profile has few sizes."""
H5NETCDF = ("64KiB", "1MiB", "8MiB")
"""Sizes of buffers that h5netcdf reads cold: Figure 8."""
COUNTED = ("512B", "4KiB", "64KiB", "1MiB")
"""Sizes of buffers for which bytes and calls are counted."""
LARGE = "64MiB"
"""The buffer whose page faults are counted with and without huge pages."""
SMALL_PAGES = "+small-pages"
"""What follows a reader's name where numpy may not ask for huge pages."""
CHUNKS = ("4KiB", "64KiB", "256KiB", "1MiB", "4MiB", "16MiB")
"""Sizes of chunks; the chunk cache of a variable holds the largest."""
CHUNK_BUFFER = "1MiB"
"""The buffer that chunked files are read in: the size that the document recommends."""
JUDGED = ("512B", "4KiB")
"""Random reads from memory that claims compare."""
FIGURE_6 = {"slow below": "64KiB", "fastest at": "1MiB", "slower from": "8MiB"}
"""What the document says of netCDF4-python's rate; its Figure 6 gives no numbers."""


def pattern_cases(
    files: Mapping[str, Files],
    sizes: tuple[str, ...],
    limit_s: float,
    *,
    others: tuple[str, ...] = OTHERS,
) -> list[Case]:
    """Return the reads of the experiment "patterns".

    Parameters
    ----------
    files : mapping
        From "cold" and "warm" to files; what is missing is left out.
    sizes : tuple of str
        Of buffers.
    limit_s : float
        Seconds after which a sample stops.
    others : tuple of str
        Readers that are read from memory only.
    """
    layers = cells(LAYERS, ["sequential"], sizes)
    fewer = [size for size in sizes if size in FEWER or len(sizes) > 2 * len(FEWER)]
    wanted = {
        "cold": [
            *layers,
            *cells(NETCDF, ["strided", "random"], fewer),
            *cells(["h5netcdf"], ["sequential"], [size for size in H5NETCDF if size in sizes]),
        ],
        "warm": [
            *layers,
            *cells(others, ["sequential"], fewer),
            *cells(NETCDF, ["random"], [size for size in JUDGED if size in sizes]),
        ],
    }
    return [
        case
        for state, found in files.items()
        for case in plan.cases(wanted[state], {state: found}, limit_s)
    ]


def count_cases(
    files: Files,
    sizes: tuple[str, ...],
    limit_s: float,
    *,
    others: tuple[str, ...] = OTHERS,
) -> list[Case]:
    """Return the reads whose bytes and calls are counted, which come out the same every time.

    Parameters
    ----------
    files : Files
        That stay in memory.
    sizes : tuple of str
        Of buffers; those of `COUNTED` are read.
    limit_s : float
        Seconds after which a sample stops.
    others : tuple of str
        Readers beside `LAYERS`; with "zarr" each sample starts a new interpreter.
    """
    late = [name for name in others if name == "zarr"]
    counted = [size for size in COUNTED if size in sizes]
    wanted = cells([*LAYERS, *others], ["random"], counted)
    wanted += cells(LAYERS, ["strided"], counted)
    wanted += cells(late, ["sequential"], sizes)
    found = plan.cases(wanted, {"warm": files}, limit_s)
    if LARGE in sizes:
        for cell in cells(["numpy-fromfile", "netcdf4-python"], ["sequential"], [LARGE]):
            case = plan.case(cell, files, "warm", limit_s)
            name = replace(cell, reader=f"{cell.reader}{SMALL_PAGES}").name
            found += [case, replace(case, name=name, prepare=SmallPages())]
    return found


@dataclass(frozen=True)
class SmallPages:
    """Keep numpy from asking for huge pages, as NUMPY_MADVISE_HUGEPAGE=0 does before it starts."""

    def __call__(self) -> None:
        from numpy._core import multiarray

        multiarray._set_madvise_hugepage(False)  # type: ignore[attr-defined]


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


def chunk_cases(files: Mapping[str, ChunkedFiles]) -> list[Case]:
    """Return the reads of whole files in chunks, 1 MiB at a time.

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
            case = plan.case(cell, chunked.of(size), state, float("inf"), aa=size == CHUNK_BUFFER)
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
        chunk (its name), chunk_bytes, state, rate, low, high (bytes a second), calls (read calls
        of the system in all), amplification (bytes read over bytes asked for).
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
                "calls": float(part["syscr"].median()),
                "amplification": float((part["rchar"] / part["useful_bytes"]).median()),
            }
        )
    return pd.DataFrame(found)
