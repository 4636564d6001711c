"""The ways to read: each a loop, a library that opens, and the file that it takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .files import VARIABLE
from .loops import (
    CNetcdf,
    Copies,
    CPlain,
    Lazy,
    Loop,
    NumpyFromfile,
    PythonRead,
    PythonReadinto,
    Slices,
)


def _memmap(path: Path) -> tuple[Any, Callable[[], object]]:
    mapped = np.memmap(path, "<f8", "r")
    return mapped, mapped._mmap.close  # type: ignore[attr-defined]


def _netcdf4(path: Path) -> tuple[Any, Callable[[], object]]:
    import netCDF4

    file = netCDF4.Dataset(path)
    return file.variables[VARIABLE], file.close


def _netcdf4_plain(path: Path) -> tuple[Any, Callable[[], object]]:
    variable, close = _netcdf4(path)
    variable.set_auto_maskandscale(False)
    return variable, close


def _h5py(path: Path) -> tuple[Any, Callable[[], object]]:
    import h5py

    file = h5py.File(path)
    return file[VARIABLE], file.close


def _h5netcdf(path: Path) -> tuple[Any, Callable[[], object]]:
    import h5netcdf

    file = h5netcdf.File(path, "r")
    return file.variables[VARIABLE], file.close


def _xarray(path: Path) -> tuple[Any, Callable[[], object]]:
    import xarray as xr

    dataset = xr.open_dataset(path, engine="netcdf4")
    return dataset[VARIABLE], dataset.close


def _zarr(path: Path) -> tuple[Any, Callable[[], object]]:
    import zarr

    return zarr.open_array(path, mode="r"), lambda: None


@dataclass(frozen=True)
class Reader:
    """A way to read the variable.

    Parameters
    ----------
    library : str
        What reads.
    format : str
        One of `KINDS` of the files.
    loop : callable
        From a path and the values of one read to a `Loop`.
    modules : tuple of str
        What it imports.
    in_c : bool
        Whether it is a loop in C.
    """

    library: str
    format: str
    loop: Callable[[Path, int], Loop]
    modules: tuple[str, ...] = ()
    in_c: bool = False


def _sliced(opened: Any, kind: type[Slices] = Slices) -> Callable[[Path, int], Loop]:
    return lambda path, count: kind(path, count, opened)


READERS: Mapping[str, Reader] = {
    "c-fread": Reader("C", "binary", lambda p, n: CPlain(p, n, stdio=True), in_c=True),
    "c-pread": Reader("C", "binary", lambda p, n: CPlain(p, n, stdio=False), in_c=True),
    "netcdf-c": Reader("netCDF-C", "netcdf4", CNetcdf, ("netCDF4",), in_c=True),
    "python-read": Reader("Python", "binary", PythonRead),
    "python-readinto": Reader("Python", "binary", PythonReadinto),
    "numpy-fromfile": Reader("numpy", "binary", NumpyFromfile),
    "numpy-memmap": Reader("numpy", "binary", _sliced(_memmap, Copies)),
    "netcdf4-python": Reader("netCDF4", "netcdf4", _sliced(_netcdf4), ("netCDF4",)),
    "netcdf4-python-plain": Reader("netCDF4", "netcdf4", _sliced(_netcdf4_plain), ("netCDF4",)),
    "h5py": Reader("h5py", "netcdf4", _sliced(_h5py), ("h5py",)),
    "h5netcdf": Reader("h5netcdf", "netcdf4", _sliced(_h5netcdf), ("h5netcdf", "h5py")),
    "xarray": Reader("xarray", "netcdf4", _sliced(_xarray, Lazy), ("xarray", "netCDF4")),
    # Its event loop runs in a thread that begins with the first read, so after the fork.
    "zarr": Reader("zarr", "zarr3", _sliced(_zarr), ("zarr",)),
}
"""The ways to read, in the order of the layers they go through."""
