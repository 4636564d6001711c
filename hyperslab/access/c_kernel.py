"""netCDF-C, called from the C kernel: what a program in C gets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.access.base import LibraryReader, NotNumbersError, Opened, OpenedArray
from hyperslab.access.card import Card
from hyperslab.kernels import NetcdfFile, kernel
from hyperslab.kernels.library import versions
from hyperslab.kernels.netcdf_c import NoNumbersError
from hyperslab.kernels.netcdf_library import names
from hyperslab.storage.region import Region


class KernelReader(LibraryReader):
    """Reads stored values with nc_get_vara, or nc_get_vars for steps, from C.

    It runs on the very netCDF-C that netCDF4-python has loaded.
    """

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        try:
            file = NetcdfFile.open(path, variable, cache_bytes=chunk_cache_bytes)
        except NoNumbersError as error:
            raise NotNumbersError(f"{error}; readers take integers and floats") from error
        return _KernelArray(variable, file)

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the variables, group by group."""
        return names(path)

    def version(self) -> str:
        """Give the versions of netCDF-C and HDF5."""
        netcdf, hdf5 = versions()
        return f"{netcdf} (HDF5 {hdf5})"


class _KernelArray(OpenedArray):
    def __init__(self, name: str, file: NetcdfFile) -> None:
        super().__init__(name, file.shape, file.dtype)
        self._file = file

    def _fetch(self, chosen: Region) -> NDArray[Any]:
        out = np.empty(chosen.shape, self.dtype)
        steps = None if max(chosen.steps, default=1) == 1 else [chosen.steps]
        self._file.access("read", [chosen.starts], [chosen.counts], steps, out)
        return out

    def _close(self) -> None:
        self._file.close()


def make(card: Card) -> LibraryReader:
    """Make the reader of a card; the kernel is compiled now, so that no open pays for it."""
    kernel()
    return KernelReader(card)
