"""NCZarr and Zarr 2 directories, read through netCDF-C."""

from __future__ import annotations

from pathlib import Path

from hyperslab.access.base import LibraryReader, Opened
from hyperslab.access.card import Card
from hyperslab.access.netcdf4 import NetCDF4Array, NetCDF4Reader


class NCZarrReader(NetCDF4Reader):
    """Reads a directory as ``file://…#mode=nczarr,file``.

    Of Zarr 2 it sees no scalars. Big-endian arrays are refused: netCDF-C 4.9 gives their missing
    chunks the fill value with its bytes swapped.
    """

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        opened = super()._open(path, variable, chunk_cache_bytes)
        assert isinstance(opened, NetCDF4Array)
        if not opened.stored_dtype.isnative:
            opened.close()
            raise ValueError("it is big-endian: netCDF-C would swap the bytes of fill values")
        return opened

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
