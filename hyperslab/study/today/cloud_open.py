"""Opening a dataset of many variables from a server, by xarray."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from ...access.h5py import PAGE_BUFFER_BYTES
from ...access.urls import Remote, system_in_zarr
from ...io.far import ReadLinked
from ...measure.case import Stopwatch

ENGINES = {
    "h5netcdf": "xarray-h5netcdf", "kerchunk": "kerchunk", "subchunk": "subchunk",
    "zarr": "xarray-zarr",
}  # fmt: skip
"""What opens, and the reader whose libraries it needs."""


@dataclass(frozen=True)
class Opening:
    """How xarray opens a store.

    Parameters
    ----------
    engine : str
        One of `ENGINES`; "kerchunk" is Zarr by the references beside a file.
    cache : str
        fsspec's for a file: empty for its own choice, "none", or "pages" for HDF5's page buffer.
    consolidated : bool
        Whether Zarr's consolidated metadata are used.
    zarr_format : int
        2 or 3.
    """

    engine: str
    cache: str = ""
    consolidated: bool = False
    zarr_format: int = 2


@dataclass(frozen=True)
class OpenLinked(ReadLinked):
    """Open a dataset, and know shape and unit of all its variables: phase open.

    Parameters
    ----------
    opening : Opening
        In place of the library, selection and variable of a read.
    """

    opening: Opening = Opening("zarr")

    def __call__(self, watch: Stopwatch) -> Any:
        place = Remote(self.server.address(self.name), self.server.storage_options)
        with ExitStack() as held:
            with watch("open"):
                dataset = _opened(place, self.opening, held)
                known = {
                    str(name): (tuple(array.shape), str(array.attrs["units"]))
                    for name, array in dataset.data_vars.items()
                }
            watch.note(**self.counted())
        return known


@dataclass(frozen=True)
class Described:
    """Check that all variables were seen as they are.

    Parameters
    ----------
    known : mapping
        Shape and unit by name.
    """

    known: Mapping[str, tuple[tuple[int, ...], str]]

    def __call__(self, found: object) -> bool:
        return found == self.known


def _opened(place: Remote, opening: Opening, held: ExitStack) -> Any:
    """Open a dataset without decoding, as far as that needs no values."""
    import xarray as xr

    options: dict[str, Any] = {"engine": opening.engine}
    target: Any = place.url
    if opening.engine == "h5netcdf":
        cache = {"cache_type": "none"} if opening.cache else None
        target = held.enter_context(place.stream(cache))
        options["phony_dims"] = "access"
        if opening.cache == "pages":
            options["driver_kwds"] = {"page_buf_size": PAGE_BUFFER_BYTES}
    elif opening.engine == "subchunk":
        options["storage_options"] = dict(place.options)
    else:
        target = _zarr(place, opening, held)
        options |= {"engine": "zarr", "zarr_format": opening.zarr_format}
        options["consolidated"] = opening.consolidated
    with warnings.catch_warnings():
        # Of Zarr without consolidated metadata, and of variables that no other library reads.
        warnings.simplefilter("ignore")
        dataset = xr.open_dataset(target, decode_cf=False, chunks=None, cache=False, **options)
    held.callback(dataset.close)
    return dataset


def _zarr(place: Remote, opening: Opening, held: ExitStack) -> Any:
    from zarr.storage import FsspecStore

    if opening.engine == "zarr":
        system, path, close = system_in_zarr(place)
        held.callback(close)
        return FsspecStore(system, path=path, read_only=True)
    from fsspec.implementations.reference import ReferenceFileSystem

    from ...access.references import references_of

    refs = references_of(place)
    system, _, close = system_in_zarr(place)
    held.callback(close)
    files: Any = ReferenceFileSystem(refs, fs=system, asynchronous=True, skip_instance_cache=True)
    return FsspecStore(files, path="", read_only=True)
