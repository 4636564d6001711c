"""A series, a map and the opening of many variables, from every layout over a link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...access import reader, readers
from ...io.far import ReadLinked
from ...io.work import Equals
from ...measure.case import Case, Stopwatch
from ...network import Link, Server, serving
from ..penard.wire import MODULES as FAR_MODULES
from .cloud_files import NAME, CloudFiles
from .cloud_open import ENGINES, Described, Opening, OpenLinked

MODULES = (
    *FAR_MODULES, "s3fs", "hyperslab.access.zarr", "hyperslab.access.kerchunk",
    "hyperslab.access.virtualizarr", "hyperslab.access.xarray", "hyperslab.subchunk.engine",
    "hyperslab.study.today.cloud",
)  # fmt: skip
RATE = 12.5e6
"""Bytes a second of the link: 100 Mbit/s."""
SERVERS = {"array": "http", "many": "s3"}
"""What serves either; a store without consolidated metadata can be opened where it is listed."""


@dataclass(frozen=True)
class Way:
    """One layout and what reads it.

    Parameters
    ----------
    store : str
        Of `cloud_files.STORES`.
    library : str
        Name of the reader of the array.
    """

    store: str
    library: str


WAYS: Mapping[str, Way] = {
    "netcdf": Way("netcdf", "h5py"),
    "netcdf-bare": Way("netcdf", "h5py-none"),
    "paged": Way("paged", "h5py-paged"),
    "large": Way("large", "h5py"),
    "references": Way("netcdf", "kerchunk"),
    "virtual": Way("netcdf", "virtualizarr-kerchunk"),
    "zarr2": Way("zarr2", "zarr"),
    "zarr3": Way("zarr3", "zarr"),
    "shards": Way("shards", "zarr"),
    "index": Way("netcdf", "subchunk"),
    "index-large": Way("large", "subchunk"),
}
"""What reads the array, by the name that records have."""
OPENINGS: Mapping[str, tuple[str, Opening]] = {
    "netcdf": ("netcdf", Opening("h5netcdf")),
    "netcdf-bare": ("netcdf", Opening("h5netcdf", "none")),
    "paged": ("paged", Opening("h5netcdf", "pages")),
    "references": ("netcdf", Opening("kerchunk")),
    "zarr2": ("zarr2", Opening("zarr")),
    "zarr2-one": ("zarr2", Opening("zarr", consolidated=True)),
    "zarr3": ("zarr3", Opening("zarr", zarr_format=3)),
    "zarr3-one": ("zarr3", Opening("zarr", consolidated=True, zarr_format=3)),
    "index": ("netcdf", Opening("subchunk")),
}
"""What opens the many variables, by the name that records have."""
COMPARED = ("netcdf", "references", "zarr3", "shards", "index")
"""Layouts that ratios of the time of a series are given of."""
FEW = {"series": COMPARED, "map": ("zarr3", "shards"), "open": ("netcdf-bare", "paged")}
"""What the smallest profile reads."""
AA = "array/series/index"


@dataclass(frozen=True)
class ReadCloud(ReadLinked):
    """Read a selection over a link, and note what went over it by the end of either phase."""

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        chosen = reader(self.library)
        with watch("open"):
            opened = chosen.open(
                self.server.address(self.name),
                self.variable,
                storage_options=self.server.storage_options,
            )
        watch.note(**self.counted())
        with opened:
            with watch("read"):
                values = opened.read(self.selection)
            watch.note(useful_bytes=values.nbytes, **self.counted())
        return values


@dataclass(frozen=True)
class Cloud:
    """Servers behind a link; without any when figures are drawn from records.

    Parameters
    ----------
    files : CloudFiles
    link : Link
    servers : mapping
        By the kinds of `cloud_files.KINDS`.
    """

    files: CloudFiles
    link: Link
    servers: Mapping[str, Server]

    def cases(self, other_blocks: int = 0, *, few: bool = False) -> list[Case]:
        """Return both reads of the array in every layout, and the opening of the many variables.

        What is not installed is left out.

        Parameters
        ----------
        other_blocks : int
            Blocks of all but `COMPARED`; 0 is all.
        few : bool
            Whether they are cut down to `FEW`.
        """
        if not self.servers:
            return []
        found = []
        for case in (*self._reads(), *self._opens()):
            _, read, way = case.name.split("/")
            if few and way not in FEW[read]:
                continue
            compared = read == "series" and way in COMPARED
            blocks = 0 if compared else other_blocks
            found.append(replace(case, most_blocks=blocks, aa=case.name == AA))
        return found

    def _reads(self) -> Iterator[Case]:
        here, files = readers(place="http"), self.files
        for read, selection in files.selections.items():
            for name, way in WAYS.items():
                if way.library not in here:
                    continue
                layout, server = files.layout("array", way.store), self.servers["array"]
                place = files.path("array", way.store).name
                yield Case(
                    f"array/{read}/{name}",
                    ReadCloud(server, place, way.library, selection, NAME, **self._known),
                    check=Equals(partial(_kept, files.truth, selection)),
                    columns={**layout.record(), **self._columns("array", way.library, read)},
                    prepare=server.forget,
                )

    def _opens(self) -> Iterator[Case]:
        here, files = readers(place="s3"), self.files
        for name, (store, opening) in OPENINGS.items():
            library = ENGINES[opening.engine]
            if library not in here:
                continue
            server, place = self.servers["many"], files.path("many", store).name
            yield Case(
                f"many/open/{name}",
                OpenLinked(server, place, "", (), "", opening=opening, **self._known),
                check=Described(files.described),
                columns={
                    **files.layout("many", store).record(),
                    **self._columns("many", library, "open"),
                },
                prepare=server.forget,
            )

    @property
    def _known(self) -> dict[str, float]:
        return {"round_trip_s": self.link.round_trip_s, "bytes_per_s": self.link.bytes_per_s}

    def _columns(self, kind: str, library: str, read: str) -> dict[str, object]:
        shape = "x".join(map(str, self.files.shape))
        return {
            "library": reader(library).library,
            "pattern": read,
            "link": SERVERS[kind],
            "latency_s": self.link.round_trip_s,
            "size": str(self.files.variables) if kind == "many" else shape,
        }


@contextmanager
def laid(files: CloudFiles, delay_s: float, *, drawing: bool) -> Iterator[Cloud]:
    """Serve the files behind a link for as long as the context lasts.

    Parameters
    ----------
    files : CloudFiles
    delay_s : float
        Of the link, there and back.
    drawing : bool
        Whether figures are drawn from records: then nothing is started.
    """
    link = Link(RATE, delay_s)
    if drawing:
        yield Cloud(files, link, {})
        return
    with ExitStack() as held:
        found = {}
        for kind, speaks in SERVERS.items():
            server = held.enter_context(serving(files.scratch, speaks))
            line = held.enter_context(link.to(server.port))
            found[kind] = server.through(line.port)
        yield Cloud(files, link, found)


def _kept(path: Path, selection: tuple[slice | int, ...]) -> NDArray[Any]:
    return np.array(np.load(path, mmap_mode="r")[selection])
