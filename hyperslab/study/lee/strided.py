"""Every tenth element of an array: strided selections from C and from Python."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...io.work import NAME, Equals, Values
from ...measure.case import Case, Stopwatch
from ...measure.records import main
from ...measure.stats import Interval, median_interval, paired_ratio
from .hyperslabs import columns_of, possible
from .hyperslabs_samples import note_seconds, ready
from .hyperslabs_ways import WAYS

STEP = 10
PATTERNS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"both": (STEP, STEP), "columns": (1, STEP), "rows": (STEP, 1)}
)
"""Steps along rows and columns, by name: what every tenth is taken of."""
INDICES: Mapping[str, str] = MappingProxyType(
    {"both": "[::10, ::10]", "columns": "[:, ::10]", "rows": "[::10, :]"}
)
STRIDED = ("c", "hdf5-c", "h5py", "python-plain", "python-vars", "python-pieces", "python-whole")
CHUNKED = ("h5py", "python-plain")  # from C the same calls are made


@dataclass(frozen=True)
class Strided:
    """Read every tenth element along rows, columns and both: a phase read for each.

    The file is opened anew for each, so that no library keeps what the last one read.

    Parameters
    ----------
    path : Path
    way : str
        One of `WAYS`.
    """

    path: Path
    way: str

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        way = ready(self.way)
        found = []
        for pattern, step in PATTERNS.items():
            with watch("open"):
                file = way.open(self.path)
            read, cache = file.strided(step), file.cache_bytes()
            with watch("read", pattern=pattern, cache_bytes=cache):
                values, seconds = read()
            note_seconds(watch, seconds)
            watch.note(useful_bytes=values.nbytes)
            with watch("close"):
                file.close()
            found.append(np.ravel(values))
        return np.concatenate(found)


@dataclass(frozen=True)
class Tenths:
    """Make what `Strided` returns.

    Parameters
    ----------
    values : callable
        Returns the array.
    """

    values: Values

    def __call__(self) -> NDArray[Any]:
        array = self.values()
        return np.concatenate([array[::y, ::x].ravel() for y, x in PATTERNS.values()])


def cases(side: int, values: Values, folder: Path) -> list[Case]:
    """Return one strided read for each way and layout, warm.

    Parameters
    ----------
    side : int
        Rows and columns of the array.
    values : callable
        Returns it.
    folder : Path
        Where `make_files` wrote it.
    """
    return [
        Case(
            f"strided/{way}/{layout}",
            Strided(folder / f"{layout}.nc", way),
            check=Equals(Tenths(values)),
            columns=columns_of(WAYS[way], layout, side),
            files=(folder / f"{layout}.nc",),
            cache_state="warm",
        )
        for layout, ways in (("contiguous", STRIDED), ("chunked", CHUNKED))
        for way in ways
        if possible(way)
    ]


def pieces(folder: Path, scratch: Path) -> Iterator[dict[str, object]]:
    """Yield how many calls netCDF4-python makes of netCDF-C for one selection, in ``stages``.

    They are counted as they happen: every call goes through one method of the variable.

    Parameters
    ----------
    folder : Path
        Where `make_files` wrote the array.
    scratch : Path
        Where an array as large may be written.
    """
    import netCDF4

    calls: list[int] = []
    kind: Any = netCDF4.Variable  # its types do not know the methods

    def got(self: Any, *where: Any) -> Any:
        calls.append(1)
        return kind._get(self, *where)

    def put(self: Any, *what: Any) -> None:
        calls.append(1)
        kind._put(self, *what)

    counting: Any = type("Counting", (kind,), {"_get": got, "_put": put})
    scratch.mkdir(parents=True, exist_ok=True)
    written = scratch / "strided.nc"
    shutil.copy(folder / "contiguous.nc", written)
    version = f"{netCDF4.__version__} (netCDF-C {netCDF4.__netcdf4libversion__})"
    with netCDF4.Dataset(written, "r+") as file:
        known: Any = file[NAME]
        for pattern, (y, x) in PATTERNS.items():
            for way in ("python-plain", "python-pieces"):
                variable = counting(file, NAME, "i4", known.get_dims(), id=known._varid)
                for method, value in WAYS[way].settings.items():
                    getattr(variable, method)(value)
                row = {"case": way, "pattern": pattern, "library": "netCDF4"}
                row["library_version"] = version
                calls.clear()
                taken = variable[::y, ::x]
                yield row | {"phase": "read", "stages": len(calls)}
                calls.clear()
                variable[::y, ::x] = taken
                yield row | {"phase": "write", "stages": len(calls)}
    written.unlink()


def compares_as_text(version: str) -> bool:
    """Return whether a version of netCDF-C is taken for older than 4.6.2 when it is text.

    netCDF4-python 1.7.5 decides so whether a strided selection is one call or many.

    Examples
    --------
    >>> compares_as_text("4.9.3"), compares_as_text("4.10.1")
    (False, True)
    """
    return not version >= "4.6.2"


def times(records: pd.DataFrame) -> pd.DataFrame:
    """Return the time of each strided selection, and its ratio to netCDF-C's from C.

    Parameters
    ----------
    records : pandas.DataFrame
        Those that `hyperslabs_rates.parts` calls strided.

    Returns
    -------
    pandas.DataFrame
        way, layout, pattern, ms, low, high (median and 95 % interval), slower (time over that of
        ``c``, an Interval, or None without it), each (seconds by block), syscr, rchar,
        cache_bytes, useful_bytes (medians), n.
    """
    part = main(records)
    part = part[part["phase"] == "read"]
    found = []
    for (pattern, case), rows in part.groupby(["pattern", "case"], sort=False):
        way, layout = str(case).split("/")
        seconds = rows.set_index("block")["wall_s"]
        median = median_interval(1e3 * seconds.to_numpy())
        same = part[(part["pattern"] == pattern) & (part["case"] == f"c/{layout}")]
        pair = pd.concat([seconds, same.set_index("block")["wall_s"]], axis=1).dropna().to_numpy()
        found.append(
            {
                "way": way,
                "layout": layout,
                "pattern": pattern,
                "ms": median.value,
                "low": median.low,
                "high": median.high,
                "slower": paired_ratio(pair[:, 0], pair[:, 1]) if len(pair) else None,
                "each": seconds,
                "syscr": rows["syscr"].median(),
                "rchar": rows["rchar"].median(),
                "cache_bytes": rows["cache_bytes"].median(),
                "useful_bytes": rows["useful_bytes"].median(),
                "n": median.n,
            }
        )
    return pd.DataFrame(found)


def over(timed: pd.DataFrame, way: str, other: str, pattern: str) -> Interval:
    """Return the time of one way over another's, contiguous, paired by block.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `times`.
    way, other : str
        Of `STRIDED`.
    pattern : str
        Of `PATTERNS`.
    """
    part = timed[(timed["layout"] == "contiguous") & (timed["pattern"] == pattern)]
    each = part.set_index("way")["each"]
    pair = pd.concat([each[way], each[other]], axis=1).dropna().to_numpy()
    return paired_ratio(pair[:, 0], pair[:, 1])
