"""Ranges of bytes of a file, here or behind a URL."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..errors import SubchunkError
from .local import LocalFile
from .ranges import Source
from .remote import RemoteFile

__all__ = ["LocalFile", "RemoteFile", "Source", "is_url", "local_path", "source"]

_REMOTE_MARK, _LOCAL = "://", "file://"


def is_url(place: str | Path) -> bool:
    """Return whether a place is one that this machine reaches by asking another.

    Examples
    --------
    >>> is_url("https://host/a.nc"), is_url("file:///a.nc"), is_url("a.nc")
    (True, False, False)
    """
    text = os.fspath(place)
    return _REMOTE_MARK in text and not text.startswith(_LOCAL)


def local_path(place: str | Path) -> str:
    """Return the path of a file of this machine, which may be given as a URL.

    Examples
    --------
    >>> local_path("file:///data/a%20b.nc")
    '/data/a b.nc'
    """
    text = os.fspath(place)
    return unquote(text.removeprefix(_LOCAL)) if text.startswith(_LOCAL) else text


def source(place: str | Path, options: Mapping[str, Any] | None = None) -> Source:
    """Return the file at a path or URL.

    Examples
    --------
    >>> source(__file__).remote
    False
    """
    text = os.fspath(place)
    if not is_url(text):
        return LocalFile(local_path(text))
    chosen = dict(options or {})
    backend = chosen.pop("backend", "fsspec")
    if backend == "fsspec":
        from .by_fsspec import FsspecFile

        return FsspecFile(text, chosen)
    if backend == "obstore":
        from .by_obstore import ObstoreFile

        return ObstoreFile(text, chosen)
    raise SubchunkError(f"backend is {backend!r}: give 'fsspec' or 'obstore'")
