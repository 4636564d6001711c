"""One sample: open a file, read selections of a variable, close it; what was read is compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.cards import reader
from hyperslab.measure.case import Case, Stopwatch
from hyperslab.network.server import Server

MODULES = (
    "netCDF4", "h5py", "h5netcdf.legacyapi", "xarray", "zarr", "hyperslab.io.by_netcdf4",
    "hyperslab.io.by_h5py", "hyperslab.io.by_h5netcdf", "hyperslab.io.by_zarr",
    "hyperslab.io.by_xarray", "hyperslab.io.by_subchunk", "hyperslab.tune.advice.visit",
)  # fmt: skip
"""What the processes that read have imported."""


@dataclass(frozen=True)
class Visit:
    """Open a file and read from its variable "data": phases open and read."""

    path: Path
    library: str
    selections: tuple[Any, ...]  # a call each
    cache_bytes: int | None = None
    server: Server | None = None  # that the file is read from, by its name

    def __call__(self, watch: Stopwatch) -> str:
        chosen = reader(self.library)
        where: dict[str, Any] = {"chunk_cache_bytes": self.cache_bytes}
        if self.server is None:
            with watch("open"):
                opened = chosen.open(self.path, "data", **where)
            watch.chill()
            with watch("read"):
                values = [opened.read(selection) for selection in self.selections]
        else:  # one phase: libraries fetch values ahead when a file is opened
            address = self.server.address(self.path.name)
            where["storage_options"] = self.server.storage_options
            with watch("read"):
                opened = chosen.open(address, "data", **where)
                values = [opened.read(selection) for selection in self.selections]
        watch.note(useful_bytes=sum(array.nbytes for array in values))
        opened.close()
        return digest(values)


def case_of(
    name: str,
    visit: Visit,
    cache: str,
    *,
    expected: str = "",
    files: Sequence[Path] = (),
    columns: Mapping[str, object] | None = None,
    aa: bool = False,
    pinned: bool = True,
) -> Case:
    """Return the case of a visit, which must read what has this digest (where one is given)."""
    local = visit.server is None
    return Case(
        name, visit, aa=aa, pinned=pinned,
        check=partial(eq, expected) if expected else None,
        columns={"library": visit.library, **(columns or {})},
        files=(visit.path, *files) if local else (),
        cache_state=cache if local else "",
    )  # fmt: skip


def digest(values: Sequence[NDArray[Any]]) -> str:
    """Return a short name of values: the same for the same bytes."""
    hashed = hashlib.sha256()
    for array in values:
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()[:16]
