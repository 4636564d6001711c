"""Read a file that ranks wrote back in one process, with another library, and compare it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from .plan import WritePlan


def holds(plan: WritePlan, path: Path, library: str) -> bool:
    with _ONE_AT_A_TIME, _opened(plan, path, library) as datasets:
        return all(
            np.array_equal(values[part.region], plan.values(number, part))
            for number, values in enumerate(datasets)
            for part in plan.datasets[number].parts
        )


# netCDF-C must not be called by two threads at once, and those that start ranks each verify.
_ONE_AT_A_TIME = Lock()


@contextmanager
def _opened(plan: WritePlan, path: Path, library: str) -> Iterator[list[Any]]:
    if library == "mpiio":
        yield [*_plain(plan, path)]
        return
    if library == "hdf5":
        import h5py

        file = h5py.File(path, "r")
    else:
        import netCDF4

        file = netCDF4.Dataset(path)
        file.set_auto_mask(False)
    with file:
        yield [file[dataset.name] for dataset in plan.datasets]


def _plain(plan: WritePlan, path: Path) -> Iterator[Any]:
    offset = 0
    for dataset in plan.datasets:
        size = int(np.prod(dataset.shape)) * np.dtype(dataset.dtype).itemsize
        # Where the last columns are no rank's the file may end before they do.
        if path.stat().st_size < offset + size:
            with path.open("r+b") as file:
                file.truncate(offset + size)
        yield np.memmap(path, dataset.dtype, "r", offset, dataset.shape)
        offset += size
