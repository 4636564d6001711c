"""A mean over time of several files, by dask's workers, with chunks that fit the files' or not."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...measure.case import Case, Stopwatch
from ...measure.counters import Counters
from .local_files import VARIABLE
from .reduce_files import LAYOUT, FileSet
from .workers import Workers

if TYPE_CHECKING:
    from distributed import Client
    from xarray import DataArray

BANDS = 4
"""Of latitude, in which dask's chunks cut each map where they do not fit."""
MAPS = 6
"""In a chunk of dask's where they fit."""
ALIGNED, MISALIGNED = "aligned", "misaligned"
CACHED, INDEXED = "misaligned-cached", "misaligned-indexed"
TASKS = "tasks"
MODULES = (
    "netCDF4", "h5netcdf.legacyapi", "xarray", "dask.array", "distributed",
    "hyperslab.study.scaling.reduce", "hyperslab.subchunk",
)  # fmt: skip
_RTOL = 1e-9  # sums of doubles, in another order

Spent = tuple[float, float, float, float]


@dataclass(frozen=True)
class Chunking:
    """How dask cuts the files.

    Parameters
    ----------
    engine : str
        Of xarray.
    bands : int
        Parts of a map, each a chunk over all of a file's time; 0 for `MAPS` whole maps a chunk.
    """

    engine: str
    bands: int

    def chunks(self, rows: int) -> dict[str, int]:
        """Return what `xarray.open_mfdataset` takes, for maps of so many rows.

        Examples
        --------
        >>> Chunking("netcdf4", 0).chunks(380), Chunking("netcdf4", 4).chunks(380)
        ({'time': 6}, {'time': -1, 'lat': 95, 'lon': -1})
        """
        if not self.bands:
            return {"time": MAPS}
        return {"time": -1, "lat": -(-rows // self.bands), "lon": -1}


CHUNKINGS: Mapping[str, Chunking] = MappingProxyType(
    {
        ALIGNED: Chunking("h5netcdf", 0),
        MISALIGNED: Chunking("h5netcdf", BANDS),
        CACHED: Chunking("netcdf4", BANDS),
        INDEXED: Chunking("subchunk", BANDS),
    }
)


@dataclass(frozen=True)
class Reduce:
    """Take the mean over time: phases open, which makes the graph, and compute.

    What a phase cost the workers stands in the records of compute, in place of this process's own.

    Parameters
    ----------
    paths : tuple of Path
    scheduler : str
        Its address.
    workers : tuple of str
        Addresses of those that may work.
    chunking : Chunking
    """

    paths: tuple[Path, ...]
    scheduler: str
    workers: tuple[str, ...]
    chunking: Chunking

    def __call__(self, watch: Stopwatch) -> NDArray[np.float64]:
        from distributed import Client

        with Client(self.scheduler, timeout=60) as client:  # type: ignore[no-untyped-call]
            cost = _Cost(client, self.workers)
            with watch("open"):
                data = self.opened()
                mean = data.astype("f8").mean("time")
            with watch("compute"):
                found = client.compute(mean, **cost.only).result().values
            cost.note(watch)
            data.close()
        watch.note(tasks=_tasks(mean), useful_bytes=data.nbytes)
        return np.asarray(found)

    def opened(self) -> DataArray:
        """Open the files as one array, in dask's chunks."""
        import xarray as xr

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The specified chunks separate")
            data = xr.open_mfdataset(
                list(self.paths),
                engine=self.chunking.engine,
                chunks=self.chunking.chunks((LAYOUT.chunks or ())[-2]),
                combine="nested",
                concat_dim="time",
                data_vars="minimal",
                coords="minimal",
                compat="override",
                join="override",
            )
        return data[VARIABLE]


@dataclass(frozen=True)
class DoNothing:
    """Have workers do tasks of nothing: phase compute.

    Parameters
    ----------
    scheduler : str
    workers : tuple of str
    tasks : int
    """

    scheduler: str
    workers: tuple[str, ...]
    tasks: int

    def __call__(self, watch: Stopwatch) -> int:
        from distributed import Client

        with Client(self.scheduler, timeout=60) as client:  # type: ignore[no-untyped-call]
            cost = _Cost(client, self.workers)
            with watch("compute"):
                futures = client.map(abs, range(self.tasks), pure=False, **cost.only)
                found = client.gather(futures)
            cost.note(watch)
        watch.note(tasks=self.tasks)
        return sum(found)


@dataclass(frozen=True)
class IsMean:
    """Check that a mean is that of the maps as they were drawn, in double precision.

    Parameters
    ----------
    truth : Path
    """

    truth: Path

    def __call__(self, found: object) -> bool:
        return isinstance(found, np.ndarray) and np.allclose(
            found, np.load(self.truth), rtol=_RTOL, atol=0, equal_nan=True
        )


@dataclass(frozen=True)
class IsSum:
    """Check that all tasks were done.

    Parameters
    ----------
    tasks : int

    Examples
    --------
    >>> IsSum(4)(0 + 1 + 2 + 3)
    True
    """

    tasks: int

    def __call__(self, found: object) -> bool:
        return found == self.tasks * (self.tasks - 1) // 2


def cases(files: FileSet, offered: Workers, several: Iterable[int], tasks: int) -> list[Case]:
    """Return the mean with each chunking, and tasks of nothing, by some numbers of workers.

    Parameters
    ----------
    files : FileSet
    offered : Workers
    several : iterable of int
        How many work.
    tasks : int
        Of nothing.
    """
    found = []
    for count in several:
        chosen = offered.addresses[:count]
        for name, chunking in CHUNKINGS.items():
            found.append(
                Case(
                    f"{name}/workers-{count}",
                    Reduce(files.paths, offered.scheduler, chosen, chunking),
                    check=IsMean(files.truth),
                    columns={
                        **LAYOUT.record(),
                        "library": "xarray",
                        "pattern": "mean over time",
                        "mode": name,
                        "ranks": count,
                        "predicted_reads": files.files * files.frames * max(chunking.bands, 1),
                    },
                    files=files.paths,
                    cache_state="warm",
                    aa=(name, count) == (ALIGNED, 1),
                    pinned=False,
                )
            )
        found.append(
            Case(
                f"{TASKS}/workers-{count}",
                DoNothing(offered.scheduler, chosen, tasks),
                check=IsSum(tasks),
                columns={"library": "distributed", "mode": TASKS, "ranks": count},
                files=files.paths,
                cache_state="warm",
                pinned=False,
            )
        )
    return found


def numbers(most: int) -> tuple[int, ...]:
    """Return how many workers are tried: doubling up to all.

    Examples
    --------
    >>> numbers(2), numbers(6)
    ((1, 2), (1, 2, 4, 6))
    """
    return tuple(dict.fromkeys([*(2**k for k in range(12) if 2**k < most), most]))


class _Cost:
    """What workers spend from now on; `only` has dask take no others."""

    def __init__(self, client: Client, workers: Sequence[str]) -> None:
        self._client, self._workers = client, list(workers)
        self._before = self._spent()
        self.only: dict[str, Any] = {"workers": self._workers, "allow_other_workers": False}

    def note(self, watch: Stopwatch) -> None:
        """Note it in the last phase, in place of what this process spent."""
        after = self._spent()
        user, system, rchar, syscr = (
            sum(after[one][place] - self._before[one][place] for one in self._workers)
            for place in range(4)
        )
        watch.note(user_s=user, sys_s=system, rchar=rchar, syscr=syscr)
        watch.elsewhere(user + system)

    def _spent(self) -> dict[str, Spent]:
        found = self._client.run(spent, workers=self._workers)
        return dict(found)


def _tasks(lazy: Any) -> int:
    """Return how many tasks the graph of a computation has before they are fused."""
    return len(dict(lazy.__dask_graph__()))


def spent() -> Spent:
    """Return what this process has spent: CPU seconds of user and system, bytes and calls read."""
    counts = _counters().start()
    return counts.user_s, counts.sys_s, counts.rchar, counts.syscr


@cache
def _counters() -> Counters:
    return Counters()
