"""Ranges of bytes of a file, here or behind a URL."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import SubchunkError
from ..place import is_url, local_path
from .local import LocalFile as LocalFile
from .remote import RemoteFile as RemoteFile

Source = LocalFile | RemoteFile


def source(path: str | Path, options: Mapping[str, Any] | None = None) -> Source:
    text = os.fspath(path)
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
