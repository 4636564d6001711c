"""Where files and their indexes lie."""

import os
import re
from pathlib import Path
from urllib.parse import unquote

SUFFIX = ".subchunk"
_REMOTE_MARK, _LOCAL = "://", "file://"


def is_url(path: str | Path) -> bool:
    text = os.fspath(path)
    return _REMOTE_MARK in text and not text.startswith(_LOCAL)


def local_path(path: str | Path) -> str:
    """Return the path of a file of this machine, which may be given as a URL."""
    text = os.fspath(path)
    if text.startswith(_LOCAL):
        return unquote(text.removeprefix(_LOCAL))
    # What is no user's home stays as it is.
    return os.path.expanduser(text)  # noqa: PTH111


def absolute(path: str | Path) -> str:
    """Return a URL as it is, and a path so that it holds in any folder."""
    return os.fspath(path) if is_url(path) else os.fspath(Path(local_path(path)).absolute())


def file_name(path: str | Path) -> str:
    return _cut(os.fspath(path))[0].rstrip("/").rpartition("/")[2]


def index_path(path: str | Path, index: str | Path | None) -> str:
    """Return where the index of a file lies: beside it, in a folder, or where it is said."""
    if index is None:
        front, behind = _cut(os.fspath(path))
        return front + SUFFIX + behind
    text = os.fspath(index) if is_url(index) else local_path(index)
    front, behind = _cut(text)
    if front.endswith("/") or (not is_url(text) and Path(text).is_dir()):
        return f"{front.rstrip('/')}/{file_name(path)}{SUFFIX}{behind}"
    return text


def target_path(path: str | Path, index: str | Path | None) -> Path:
    if index is None and is_url(path):
        return Path.cwd() / (file_name(path) + SUFFIX)
    target = index_path(path if is_url(path) else absolute(path), index)
    if is_url(target):
        raise ValueError(
            f"the index cannot be written to {target}: name a file of this machine, and copy it"
        )
    return Path(target)


def _cut(text: str) -> tuple[str, str]:
    """Return a path or URL up to its query, and the query."""
    if not is_url(text) or not text.startswith("http"):  # elsewhere names may hold such letters
        return text, ""
    front = re.split("[?#]", text, maxsplit=1)[0]
    return front, text[len(front) :]
