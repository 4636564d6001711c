"""How each library is given a chunk cache of one's own size, in the line that a user writes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...access import reader
from ...access.base import Opened, OpenedArray
from ...io.work import NAME
from ...storage.region import Region
from .cache import default_cache

LIBRARIES: Mapping[str, str] = MappingProxyType(
    {
        "netcdf4": "netCDF4",
        "h5py": "h5py",
        "h5netcdf": "h5netcdf",
        "xarray-netcdf4": "xarray, engine netcdf4",
        "xarray-h5netcdf": "xarray, engine h5netcdf",
    }
)
REOPENING = ("h5netcdf", "xarray-h5netcdf")
"""These look the dataset up anew for every read, and HDF5 drops its cache when it closes."""

ANEW = "opened anew"


@dataclass(frozen=True)
class Remedy:
    """A way to read through a chunk cache of one's own size.

    Parameters
    ----------
    library : str
        The reader it is for.
    name : str
    code : str
        The line that a user writes; ``n`` is the size in bytes, ``"t"`` the variable.
    note : str
        What else to know about the line.
    """

    library: str
    name: str
    code: str
    note: str = ""

    @property
    def kept(self) -> bool:
        """Whether the dataset stays open from one read to the next."""
        return self.name == "dataset kept" or (self.library not in REOPENING and self.name != ANEW)


_BEFORE = "before the file is opened"
_KEEP = 'keep = h5py.File(path, rdcc_nbytes=n)["t"]'
REMEDIES = (
    Remedy("netcdf4", "set_var_chunk_cache", 'nc["t"].set_var_chunk_cache(size=n)'),
    Remedy("netcdf4", "set_chunk_cache", "netCDF4.set_chunk_cache(n)", _BEFORE),
    Remedy("h5py", "rdcc_nbytes", "h5py.File(path, rdcc_nbytes=n)"),
    Remedy("h5py", ANEW, 'f["t"][i]'),
    Remedy("h5netcdf", "rdcc_nbytes", "h5netcdf.File(path, rdcc_nbytes=n)"),
    Remedy("h5netcdf", "dataset kept", _KEEP),
    Remedy("xarray-netcdf4", "set_chunk_cache", "netCDF4.set_chunk_cache(n)", _BEFORE),
    Remedy(
        "xarray-netcdf4",
        "own Dataset",
        "xr.open_dataset(xr.backends.NetCDF4DataStore(nc))",
        "after nc's own line",
    ),
    Remedy("xarray-h5netcdf", "rdcc_nbytes", 'driver_kwds={"rdcc_nbytes": n}'),
    Remedy("xarray-h5netcdf", "dataset kept", _KEEP),
)


@contextmanager
def opener(
    path: Path, library: str, cache_bytes: int | None, remedy: str = ""
) -> Iterator[Callable[[], Opened]]:
    """Give what opens the variable of a file through a chunk cache of a size.

    Parameters
    ----------
    path : Path
    library : str
        Name of a reader.
    cache_bytes : int, optional
        None keeps the library's own.
    remedy : str
        How the size is set, as in `REMEDIES`; by default as the reader does it.
    """
    chosen = reader(library)
    if remedy == "own Dataset":
        yield partial(_Wrapped, path, cache_bytes)
    elif remedy == ANEW:
        yield partial(_Anew, path, cache_bytes)
    elif remedy == "set_chunk_cache":
        with default_cache(cache_bytes):
            yield partial(chosen.open, path, NAME)
    elif remedy == "dataset kept":
        import h5py

        with h5py.File(path, rdcc_nbytes=cache_bytes) as file:
            keep = file[NAME]
            yield partial(chosen.open, path, NAME)
            del keep
    else:
        yield partial(chosen.open, path, NAME, chunk_cache_bytes=cache_bytes)


class _Wrapped(OpenedArray):
    """xarray on a netCDF4.Dataset that the program opened and set up itself."""

    def __init__(self, path: Path, cache_bytes: int | None) -> None:
        import netCDF4
        import xarray as xr

        file = netCDF4.Dataset(path)
        file[NAME].set_var_chunk_cache(size=cache_bytes)
        store = xr.backends.NetCDF4DataStore(file)  # type: ignore[no-untyped-call]
        self._dataset = xr.open_dataset(store, decode_cf=False, cache=False)
        super().__init__(NAME, self._dataset[NAME].shape, self._dataset[NAME].dtype)

    def _fetch(self, chosen: Region) -> Any:
        return self._dataset[NAME][chosen.indices].values

    def _close(self) -> None:
        self._dataset.close()


class _Anew(OpenedArray):
    """h5py, with the dataset looked up by its name for every read."""

    def __init__(self, path: Path, cache_bytes: int | None) -> None:
        import h5py

        self._file = h5py.File(path, rdcc_nbytes=cache_bytes)
        super().__init__(NAME, self._file[NAME].shape, self._file[NAME].dtype)

    def _fetch(self, chosen: Region) -> Any:
        return self._file[NAME][chosen.indices]

    def _close(self) -> None:
        self._file.close()
