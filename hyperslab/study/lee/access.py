"""A column read and written against the storage order (Lee et al. 2008, section 4.1)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...measure.case import Case
from ...measure.records import main
from ...measure.stats import Interval, median_interval, middle_eight, paired_ratio
from ...storage.layout import Layout
from ...storage.selection import column
from ...storage.variable import Variable
from ...storage.write import create
from ..tasks import NAME, Equals, Holds, Overwrite, Read, Remove, Values, Write

ROWS, COLUMNS = 16384, 512
COLUMN = 100

# Figure 7: the axis says microseconds; see `plausible_rates`.
FIGURE_7 = {
    "netcdf3": 860.95,
    "netcdf4-contiguous": 812.48,
    "4096x1": 0.70,
    "8192x1": 0.63,
    "16384x1": 0.54,
}
SEEK_MS = 5.2  # of the drive of the document's AMD machine
DOCUMENT_NAMES = {
    "netcdf3": "netCDF-3",
    "netcdf4-contiguous": "netCDF-4 contiguous",
    "4096x1": "netCDF-4 [4096][1]",
    "8192x1": "netCDF-4 [8192][1]",
    "16384x1": "netCDF-4 [16384][1]",
}


@dataclass(frozen=True)
class ColumnOf:
    """Make one column of an array that `values` returns.

    Parameters
    ----------
    values : callable
        Returns the two-dimensional array.
    index : int
    """

    values: Callable[[], NDArray[Any]]
    index: int = COLUMN

    def __call__(self) -> NDArray[Any]:
        return np.ascontiguousarray(self.values()[:, self.index])


def layouts(rows: int) -> dict[str, Layout]:
    """Return the five layouts of Table 4, by name.

    Parameters
    ----------
    rows : int
        Rows of the array; chunks are a quarter, a half and all of them, one column wide.

    Examples
    --------
    >>> list(layouts(16384))
    ['netcdf3', 'netcdf4-contiguous', '4096x1', '8192x1', '16384x1']
    """
    found = {
        "netcdf3": Layout("netcdf3"),
        "netcdf4-contiguous": Layout("netcdf4"),
    }
    for name, parts in (("4096x1", 4), ("8192x1", 2), ("16384x1", 1)):
        found[name] = Layout("netcdf4", chunks=(rows // parts, 1))
    return found


def paths(rows: int, folder: Path) -> dict[str, Path]:
    """Return where the file of each layout lies."""
    return {name: folder / f"{name}{layout.suffix}" for name, layout in layouts(rows).items()}


def make_files(rows: int, values: Values, folder: Path) -> None:
    """Write the array in each layout once, where `paths` says.

    Parameters
    ----------
    rows : int
    values : callable
        Returns the int32 array of shape (rows, columns).
    folder : Path
        Made when missing; files there are written again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    array = values()
    places = paths(rows, folder)
    for name, layout in layouts(rows).items():
        variable = Variable(NAME, ("y", "x"), array.shape, "i4")
        # A cache for all chunks: whole rows arrive, and each touches every chunk.
        with create(
            places[name],
            [variable],
            layout,
            chunk_cache_bytes=2 * array.nbytes if layout.chunks else None,
            overwrite=True,
        ) as writer:
            writer.write(NAME, ..., array)
            writer.sync()


def read_cases(rows: int, columns: int, values: Values, folders: dict[str, Path]) -> list[Case]:
    """Return one read of a column from each layout, cold and warm.

    Parameters
    ----------
    rows, columns : int
    values : callable
        Returns the array.
    folders : dict
        Where the files lie, by cache state. Cold and warm reads need files of their own: a file
        that was evicted comes back in other pieces of memory, which alone makes a warm read up
        to a tenth quicker or slower.
    """
    return [
        Case(
            name,
            Read(path, "netcdf4", column((rows, columns), COLUMN), chill=True),
            check=Equals(ColumnOf(values)),
            columns=_columns(layouts(rows)[name]) | {"pattern": "column"},
            files=(path,),
            cache_state=state,
            aa=name == "netcdf4-contiguous",
        )
        for state, folder in folders.items()
        for name, path in paths(rows, folder).items()
    ]


def write_cases(rows: int, columns: int, values: Values, folder: Path) -> list[Case]:
    """Return one write of a column into each file that exists."""
    files = paths(rows, folder)
    return [
        Case(
            name,
            Overwrite(files[name], ColumnOf(values), column((rows, columns), COLUMN)),
            check=Holds(files[name], "h5py" if name != "netcdf3" else "netcdf4", values),
            columns=_columns(layout) | {"pattern": "column"},
            aa=name == "netcdf4-contiguous",
        )
        for name, layout in layouts(rows).items()
    ]


def new_file_cases(rows: int, columns: int, values: Values, scratch: Path) -> list[Case]:
    """Return one write of a column into a new file of each layout."""
    found = []
    selection = column((rows, columns), COLUMN)
    for name, layout in layouts(rows).items():
        path = scratch / f"new-{name}{layout.suffix}"
        library = "h5py" if name != "netcdf3" else "netcdf4"
        found.append(
            Case(
                name,
                Write(path, (rows, columns), ColumnOf(values), layout, selection),
                check=Holds(path, library, ColumnOf(values), selection),
                columns=_columns(layout) | {"pattern": "column"},
                prepare=Remove(path),
                cleanup=Remove(path),
                aa=name == "netcdf4-contiguous",
            )
        )
    return found


def times(records: pd.DataFrame, phases: tuple[str, ...]) -> pd.DataFrame:
    """Return the time of each layout and cache state, and its ratio to netCDF-3's.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment.
    phases : tuple of str
        Those whose seconds are summed.

    Returns
    -------
    pandas.DataFrame
        case, cache_state, ms, low, high, mean8 (milliseconds), gain (netCDF-3's time over this
        one's, an Interval), n.
    """
    timed = main(records)
    timed = timed[timed["phase"].isin(phases)]
    rows = []
    for state, part in timed.groupby("cache_state"):
        table = part.groupby(["block", "case"])["wall_s"].sum().unstack("case")
        for case in FIGURE_7:
            pair = (
                table[["netcdf3", case]].dropna() if case != "netcdf3" else table[[case]].dropna()
            )
            seconds = table[case].dropna().to_numpy()
            median = median_interval(1e3 * seconds)
            gain = (
                paired_ratio(pair["netcdf3"].to_numpy(), pair[case].to_numpy())
                if case != "netcdf3"
                else Interval(1.0, 1.0, 1.0, median.n)
            )
            rows.append(
                {
                    "case": case,
                    "cache_state": state,
                    "ms": median.value,
                    "low": median.low,
                    "high": median.high,
                    "mean8": 1e3 * middle_eight(seconds) if seconds.size > 2 else float("nan"),
                    "gain": gain,
                    "n": median.n,
                }
            )
    return pd.DataFrame(rows)


def opening_bytes(records: pd.DataFrame) -> float:
    """Return the bytes that opening a file asked for, median over all layouts and blocks."""
    return float(records[records["phase"] == "open"]["rchar"].median())


def counts(records: pd.DataFrame) -> pd.DataFrame:
    """Return what a read of the column asks of the system, by layout: cold, where there is any.

    Returns
    -------
    pandas.DataFrame
        case, asked (bytes passed through read calls), fetched (bytes that the device gave, with
        read-ahead), calls (read calls), useful (bytes of the column); medians over blocks.
    """
    part = main(records)
    state = "cold" if "cold" in set(part["cache_state"]) else "warm"
    part = part[(part["cache_state"] == state) & (part["phase"] == "read")]
    table = part.groupby("case")[["rchar", "read_bytes", "syscr", "useful_bytes"]].median()
    table = table.rename(
        columns={
            "rchar": "asked",
            "read_bytes": "fetched",
            "syscr": "calls",
            "useful_bytes": "useful",
        }
    )
    return table.reindex(list(FIGURE_7)).reset_index()


def plausible_rates() -> dict[str, float]:
    """Return the rates, in MB/s, that Figure 7 means if its axis is in µs and if it is in ms.

    Examples
    --------
    >>> {unit: round(rate, 1) for unit, rate in plausible_rates().items()}
    {'µs': 38973.7, 'ms': 39.0}
    """
    megabytes = ROWS * COLUMNS * 4 / 1e6
    return {
        "µs": megabytes / (FIGURE_7["netcdf3"] * 1e-6),
        "ms": megabytes / (FIGURE_7["netcdf3"] * 1e-3),
    }


def _columns(layout: Layout) -> dict[str, object]:
    return {"library": "netCDF4", **layout.record()}
