"""Ranges of bytes of a file, here or behind a URL."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import SubchunkError
from .local import LocalFile
from .ranges import Source
from .remote import RemoteFile

__all__ = ["LocalFile", "RemoteFile", "Source", "source"]

_REMOTE_MARK = "://"


def source(place: str | Path, options: Mapping[str, Any] | None = None) -> Source:
    """Return the file at a path or URL.

    Parameters
    ----------
    place : path-like
    options : mapping, optional
        What opens URLs: `backend`, "fsspec" (the default) or "obstore", and what that one takes.

    Raises
    ------
    FileNotFoundError
        When nothing is there.
    SubchunkError
        When nothing can be read there.

    Examples
    --------
    >>> source(__file__).remote
    False
    """
    text = os.fspath(place)
    if _REMOTE_MARK not in text or text.startswith("file://"):
        return LocalFile(text.removeprefix("file://"))
    chosen = dict(options or {})
    backend = chosen.pop("backend", "fsspec")
    if backend == "fsspec":
        from .by_fsspec import FsspecFile

        return FsspecFile(text, chosen)
    if backend == "obstore":
        from .by_obstore import ObstoreFile

        return ObstoreFile(text, chosen)
    raise SubchunkError(f"backend is {backend!r}: give 'fsspec' or 'obstore'")
