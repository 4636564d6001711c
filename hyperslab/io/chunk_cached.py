"""A chunk cache of one's own size: what each library is given, and how a user sets it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from . import reader
from .by_netcdf4 import default_cache as default_cache
from .chunk_cache import RULES, CacheRule, ChunkCache
from .reading import Opened
from .selection import Region
from .work import NAME

READERS = {
    "netcdf4": "netCDF4",
    "h5py": "h5py",
    "h5netcdf": "h5netcdf",
    "xarray-netcdf4": "xarray, engine netcdf4",
    "xarray-h5netcdf": "xarray, engine h5netcdf",
}
REOPENING = ("h5netcdf", "xarray-h5netcdf")
"""These look the dataset up anew for every read, and HDF5 drops its cache when it closes."""


def library_cache(library: str) -> ChunkCache:
    """Return the chunk cache that a file gets by default in "netcdf4" or "h5py"."""
    if library == "h5py":
        import h5py

        _, slots, nbytes, preemption = h5py.h5p.create(h5py.h5p.FILE_ACCESS).get_cache()
        return ChunkCache(nbytes, slots, preemption)
    import netCDF4

    return ChunkCache(*netCDF4.get_chunk_cache())


def build_rule() -> CacheRule:
    """Return the rule of the installed build, told by the default that it reports."""
    default = library_cache("netcdf4").nbytes
    rules = [rule for rule in RULES.values() if rule.default_bytes == default]
    return rules[0] if rules else CacheRule(default, 10, max(default, 64 * 2**20))


@contextmanager
def opener(
    path: Path, library: str, cache_bytes: int | None, setting: str = ""
) -> Iterator[Callable[[], Opened]]:
    """Give what opens the variable of a file through a chunk cache of a size, set in some way."""
    chosen = reader(library)
    if setting == "own Dataset":
        yield partial(_own_dataset, path, cache_bytes)
    elif setting == "opened anew":
        import h5py

        yield lambda: _Anew(h5py.File(path, rdcc_nbytes=cache_bytes))
    elif setting == "set_chunk_cache":
        with default_cache(cache_bytes):
            yield partial(chosen.open, path, NAME)
    elif setting == "dataset kept":
        import h5py

        with h5py.File(path, rdcc_nbytes=cache_bytes) as file:
            keep = file[NAME]
            yield partial(chosen.open, path, NAME)
            del keep
    else:
        yield partial(chosen.open, path, NAME, chunk_cache_bytes=cache_bytes)


def _own_dataset(path: Path, cache_bytes: int | None) -> Opened:
    import netCDF4
    import xarray as xr

    file = netCDF4.Dataset(path)
    file[NAME].set_var_chunk_cache(size=cache_bytes)
    store = xr.backends.NetCDF4DataStore(file)  # type: ignore[no-untyped-call]
    return _Anew(xr.open_dataset(store, decode_cf=False, cache=False))


class _Anew(Opened):
    def __init__(self, file: Any) -> None:
        self._file = file
        super().__init__(NAME, file[NAME].shape, file[NAME].dtype)

    def _fetch(self, chosen: Region) -> Any:
        array = self._file[NAME][chosen.indices]
        return getattr(array, "values", array)

    def _close(self) -> None:
        self._file.close()
