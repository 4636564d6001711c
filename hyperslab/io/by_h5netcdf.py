"""h5netcdf, on files and, through fsspec, behind URLs."""

from __future__ import annotations

from typing import Any

import h5netcdf

from .by_h5py import find_plugins
from .reading import StreamReader


class H5netcdfReader(StreamReader):
    """Reads netCDF-4 and HDF5 with h5netcdf; dimensions without names are given some."""

    def prepare(self) -> None:
        find_plugins()

    def file(self, source: Any, **cache: int) -> Any:
        return h5netcdf.File(source, "r", phony_dims="access", **cache)


READER = H5netcdfReader
