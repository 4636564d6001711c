"""xarray, with each of its engines."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import xarray as xr

from .cards import Card, reader
from .reading import Indexed, Opened, Reader
from .selection import Region
from .urls import Place

xr.backends.list_engines()  # what all engines import, so that neither opens nor samples pay for it


class XarrayReader(Reader):
    """Reads a DataArray of a dataset opened without decoding, dask or cache."""

    def __init__(self, card: Card) -> None:
        super().__init__(card)
        self._engine = card.name.removeprefix("xarray-")
        self.has_chunk_cache = reader(self._engine).has_chunk_cache  # type: ignore[misc]

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        group, _, name = variable.rpartition("/")
        with ExitStack() as held, ExitStack() as meanwhile:
            source, options = self._source(place, held)
            if chunk_cache_bytes is not None and self._engine == "h5netcdf":
                options["driver_kwds"] = {"rdcc_nbytes": chunk_cache_bytes}
            elif chunk_cache_bytes is not None:
                from .by_netcdf4 import default_cache

                # xarray has no word for it: files opened meanwhile take netCDF-C's default.
                meanwhile.enter_context(default_cache(chunk_cache_bytes))
            # It warns of Zarr stores without consolidated metadata.
            meanwhile.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", RuntimeWarning)
            options |= {"engine": self._engine, "group": group or None}
            dataset = xr.open_dataset(source, decode_cf=False, chunks=None, cache=False, **options)
            held.callback(dataset.close)
            if name not in dataset.variables:
                # For the name of a bare dimension xarray would make up its numbers.
                raise KeyError(f"{name!r} is not in it, or in no consolidated metadata")
            return _XarrayArray(variable, dataset[name], held)

    def _source(self, place: Place, held: ExitStack) -> tuple[Any, dict[str, Any]]:
        if self._engine == "zarr":
            from .by_zarr import store_at

            options: dict[str, Any] = {}
            if isinstance(place, Path):
                options["consolidated"] = (place / ".zmetadata").exists()
            return store_at(place, held), options
        options = {"phony_dims": "access"} if self._engine == "h5netcdf" else {}
        if isinstance(place, Path):
            return place, options
        if self._engine == "h5netcdf":
            return held.enter_context(place.stream()), options
        return f"{place.url}#mode=bytes", options


class _XarrayArray(Indexed):
    def _fetch(self, chosen: Region) -> Any:
        return self.variable[chosen.indices].values


READER = XarrayReader
