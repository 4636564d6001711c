"""Sources at a URL, through fsspec: netCDF-4 and HDF5 by h5py, Zarr by zarr-python."""

from __future__ import annotations

import asyncio
import os
import re
import weakref
from typing import Any
from urllib.parse import urlsplit

import fsspec
import h5py
from fsspec.asyn import sync

from .base import Source, SourceError
from .classic import needed_bytes
from .damage import hdf5_says, truncated

BLOCK_BYTES = 4 * 2**20  # read ahead; fsspec's own is up to 50 MiB
_MARKS = ("zarr.json", ".zgroup", ".zarray")
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "http": "aiohttp",
             "https": "aiohttp"}  # fmt: skip
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"


def is_url(address: str) -> bool:
    """Return whether an address is a URL and no path.

    Examples
    --------
    >>> is_url("https://example.org/sst.nc"), is_url("data/sst.nc")
    (True, False)
    """
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", address) is not None


def shown(address: str) -> str:
    """Return a URL without user, password and query, which may hold secrets.

    Examples
    --------
    >>> shown("https://me:secret@example.org/a.nc?token=1")
    'https://example.org/a.nc'
    """
    scheme, _, rest = address.partition("://")
    server, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme}://{server.rpartition('@')[2]}{slash}{path}"


def open_remote(address: str) -> Source:
    """Open what lies at a URL.

    Raises
    ------
    SourceError
        When it cannot be reached or read, or is of another kind.
    """
    try:
        _check_address(address)
        return _opened(address)
    except SourceError:
        raise
    except ImportError as error:
        scheme = urlsplit(address).scheme.lower()
        need = _PACKAGES.get(scheme, error.name or scheme)
        raise SourceError(
            f"{shown(address)} cannot be read: {scheme} needs {need}: pip install {need}"
        ) from error
    except Exception as error:
        raise SourceError(_why(error, address)) from error


def _check_address(address: str) -> None:
    """Raise an error for an address that cannot be taken apart, or lacks a part."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        raise SourceError(f"{shown(address)} is no address: check its server and port") from None
    web = parts.scheme in ("http", "https")
    if not (parts.hostname if web else parts.netloc) and parts.scheme in _PACKAGES:
        what, example = ("server", "example.org") if web else ("bucket", "bucket")
        raise SourceError(
            f"{shown(address)} names no {what}: give a whole address, such as "
            f"{parts.scheme}://{example}/sst.nc"
        )


def _opened(address: str) -> Source:
    scheme, _, rest = address.partition("://")
    scheme = scheme.lower()
    address = f"{scheme}://{rest}"
    if scheme not in fsspec.available_protocols():
        raise SourceError(
            f"{shown(address)} cannot be read: there is no way to {scheme}://; give a path or a "
            "URL of http, https or s3"
        )
    options: dict[str, Any] = {}
    if scheme in ("http", "https"):
        import aiohttp

        wait = aiohttp.ClientTimeout(total=None, sock_connect=20, sock_read=120)
        options["client_kwargs"] = {"timeout": wait}
    system, path = fsspec.core.url_to_fs(address, **options)
    try:
        file = system.open(path, "rb", block_size=BLOCK_BYTES, cache_type="readahead")
        head = file.read(8)
    except (FileNotFoundError, IsADirectoryError) as error:
        if _is_zarr(system, path):
            return _zarr(address, system, path)
        # An address that cannot be reached is not found either: the cause tells them apart.
        raise SourceError(_why(error.__cause__ or error, address)) from error
    if head == HDF5_MAGIC:
        from .hdf5 import HDF5Source

        size = int(getattr(file, "size", None) or -1)
        _require_ranges(address, system, path, size)
        file.seek(0)
        opened = h5py.File(file, "r")
        return HDF5Source(address, opened, size, threads=True, on_close=file.close)
    if head[:3] == b"CDF" and scheme in ("http", "https"):
        from .netcdf import NetCDFSource

        with file:
            _require_ranges(
                address, system, path
            )  # without them netCDF-C says that the format is unknown
            _check_whole(file, address)
        source = NetCDFSource(address, f"{address}#mode=bytes", None)
        source.threads = True
        return source
    file.close()
    if head[:3] == b"CDF":
        raise SourceError(
            f"{shown(address)} is classic netCDF, which can be read over http only: download it"
        )
    if _is_zarr(system, path):  # a server may answer for a folder with a page
        return _zarr(address, system, path)
    if not head:
        raise SourceError(f"{shown(address)} is empty (0 bytes): check the address")
    raise SourceError(
        f"{shown(address)} is no netCDF, HDF5 or Zarr: it begins with {head!r}; "
        "give the address of the file itself, not of a page about it"
    )


def _check_whole(file: Any, address: str) -> None:
    """Raise an error for a classic file that is cut off, of which netCDF-C reads zeros."""
    file.seek(0)
    try:
        needed = needed_bytes(file)
    except ValueError as error:
        raise SourceError(
            f"{shown(address)} is truncated or damaged: {error}; copy or download it again"
        ) from None
    size = getattr(file, "size", None)
    if size is not None and size < needed:
        raise SourceError(truncated(shown(address), int(size), needed))


def _require_ranges(address: str, system: Any, path: str, nbytes: int = 0) -> None:
    """Raise an error when a server gives a file only whole, and that is more than one block."""
    if "http" not in system.protocol or 0 < nbytes <= BLOCK_BYTES:
        return

    async def ask() -> int:
        session = await system.set_session()
        wanted = session.get(system.encode_url(path), headers={"Range": "bytes=1-1"})
        async with wanted as answer:
            answer.raise_for_status()
            return int(answer.status)

    if sync(system.loop, ask) != 206:
        raise SourceError(
            f"{shown(address)} cannot be read in parts, as it must be: its server does not answer "
            "range requests; download it and give the file"
        )


def _is_zarr(system: Any, path: str) -> bool:
    return any(system.exists(f"{path.rstrip('/')}/{mark}") for mark in _MARKS)


def _zarr(address: str, system: Any, path: str) -> Source:
    import zarr.storage

    from .zarr import ZarrSource

    alone = {"skip_instance_cache": True}
    store = zarr.storage.FsspecStore.from_url(address, alone, read_only=True)
    if "http" in store.fs.protocol:
        _close_at_end(store.fs)
    source = ZarrSource(address, store, None)
    if any(variable.shards for variable in source.variables.values()):
        _require_ranges(address, system, f"{path.rstrip('/')}/zarr.json")
    return source


def _close_at_end(system: Any) -> None:
    """Make a file system of zarr-python's loop close its session: fsspec leaves it to its user."""
    from zarr.core.sync import sync as run

    async def opened() -> tuple[asyncio.AbstractEventLoop, Any]:
        return asyncio.get_running_loop(), await system.set_session()

    weakref.finalize(system, system.close_session, *run(opened()))


def _why(error: BaseException, address: str) -> str:
    """Return in one line why a URL cannot be read, and what to do."""
    url = shown(address)
    status = getattr(error, "status", None)
    if status == 404 or isinstance(error, FileNotFoundError | IsADirectoryError):
        return f"{url} cannot be read: there is nothing there: check the address"
    if isinstance(status, int) and status >= 400:
        said = getattr(error, "message", "")
        return (
            f"{url} cannot be read: its server answers {f'{status} {said}'.strip()}: check the "
            "address, and whether it may be read from here"
        )
    if "Cannot seek streaming" in str(error):
        return (
            f"{url} cannot be read in parts: its server does not say how long it is; download it "
            "and give the file"
        )
    number = getattr(error, "errno", None)
    if isinstance(error, ConnectionError | TimeoutError | OSError) and number:
        said = os.strerror(number) if number > 0 else getattr(error, "strerror", "")
        return f"{url} cannot be reached: {said or reason(error, address)}: check the address"
    if "truncated file" in str(error):
        return hdf5_says(url, str(error))
    return f"{url} cannot be read: {reason(error, address)}"


def reason(error: BaseException, address: str) -> str:
    """Return the first line of what an error says, the address shortened in it."""
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    return re.sub(r"\?[^\s'\"]*", "", text.replace(address, shown(address)))
