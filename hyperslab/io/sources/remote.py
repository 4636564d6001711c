"""Sources at a URL, through fsspec: netCDF-4 and HDF5 by h5py, Zarr by zarr-python."""

from __future__ import annotations

from typing import Any

from ..creation import STORE_MARKS
from ..urls import Remote, Stream
from .base import Source, SourceError
from .classic import check_whole
from .hdf5 import hdf5_says

BLOCK_BYTES = 4 * 2**20  # read ahead; fsspec's own is up to 50 MiB
_PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "http": "aiohttp"}
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"


def open_remote(address: str) -> Source:
    """Open what lies at a URL."""
    scheme, _, rest = address.partition("://")
    remote = Remote(f"{scheme.lower()}://{rest}")
    try:
        if remote.kind == "http":
            import aiohttp

            wait = aiohttp.ClientTimeout(total=None, sock_connect=20, sock_read=120)
            remote = Remote(remote.url, {"client_kwargs": {"timeout": wait}})
        return _opened(remote)
    except SourceError:
        raise
    except ImportError as error:
        need = _PACKAGES.get(remote.kind, error.name or scheme)
        raise SourceError(
            f"{remote} cannot be read: {scheme} needs {need}: pip install {need}"
        ) from error
    except Exception as error:
        raise SourceError(_why(error, remote)) from error


def _opened(remote: Remote) -> Source:
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
    if head == HDF5_MAGIC:
        import h5py

        from .hdf5 import HDF5Source

        size = int(getattr(file, "size", None) or -1)
        _require_ranges(remote, system, path, size)
        file.seek(0)
        stream = Stream(file)
        return HDF5Source(remote.url, h5py.File(stream, "r"), None, size, stream)
    if classic and remote.kind == "http":
        from .netcdf import NetCDFSource

        with file:
            _require_ranges(remote, system, path)  # else netCDF-C says the format is unknown
            file.seek(0)
            check_whole(file, str(remote), getattr(file, "size", None))
        return NetCDFSource(remote.url, remote)
    file.close()
    if classic:
        raise SourceError(
            f"{remote} is classic netCDF, which can be read over http only: download it"
        )
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
        wanted = session.get(system.encode_url(path), headers={"Range": "bytes=1-1"})
        async with wanted as answer:
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
    from .zarr import ZarrSource

    source = ZarrSource(remote.url, remote)
    if any(v.layout and v.layout.shards for v in source.variables.values()):
        _require_ranges(remote, system, f"{path.rstrip('/')}/zarr.json")
    return source


def _why(error: BaseException, remote: Remote) -> str:
    """Return in one line why a URL cannot be read, and what to do."""
    said, absent = remote.said(error), FileNotFoundError | IsADirectoryError
    if getattr(error, "status", 0) == 404 or isinstance(error, absent):
        return f"{remote} cannot be read: there is nothing there: check the address"
    if "truncated file" in said:
        return hdf5_says(str(remote), said)
    return f"{remote} cannot be read: {said}: check the address, and whether you may read it"
