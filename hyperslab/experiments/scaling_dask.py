"""A mean over time of several files, by dask's workers, and tasks that do nothing."""

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..io.experiment import File
from ..measure.case import Stopwatch
from ..measure.counters import Counters
from ..measure.worker import cores

if TYPE_CHECKING:
    from distributed import Client
    from xarray import DataArray

TIMEOUT_S = 10
MODULES = (
    "netCDF4", "h5netcdf.legacyapi", "xarray", "dask.array", "distributed", __name__,
    "hyperslab.subchunk",
)  # fmt: skip
_RTOL = 1e-9  # sums of doubles, in another order


@dataclass(frozen=True)
class Workers:
    scheduler: str = ""
    addresses: tuple[str, ...] = ()


@contextmanager
def offered(
    scheduler: str, count: int = max(cores(), 2), *, drawing: bool = False
) -> Iterator[Workers]:
    """Have workers of one thread each while the body runs: of this scheduler, or started here."""
    if drawing:
        yield Workers()
        return
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        if not scheduler:
            cluster = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=count, threads_per_worker=1,
                host="127.0.0.1", dashboard_address="127.0.0.1:0",
            )  # fmt: skip
            scheduler = stack.enter_context(cluster).scheduler_address
        try:
            # Not dask's own choice: one that could not start would be it all the same, for good.
            client = Client(  # type: ignore[no-untyped-call]
                scheduler, timeout=TIMEOUT_S, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise OSError(
                f"no dask scheduler answers at {scheduler!r} within {TIMEOUT_S} s: start one with "
                "`dask scheduler`, or leave the parameter scheduler empty for workers on this "
                "machine"
            ) from error
        with client:
            addresses = tuple(sorted(client.nthreads()))  # type: ignore[no-untyped-call]
            client.run(exec, f"import {', '.join(MODULES)}")
        if not addresses:
            raise OSError(
                f"the dask scheduler at {scheduler!r} has no workers: start some with "
                f"`dask worker {scheduler}`"
            )
        yield Workers(scheduler, addresses)


def save_mean(arrays: Iterable[Any], fill: float, path: Path) -> None:
    """Save the mean over the steps of arrays, in double precision, without where it is filled."""
    total, count = np.zeros(()), 0
    for array in arrays:
        for step in range(array.shape[0]):
            values = array[step, :, :].astype("f8")
            total = total + np.where(values == fill, np.nan, values)
            count += 1
    np.save(path, total / count)


@dataclass(frozen=True)
class Reduce:
    """Take the mean over time by xarray and dask: phases open (makes the graph) and compute."""

    files: Sequence[File]  # one after another in time
    workers: Workers
    count: int  # how many of them may work
    engine: str  # of xarray
    chunks: Mapping[str, int]  # of dask, by dimension; -1 is a whole one
    truth: Path  # from `save_mean`

    def parts(self, cache_state: str) -> dict[str, Any]:
        first, steps = self.files[0], sum(file.array.shape[0] for file in self.files)
        rows = first.array.shape[1]
        bands = math.ceil(rows / self.chunks.get("lat", rows))
        return {
            "run": self,
            "check": partial(is_mean, self.truth),
            "columns": {
                **first.layout.record(),
                "library": "xarray",
                "pattern": "mean over time",
                "ranks": self.count,
                "predicted_reads": steps * bands,
            },
            "files": tuple(file.path for file in self.files),
            "pinned": False,
        }

    def __call__(self, watch: Stopwatch) -> NDArray[np.float64]:
        from distributed import Client

        chosen = self.workers.addresses[: self.count]
        with Client(self.workers.scheduler, timeout=60) as client:  # type: ignore[no-untyped-call]
            with _charged(client, chosen, watch) as restrictions:
                with watch("open"):
                    data = self.opened()
                    mean = data.astype("f8").mean("time")
                with watch("compute"):
                    values = client.compute(mean, **restrictions).result().values
            data.close()
        graph = mean.__dask_graph__()  # type: ignore[no-untyped-call]
        watch.note(tasks=len(dict(graph)), useful_bytes=data.nbytes)  # before they are fused
        return np.asarray(values)

    def opened(self) -> "DataArray":
        import xarray as xr

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The specified chunks separate")
            data = xr.open_mfdataset(
                [file.path for file in self.files], engine=self.engine, chunks=dict(self.chunks),
                combine="nested", concat_dim="time", data_vars="minimal", coords="minimal",
                compat="override", join="override",
            )  # fmt: skip
        return data[self.files[0].array.variable]


@dataclass(frozen=True)
class DoNothing:
    """Have workers do tasks of nothing, with files in the page cache: phase compute."""

    files: Sequence[Path]
    workers: Workers
    count: int
    tasks: int

    def parts(self, cache_state: str) -> dict[str, Any]:
        return {
            "run": self,
            "check": partial(eq, sum(range(self.tasks))),
            "columns": {"library": "distributed", "ranks": self.count},
            "files": self.files,
            "pinned": False,
        }

    def __call__(self, watch: Stopwatch) -> int:
        from distributed import Client

        chosen = self.workers.addresses[: self.count]
        with (
            Client(self.workers.scheduler, timeout=60) as client,  # type: ignore[no-untyped-call]
            _charged(client, chosen, watch) as restrictions,
            watch("compute"),
        ):
            futures = client.map(abs, range(self.tasks), pure=False, **restrictions)
            results = client.gather(futures)
        watch.note(tasks=self.tasks)
        return sum(results)


def is_mean(truth: Path, mean: NDArray[np.float64]) -> bool:
    return np.allclose(mean, np.load(truth), rtol=_RTOL, atol=0, equal_nan=True)


@contextmanager
def _charged(
    client: "Client", workers: Sequence[str], watch: Stopwatch
) -> Iterator[dict[str, Any]]:
    """Give what has dask take these workers alone; note what they spent, in the last phase."""
    before = client.run(spent, workers=list(workers))
    yield {"workers": list(workers), "allow_other_workers": False}
    after = client.run(spent, workers=list(workers))
    user, system, rchar, syscr = (
        sum(after[worker][i] - before[worker][i] for worker in workers) for i in range(4)
    )
    watch.note(user_s=user, sys_s=system, rchar=rchar, syscr=syscr)
    watch.elsewhere_s += user + system


def spent() -> tuple[float, float, float, float]:
    """Return what this process has spent: CPU seconds of user and system, bytes and calls read."""
    counts = _counters().start()
    return counts.user_s, counts.sys_s, counts.rchar, counts.syscr


_counters = cache(Counters)  # one a process
