"""xarray, with each of its engines."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import xarray as xr

from hyperslab.access.base import LibraryReader, Opened, OpenedArray, no_cache
from hyperslab.access.card import Card
from hyperslab.access.urls import Remote, system_in_zarr
from hyperslab.storage.region import Region

xr.backends.list_engines()  # what all engines import, so that neither opens nor samples pay for it


class XarrayReader(LibraryReader):
    """Reads a DataArray of a dataset opened without decoding, dask or cache.

    Opening reads the whole group's metadata and the coordinates that become indexes, as it
    does for a user. Over HTTP, where nothing can be listed, Zarr needs consolidated metadata, as
    our writer gives it to Zarr 2.
    """

    def __init__(self, card: Card) -> None:
        super().__init__(card)
        self._engine = card.name.removeprefix("xarray-")
        self._inner = _inner(self._engine)

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        place: Any = path
        options: dict[str, Any] = {}
        if self._engine == "zarr":
            from zarr.storage import LocalStore

            # A store and no text, in which newer versions take # for the start of options.
            place = LocalStore(path, read_only=True)
            options["consolidated"] = (path / ".zmetadata").exists()
        return self._array(place, variable, chunk_cache_bytes, options, ExitStack())

    def _open_remote(self, remote: Remote, variable: str, chunk_cache_bytes: int | None) -> Opened:
        held, options = ExitStack(), dict[str, Any]()
        place: Any = f"{remote.url}#mode=bytes"
        if self._engine == "h5netcdf":
            place = held.enter_context(remote.stream())
        elif self._engine == "zarr":
            from zarr.storage import FsspecStore

            system, path, close = system_in_zarr(remote)
            held.callback(close)
            place = FsspecStore(system, path=path, read_only=True)
        return self._array(place, variable, chunk_cache_bytes, options, held)

    def _array(
        self,
        place: Any,
        variable: str,
        chunk_cache_bytes: int | None,
        options: dict[str, Any],
        held: ExitStack,
    ) -> Opened:
        group, _, name = variable.rpartition("/")
        if self._engine == "h5netcdf":
            options["phony_dims"] = "access"
        with held:
            with self._cache(chunk_cache_bytes) as cache, warnings.catch_warnings():
                # It warns of Zarr stores without consolidated metadata.
                warnings.simplefilter("ignore", RuntimeWarning)
                dataset = xr.open_dataset(
                    place,
                    engine=self._engine,
                    decode_cf=False,
                    chunks=None,
                    cache=False,
                    group=group or None,
                    **options,
                    **cache,
                )
            held.callback(dataset.close)
            if name not in dataset.variables:
                # For the name of a bare dimension xarray would make up its numbers.
                raise KeyError(f"{name!r} is not in it, or in no consolidated metadata")
            array = _XarrayArray(variable, dataset[name])
            array.held = held.pop_all()
            return array

    @contextmanager
    def _cache(self, chunk_cache_bytes: int | None) -> Any:
        if self._engine == "zarr":
            no_cache(self.name, chunk_cache_bytes)
        if chunk_cache_bytes is None:
            yield {}
        elif self._engine == "h5netcdf":
            yield {"driver_kwds": {"rdcc_nbytes": chunk_cache_bytes}}
        else:
            import netCDF4

            # xarray has no word for it: files opened meanwhile take netCDF-C's default.
            before = netCDF4.get_chunk_cache()
            netCDF4.set_chunk_cache(chunk_cache_bytes, *before[1:])
            try:
                yield {}
            finally:
                netCDF4.set_chunk_cache(*before)

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the variables, with their groups."""
        return self._inner.names(path)

    def remote_names(self, remote: Remote) -> Iterable[str]:
        return self._inner.remote_names(remote)

    def exists(self, place: Path | Remote) -> bool:
        return self._inner.exists(place)

    def version(self) -> str:
        """Give the versions of xarray and of what is below it."""
        return f"{xr.__version__} ({self._inner.library} {self._inner.version()})"


def _inner(engine: str) -> LibraryReader:
    from hyperslab.access.registry import reader

    inner = reader(engine)
    assert isinstance(inner, LibraryReader)
    return inner


class _XarrayArray(OpenedArray):
    held: ExitStack

    def __init__(self, name: str, array: xr.DataArray) -> None:
        super().__init__(name, array.shape, array.dtype)
        self._array = array

    def _fetch(self, chosen: Region) -> Any:
        return self._array[chosen.indices].values

    def _close(self) -> None:
        self.held.close()


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    return XarrayReader(card)
