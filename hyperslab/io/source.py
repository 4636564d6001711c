"""Open a user's file, of whatever kind it is, for reading only."""

from __future__ import annotations

import stat
from pathlib import Path

from .creation import STORE_MARKS
from .sources.base import Source, SourceError, SourceVariable, first_line, local_path
from .sources.classic import check_whole
from .sources.remote import HDF5_MAGIC, open_remote

__all__ = ["Source", "SourceError", "SourceVariable", "open_source"]

_TAKES = "give a netCDF, HDF5 or Zarr file"
_OTHERS = {
    b"GRIB": "a GRIB file: turn it into netCDF first (cdo -f nc copy, or cfgrib)",
    b"PK\x03\x04": "a zip archive: unpack it first",
    b"\x1f\x8b": "compressed with gzip: unpack it first",
    b"BZh": "compressed with bzip2: unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: unpack it first",
    b"\x0e\x03\x13\x01": "an HDF4 file: turn it into HDF5 first (h4toh5)",
}


def open_source(address: str | Path) -> Source:
    """Open a file, a store or a URL for reading.

    netCDF of every kind is read by netCDF4-python, other HDF5 by h5py, Zarr by zarr-python; over a
    network netCDF-4 is read by h5py too. A `SourceError` says what is not there, cannot be read,
    is damaged, or is of another kind.
    """
    given = str(address).removeprefix("file://")
    path = local_path(given)
    if path is None:
        return open_remote(given)
    if not given:
        raise SourceError(f"no file is named: {_TAKES}")
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return _folder(given, path)
        if stat.S_ISREG(mode):
            return _file(given, path)
    except FileNotFoundError:
        raise SourceError(f"{given} does not exist: {_TAKES}") from None
    except OSError as error:
        raise SourceError(f"{given} cannot be read: {error.strerror or error}") from None
    raise SourceError(f"{given} is not a file: {_TAKES}")


def reopen(address: str, format: str, library: str = "") -> Source:
    """Open again what was opened before, without looking into it first.

    The format is that of the source; the library is "h5py" for a netCDF-4 file that h5py reads.
    """
    path = local_path(address)
    if path is None:
        return open_remote(address)
    if format in ("zarr2", "zarr3"):
        from .sources.zarr import ZarrSource

        return ZarrSource(address, path)
    if format == "hdf5" or library == "h5py":
        import h5py

        from .sources.hdf5 import HDF5Source

        return HDF5Source(address, h5py.File(path, "r"), path)
    from .sources.netcdf import NetCDFSource

    return NetCDFSource(address, path, nczarr=format == "nczarr")


def _folder(given: str, path: Path) -> Source:
    if not any((path / mark).is_file() for mark in STORE_MARKS):
        raise SourceError(
            f"{given} is a folder, and no Zarr store: there is no {STORE_MARKS[-1]} or "
            f"{STORE_MARKS[0]} in it: {_TAKES}"
        )
    try:
        return reopen(given, "nczarr" if _by_netcdf(path) else "zarr3")
    except Exception as error:
        raise SourceError(f"{given} is a damaged Zarr store: {first_line(error)}") from error


def _by_netcdf(path: Path) -> bool:
    """Whether a store is netCDF-C's: its own marks stand in it."""
    marks = [path / name for name in (".zgroup", ".zattrs") if (path / name).is_file()]
    marked = any("_nczarr" in mark.read_text(errors="replace") for mark in marks)
    return marked or (path / ".nczgroup").is_file()


def _file(given: str, path: Path) -> Source:
    import h5py

    size = path.stat().st_size
    if not size:
        raise SourceError(f"{given} is empty: it holds no byte")
    if h5py.is_hdf5(path):  # also after a block of the user's own
        return _hdf5(given, path)
    with path.open("rb") as file:
        head = file.read(512)
        if head.startswith((b"CDF\x01", b"CDF\x02", b"CDF\x05")):
            file.seek(0)
            check_whole(file, given, size)
            try:
                return reopen(given, "netcdf3")
            except Exception as error:
                said = first_line(error)
                raise SourceError(f"{given} is damaged: netCDF says {said!r}") from error
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise SourceError(f"{given} is {what}")
    if head.startswith(HDF5_MAGIC[:4]) or HDF5_MAGIC.startswith(head):
        raise SourceError(f"{given} is truncated or damaged: it ends within its HDF5 signature")
    if _is_text(head):
        page = head.lstrip()[:1] == b"<"
        kind = "a page of HTML or XML, perhaps of a failed download" if page else "a text file"
        raise SourceError(f"{given} is {kind}: {_TAKES}")
    raise SourceError(f"{given} is no netCDF, HDF5 or Zarr: {_TAKES}")


def _hdf5(given: str, path: Path) -> Source:
    import h5py

    from .sources.hdf5 import HDF5Source, datasets, hdf5_says, netcdf_kind, netcdf_reads
    from .sources.netcdf import NetCDFSource

    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise SourceError(hdf5_says(given, str(error))) from error
    try:
        if netcdf_kind(file) and all(netcdf_reads(dataset) for _, dataset in datasets(file)):
            source = NetCDFSource(given, path)
            file.close()
            return source
        return HDF5Source(given, file, path)
    except Exception as error:
        file.close()
        raise SourceError(f"{given} is damaged: {first_line(error)}") from error


def _is_text(head: bytes) -> bool:
    try:
        text = head.decode("utf-8", "strict" if len(head) < 512 else "ignore")
    except UnicodeDecodeError:
        return False
    return all(c.isprintable() or c in "\t\n\r\f" for c in text) and bool(text)
