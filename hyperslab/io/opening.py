"""Open a user's file, of whatever kind and wherever it is, for reading only."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import h5py

from ..subchunk import place
from .by_h5py import HDF5Source, datasets, hdf5_says, netcdf_kind, netcdf_reads
from .classic import check_whole
from .creation import STORE_MARKS
from .source import Source, SourceError, first_line
from .urls import Remote, Stream

BLOCK_BYTES = 4 * 2**20  # read ahead of a URL; fsspec's own is up to 50 MiB
_PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "http": "aiohttp"}
_HDF5 = b"\x89HDF\r\n\x1a\n"
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
    """Open a file, a store or a URL for reading; a `SourceError` says why it cannot be read."""
    text = place.local_path(address)
    path = local_path(text)
    if path is None:
        return _remote(text)
    if not text:
        raise SourceError(f"no file is named: {_TAKES}")
    try:
        if path.is_dir():
            return _folder(text, path)
        if stat.S_ISREG(path.stat().st_mode):
            return _file(text, path)
    except FileNotFoundError:
        raise SourceError(f"{text} does not exist: {_TAKES}") from None
    except OSError as error:
        raise SourceError(f"{text} cannot be read: {error.strerror or error}") from None
    raise SourceError(f"{text} is not a file: {_TAKES}")


def reopen(address: str, format: str, library: str = "") -> Source:
    """Open again, with the format it had, without looking into it first."""
    path = local_path(address)
    if path is None:
        return _remote(address)
    if format in ("zarr2", "zarr3"):
        from .by_zarr import ZarrSource

        return ZarrSource(address, path)
    if format == "hdf5" or library == "h5py":
        return HDF5Source(address, h5py.File(path, "r"), path)
    from .by_netcdf4 import NetCDFSource

    return NetCDFSource(address, path, nczarr=format == "nczarr")


def local_path(address: str) -> Path | None:
    """Return the path that an address names, be it as file://; None for what is far away."""
    return None if place.is_url(address) else Path(place.local_path(address))


def _folder(address: str, path: Path) -> Source:
    if not any((path / mark).is_file() for mark in STORE_MARKS):
        raise SourceError(
            f"{address} is a folder, and no Zarr store: there is no {STORE_MARKS[-1]} or "
            f"{STORE_MARKS[0]} in it: {_TAKES}"
        )
    with _damaged(f"{address} is a damaged Zarr store: "):
        return reopen(address, "nczarr" if _by_netcdf(path) else "zarr3")


@contextmanager
def _damaged(prefix: str, show: Callable[[str], str] = str) -> Iterator[None]:
    """Say of what goes wrong that the file is damaged, unless its library is not there."""
    try:
        yield
    except ImportError:
        raise
    except Exception as error:
        raise SourceError(prefix + show(first_line(error))) from error


def _by_netcdf(path: Path) -> bool:
    marks = [path / name for name in (".zgroup", ".zattrs") if (path / name).is_file()]
    marked = any("_nczarr" in mark.read_text(errors="replace") for mark in marks)
    return marked or (path / ".nczgroup").is_file()


def _file(address: str, path: Path) -> Source:
    size = path.stat().st_size
    if not size:
        raise SourceError(f"{address} is empty: it holds no byte")
    if h5py.is_hdf5(path):  # also after a block of the user's own
        return _hdf5(address, path)
    with path.open("rb") as file:
        head = file.read(512)
        if head.startswith((b"CDF\x01", b"CDF\x02", b"CDF\x05")):
            file.seek(0)
            check_whole(file, address, size)
            with _damaged(f"{address} is damaged: netCDF says ", repr):
                return reopen(address, "netcdf3")
    for magic, description in _OTHERS.items():
        if head.startswith(magic):
            raise SourceError(f"{address} is {description}")
    if head.startswith(_HDF5[:4]) or _HDF5.startswith(head):
        raise SourceError(f"{address} is truncated or damaged: it ends within its HDF5 signature")
    if _is_text(head):
        page = head.lstrip()[:1] == b"<"
        kind = "a page of HTML or XML, perhaps of a failed download" if page else "a text file"
        raise SourceError(f"{address} is {kind}: {_TAKES}")
    raise SourceError(f"{address} is no netCDF, HDF5 or Zarr: {_TAKES}")


def _hdf5(address: str, path: Path) -> Source:
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise SourceError(hdf5_says(address, str(error))) from error
    with _damaged(f"{address} is damaged: "), ExitStack() as held:
        held.callback(file.close)
        if netcdf_kind(file) and all(netcdf_reads(dataset) for _, dataset in datasets(file)):
            return reopen(address, "netcdf4")
        source = HDF5Source(address, file, path)
        held.pop_all()
        return source


def _is_text(head: bytes) -> bool:
    try:
        text = head.decode("utf-8", "strict" if len(head) < 512 else "ignore")
    except UnicodeDecodeError:
        return False
    return all(c.isprintable() or c in "\t\n\r\f" for c in text) and bool(text)


def _remote(address: str) -> Source:
    scheme, _, rest = address.partition("://")
    remote = Remote(f"{scheme.lower()}://{rest}")
    try:
        if remote.kind == "http":
            import aiohttp

            wait = aiohttp.ClientTimeout(total=None, sock_connect=20, sock_read=120)
            remote = Remote(remote.url, {"client_kwargs": {"timeout": wait}})
        return _at_url(remote)
    except SourceError:
        raise
    except ImportError as error:
        need = _PACKAGES.get(remote.kind, error.name or scheme)
        message = f"{remote} cannot be read: {scheme} needs {need}: pip install {need}"
        raise SourceError(message) from error
    except Exception as error:
        raise SourceError(_why(error, remote)) from error


def _at_url(remote: Remote) -> Source:
    system, path = remote.system()
    try:
        file = system.open(path, "rb", block_size=BLOCK_BYTES, cache_type="readahead")
        head = file.read(8)
    except (FileNotFoundError, IsADirectoryError) as error:
        if _is_zarr(system, path):
            return _zarr(remote, system, path)
        # An address that cannot be reached is not found either: the cause tells them apart.
        raise SourceError(_why(error.__cause__ or error, remote)) from error
    classic = head[:3] == b"CDF"
    if head == _HDF5:
        size = int(getattr(file, "size", None) or -1)
        _require_ranges(remote, system, path, size)
        file.seek(0)
        stream = Stream(file)
        return HDF5Source(remote.url, h5py.File(stream, "r"), None, size, stream)
    if classic and remote.kind == "http":
        from .by_netcdf4 import NetCDFSource

        with file:
            _require_ranges(remote, system, path)  # else netCDF-C says the format is unknown
            file.seek(0)
            check_whole(file, str(remote), getattr(file, "size", None))
        return NetCDFSource(remote.url, remote)
    file.close()
    if classic:
        message = f"{remote} is classic netCDF, which can be read over http only: download it"
        raise SourceError(message)
    if _is_zarr(system, path):  # a server may answer for a folder with a page
        return _zarr(remote, system, path)
    if not head:
        raise SourceError(f"{remote} is empty (0 bytes): check the address")
    raise SourceError(
        f"{remote} is no netCDF, HDF5 or Zarr: it begins with {head!r}; "
        "give the address of the file itself, not of a page about it"
    )


def _require_ranges(remote: Remote, system: Any, path: str, nbytes: int = 0) -> None:
    """Raise an error when a server gives a file only whole, and that is more than one block."""
    from fsspec.asyn import sync

    if remote.kind != "http" or 0 < nbytes <= BLOCK_BYTES:
        return

    async def ask() -> int:
        session = await system.set_session()
        request = session.get(system.encode_url(path), headers={"Range": "bytes=1-1"})
        async with request as answer:
            answer.raise_for_status()
            return int(answer.status)

    if sync(system.loop, ask) != 206:
        raise SourceError(
            f"{remote} cannot be read in parts, as it must be: its server does not answer range "
            "requests; download it and give the file"
        )


def _is_zarr(system: Any, path: str) -> bool:
    return any(system.exists(f"{path.rstrip('/')}/{mark}") for mark in STORE_MARKS)


def _zarr(remote: Remote, system: Any, path: str) -> Source:
    from .by_zarr import ZarrSource

    source = ZarrSource(remote.url, remote)
    if any(v.layout and v.layout.shards for v in source.variables.values()):
        _require_ranges(remote, system, f"{path.rstrip('/')}/zarr.json")
    return source


def _why(error: BaseException, remote: Remote) -> str:
    """Return in one line why a URL cannot be read, and what to do."""
    reason, absent = remote.message(error), isinstance(error, FileNotFoundError | IsADirectoryError)
    if absent or getattr(error, "status", 0) == 404:
        return f"{remote} cannot be read: there is nothing there: check the address"
    if "truncated file" in reason:
        return hdf5_says(str(remote), reason)
    return f"{remote} cannot be read: {reason}: check the address, and whether you may read it"
