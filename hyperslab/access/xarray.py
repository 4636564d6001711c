"""xarray, with each of its engines."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import xarray as xr

from hyperslab.access.base import LibraryReader, Opened, OpenedArray, no_cache
from hyperslab.access.card import Card
from hyperslab.storage.region import Region


class XarrayReader(LibraryReader):
    """Reads a DataArray of a dataset opened without decoding, dask or cache.

    Opening reads the whole group's metadata and the coordinates that become indexes, as it
    does for a user.
    """

    def __init__(self, card: Card) -> None:
        super().__init__(card)
        self._engine = card.name.removeprefix("xarray-")
        # Imports the engine's library now, so that no open pays for it.
        self._inner = _inner(self._engine)

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        group, _, name = variable.rpartition("/")
        with self._cache(chunk_cache_bytes) as options:
            dataset = xr.open_dataset(
                self._place(path),
                engine=self._engine,
                decode_cf=False,
                chunks=None,
                cache=False,
                group=group or None,
                **self._options(path),
                **options,
            )
        try:
            if name not in dataset.variables:
                # For the name of a bare dimension xarray would make up its numbers.
                raise KeyError(name)
            return _XarrayArray(variable, dataset, dataset[name])
        except BaseException:
            dataset.close()
            raise

    def _place(self, path: Path) -> Any:
        if self._engine != "zarr":
            return path
        from zarr.storage import LocalStore

        # A store and no text, in which newer versions take # for the start of options.
        return LocalStore(path, read_only=True)

    def _options(self, path: Path) -> dict[str, Any]:
        if self._engine == "h5netcdf":
            return {"phony_dims": "access"}
        if self._engine == "zarr":
            return {"consolidated": (path / ".zmetadata").exists()}
        return {}

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

    def version(self) -> str:
        """Give the versions of xarray and of what is below it."""
        return f"{xr.__version__} ({self._inner.library} {self._inner.version()})"


def _inner(engine: str) -> LibraryReader:
    from hyperslab.access.registry import reader

    inner = reader(engine)
    assert isinstance(inner, LibraryReader)
    return inner


class _XarrayArray(OpenedArray):
    def __init__(self, name: str, dataset: xr.Dataset, array: xr.DataArray) -> None:
        super().__init__(name, array.shape, array.dtype)
        self._dataset, self._array = dataset, array

    def _fetch(self, chosen: Region) -> Any:
        return self._array[chosen.indices].values

    def _close(self) -> None:
        self._dataset.close()


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    return XarrayReader(card)
