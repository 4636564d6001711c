"""Open again what was opened before, by the same library, without looking into it first."""

from __future__ import annotations

import os
from pathlib import Path

from hyperslab.io.layout import CLASSIC, NETCDF4

from .base import Source
from .remote import is_url, open_remote


def reopen(address: str, format: str, library: str = "") -> Source:
    """Open a path or a URL of a format that `Source.format` gave.

    The library is "h5py" for a netCDF-4 file that h5py reads.
    """
    if is_url(address) and not address.startswith("file://"):
        return open_remote(address)
    path = Path(address.removeprefix("file://")).expanduser()
    if format == "nczarr" or format in CLASSIC or (format in NETCDF4 and library != "h5py"):
        from hyperslab.io.by_netcdf4 import address as url

        from .netcdf import NetCDFSource

        nczarr = format == "nczarr"
        opened = url(path, format) if nczarr else os.fspath(path)
        return NetCDFSource(address, opened, path, nczarr=nczarr)
    if format in ("zarr2", "zarr3"):
        from zarr.storage import LocalStore

        from .zarr import ZarrSource

        return ZarrSource(address, LocalStore(path, read_only=True), path)
    import h5py

    from .hdf5 import HDF5Source

    return HDF5Source(address, h5py.File(path, "r"), path.stat().st_size)
