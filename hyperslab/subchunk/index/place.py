"""Where files and their indexes lie."""

from __future__ import annotations

import os
from pathlib import Path

from ..fetch import is_url, local_path

SUFFIX = ".subchunk"
_ENDS = "?#"  # what may stand behind the path of a URL


def absolute(path: str | Path) -> str:
    """Return a URL as it is, and a path so that it holds in any folder.

    Examples
    --------
    >>> absolute("https://host/a.nc"), absolute("file:///data/a%20b.nc")
    ('https://host/a.nc', '/data/a b.nc')
    """
    return os.fspath(path) if is_url(path) else os.fspath(Path(local_path(path)).absolute())


def beside(path: str | Path) -> str:
    """Return the place of an index beside its file.

    Examples
    --------
    >>> beside("a.nc"), beside("https://host/a.nc?token=x")
    ('a.nc.subchunk', 'https://host/a.nc.subchunk?token=x')
    """
    front, behind = _cut(os.fspath(path))
    return front + SUFFIX + behind


def file_name(path: str | Path) -> str:
    """Return the last part of a path or URL.

    Examples
    --------
    >>> file_name("https://host/folder/a.nc?token=x")
    'a.nc'
    """
    return _cut(os.fspath(path))[0].rstrip("/").rpartition("/")[2]


def index_place(path: str | Path, place: str | Path | None) -> str:
    """Return where the index of a file lies: beside it, in a folder, or where it is said.

    Examples
    --------
    >>> index_place("data/a.nc", "https://host/indexes/")
    'https://host/indexes/a.nc.subchunk'
    """
    if place is None:
        return beside(path)
    text = os.fspath(place) if is_url(place) else local_path(place)
    front, behind = _cut(text)
    if front.endswith("/") or (not is_url(text) and Path(text).is_dir()):
        return f"{front.rstrip('/')}/{file_name(path)}{SUFFIX}{behind}"
    return text


def _cut(text: str) -> tuple[str, str]:
    """Return a path or URL up to its query, and the query."""
    if not is_url(text) or not text.startswith("http"):  # elsewhere names may hold such letters
        return text, ""
    end = min((at for mark in _ENDS if (at := text.find(mark)) >= 0), default=len(text))
    return text[:end], text[end:]
