"""NCZarr and Zarr 2 directories, read through netCDF-C."""

from __future__ import annotations

from pathlib import Path

from hyperslab.access.base import Card, LibraryReader
from hyperslab.access.netcdf4 import NetCDF4Reader


class NCZarrReader(NetCDF4Reader):
    """Reads a directory as ``file://…#mode=nczarr,file``; of Zarr 2 it sees no scalars."""

    def address(self, path: Path) -> str:
        """Give the URL that netCDF-C opens.

        Raises
        ------
        ValueError
            If the path holds a character that means something in the URL.
        """
        absolute = str(path.absolute())
        if any(mark in absolute for mark in "#?%"):
            raise ValueError("netCDF-C takes no #, ? or % in the path of a directory")
        if not any((path / mark).exists() for mark in (".zgroup", ".zarray")):
            # netCDF-C opens an empty folder as an empty dataset.
            raise ValueError("it is no Zarr 2 directory: there is no .zgroup in it")
        return f"file://{absolute}#mode=nczarr,file"


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    return NCZarrReader(card)
