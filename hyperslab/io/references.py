"""References: where the chunks of an HDF5 file lie, so that Zarr's readers can read them."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from fsspec.implementations.reference import ReferenceFileSystem

from .urls import ALONE, Remote, system_in_zarr

SUFFIX = ".kerchunk.json"


def write(path: str | Path) -> Path:
    """Write kerchunk's references to the chunks of a netCDF-4 or HDF5 file beside it; return where.

    They name no place: whoever reads them says where the file is.

    Examples
    --------
    >>> import h5py, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.h5"
    >>> with h5py.File(path, "w") as file:
    ...     _ = file.create_dataset("x", data=range(1000), chunks=(500,), compression=4)
    >>> write(path).name
    'x.h5.kerchunk.json'
    >>> read(path, "http://example.org/x.h5")["x/0"][0]
    'http://example.org/x.h5'
    """
    from kerchunk.hdf import SingleHdf5ToZarr

    from ..subchunk.index.build import whole_file
    from ..subchunk.process import COLLECTION

    # It holds h5py's lock while it waits for the thread of zarr-python.
    with COLLECTION.put_off():
        # VirtualiZarr knows no small chunks that lie among the references.
        refs = SingleHdf5ToZarr(os.fspath(path), inline_threshold=0).translate()["refs"]
    for key, value in refs.items():
        if isinstance(value, list):
            refs[key] = ["", *value[1:]]
    out = Path(f"{os.fspath(path)}{SUFFIX}")
    with whole_file(out) as partial:
        partial.write_text(json.dumps({"version": 1, "refs": refs}))
    return out


def read(path: str | Path, url: str) -> dict[str, Any]:
    """Read the references beside a file, and let them point to a URL."""
    return _pointing(Path(f"{os.fspath(path)}{SUFFIX}").read_bytes(), url)


def references_of(remote: Remote) -> dict[str, Any]:
    system, path = remote.beside(SUFFIX).system()
    return _pointing(system.cat_file(path), remote.url)


def store_of(refs: dict[str, Any], remote: Remote, held: ExitStack) -> Any:
    """Return the Zarr store that references to a file behind a URL make, which `held` closes."""
    from zarr.storage import FsspecStore

    system, _, close = system_in_zarr(remote)
    held.callback(close)
    return FsspecStore(ReferenceFileSystem(refs, fs=system, **ALONE), path="", read_only=True)


def _pointing(text: bytes, url: str) -> dict[str, Any]:
    refs: dict[str, Any] = json.loads(text)["refs"]
    return {
        key: [url, *value[1:]] if isinstance(value, list) else value for key, value in refs.items()
    }
