"""netCDF4-python: on files, on NCZarr directories and over HTTP."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import netCDF4

from hyperslab.access.base import Indexed, Opened, Reader, walked
from hyperslab.access.cards import Card
from hyperslab.access.urls import Place, Remote


class NetCDF4Reader(Reader):
    """Reads stored values with netCDF4-python: masking and scaling are off.

    Over HTTP netCDF-C fetches ranges itself, as ``#mode=bytes`` asks it to. The reader `nczarr`
    opens a directory as ``file://…#mode=nczarr,file``: of Zarr 2 it sees no scalars, and big-endian
    arrays are refused, as netCDF-C 4.9 gives their missing chunks the fill value with its bytes
    swapped.
    """

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        with ExitStack() as held:
            file = held.enter_context(netCDF4.Dataset(self.address(place), "r"))
            found = file[variable]
            opened = Indexed(variable, found, held)
        with ExitStack() as held:
            held.callback(opened.close)
            found.set_auto_maskandscale(False)
            # Without it a strided selection is one call of the C library for each element.
            found.use_nc_get_vars(True)
            if chunk_cache_bytes is not None and found.chunking() not in (None, "contiguous"):
                found.set_var_chunk_cache(size=chunk_cache_bytes)
            if self.name == "nczarr" and not found.dtype.isnative:
                raise ValueError("it is big-endian: netCDF-C would swap the bytes of fill values")
            held.pop_all()
        return opened

    def address(self, place: Place) -> str:
        """Give what netCDF-C opens."""
        if isinstance(place, Remote):
            return f"{place.url}#mode=bytes"
        return _nczarr(place) if self.name == "nczarr" else str(place)

    def names(self, place: Place) -> Iterable[str]:
        """Give the names of the variables, group by group."""
        with netCDF4.Dataset(self.address(place), "r") as file:
            return list(walked(file))

    def version(self) -> str:
        """Give the versions of netCDF4-python and of the C libraries in it."""
        return (
            f"{netCDF4.__version__} (netCDF-C {netCDF4.__netcdf4libversion__}, "
            f"HDF5 {netCDF4.__hdf5libversion__})"
        )


def _nczarr(path: Path) -> str:
    """Return the URL of a directory of Zarr 2, whose path has no character of URLs' own."""
    absolute = str(path.absolute())
    if any(mark in absolute for mark in "#?%"):
        raise ValueError("netCDF-C takes no #, ? or % in the path of a directory")
    if not any((path / mark).exists() for mark in (".zgroup", ".zarray")):
        # netCDF-C opens an empty folder as an empty dataset.
        raise ValueError("it is no Zarr 2 directory: there is no .zgroup in it")
    return f"file://{absolute}#mode=nczarr,file"


def make(card: Card) -> Reader:
    """Make the reader of a card."""
    return NetCDF4Reader(card)
