"""Ranges of bytes of a file, here or behind a URL."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .errors import MissingFileError, SubchunkError

GAP_LOCAL, GAP_REMOTE = 4096, 65536  # bytes that are quicker read than skipped
_REMOTE_MARK = "://"


class Source(Protocol):
    """A file that gives ranges of its bytes."""

    @property
    def remote(self) -> bool:
        """Whether each request costs a journey."""

    def identity(self) -> dict[str, Any]:
        """Return size and time or tag: what tells, without reading, that a file changed."""

    def ranges(self, starts: Sequence[int], stops: Sequence[int]) -> list[memoryview]:
        """Return the bytes of each range."""


class LocalFile:
    """A file of this machine, read by pread without read-ahead.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    OSError
        When it cannot be opened.
    """

    remote = False

    def __init__(self, path: str | Path) -> None:
        self.path = os.fspath(path)
        self._fd: int = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._fd, 0, 0, os.POSIX_FADV_RANDOM)

    def __reduce__(self) -> tuple[Any, ...]:
        return LocalFile, (self.path,)

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            os.close(self._fd)

    def identity(self) -> dict[str, Any]:
        """Return size and modification time."""
        stat = os.fstat(self._fd)
        return {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}

    def ranges(self, starts: Sequence[int], stops: Sequence[int]) -> list[memoryview]:
        """Return the bytes of each range; shorter where the file ends."""
        return _joined(self._read, starts, stops, GAP_LOCAL)

    def _read(self, starts: Sequence[int], stops: Sequence[int]) -> list[bytes]:
        return [
            os.pread(self._fd, stop - start, start)
            for start, stop in zip(starts, stops, strict=True)
        ]


class RemoteFile:
    """A file behind a URL that fsspec knows, read by concurrent ranges.

    Parameters
    ----------
    url : str
    options : mapping
        What fsspec gives the file system.

    Raises
    ------
    SubchunkError
        When nothing can be read there.
    """

    remote = True

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        import fsspec

        self.url, self.options = url, dict(options or {})
        try:
            self._files, self._path = fsspec.core.url_to_fs(url, **self.options)
        except (ImportError, ValueError) as error:
            raise SubchunkError(f"{url} cannot be read: {error}") from error
        self._identity: dict[str, Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteFile, (self.url, self.options)

    def identity(self) -> dict[str, Any]:
        """Return size and the server's tag or time, asked for once."""
        if self._identity is None:
            try:
                info = self._files.info(self._path)
            except Exception as error:
                raise self._error(error) from error
            found: dict[str, Any] = {"size": info.get("size")}
            for name in ("ETag", "etag", "LastModified", "mtime", "last_modified"):
                if info.get(name) is not None:
                    found["tag"] = str(info[name])
                    break
            self._identity = found
        return self._identity

    def ranges(self, starts: Sequence[int], stops: Sequence[int]) -> list[memoryview]:
        """Return the bytes of each range, fetched at the same time."""
        return _joined(self._read, starts, stops, GAP_REMOTE)

    def _read(self, starts: Sequence[int], stops: Sequence[int]) -> list[bytes]:
        paths = [self._path] * len(starts)
        try:
            found: list[Any] = self._files.cat_ranges(
                paths, list(starts), list(stops), on_error="raise"
            )
        except Exception as error:
            raise self._error(error) from error
        for data, start, stop in zip(found, starts, stops, strict=True):
            if len(data) > stop - start:
                raise SubchunkError(
                    f"{self.url}: the server sends {len(data)} bytes where {stop - start} were "
                    "asked for: it does not support ranges; copy the file, or serve it by another"
                )
        return [bytes(data) for data in found]

    def _error(self, error: Exception) -> SubchunkError:
        if isinstance(error, FileNotFoundError):
            return MissingFileError(f"{self.url} is not there")
        return SubchunkError(f"{self.url} cannot be read: {_said(error)}")


def source(place: str | Path, options: Mapping[str, Any] | None = None) -> Source:
    """Return the file at a path or URL.

    Examples
    --------
    >>> source(__file__).remote
    False
    """
    text = os.fspath(place)
    if _REMOTE_MARK in text and not text.startswith("file://"):
        return RemoteFile(text, options)
    return LocalFile(text.removeprefix("file://"))


def _said(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _joined(read: Any, starts: Sequence[int], stops: Sequence[int], gap: int) -> list[memoryview]:
    """Read ranges, near ones together, and cut what came back into those asked for."""
    if len(starts) < 2:
        return [memoryview(data) for data in read(starts, stops)]
    first = np.asarray(starts, np.int64)
    last = np.asarray(stops, np.int64)
    order = np.argsort(first, kind="stable")
    first, last = first[order], last[order]
    reach = np.maximum.accumulate(last)
    cuts = np.flatnonzero(first[1:] > reach[:-1] + gap) + 1
    begins = first[np.concatenate([[0], cuts])]
    ends = reach[np.concatenate([cuts - 1, [len(first) - 1]])]
    pieces = [memoryview(data) for data in read(begins.tolist(), ends.tolist())]
    group = np.searchsorted(begins, first, "right") - 1
    low = (first - begins[group]).tolist()
    high = (last - begins[group]).tolist()
    found: list[memoryview] = [memoryview(b"")] * len(first)
    for number, piece, begin, end in zip(order.tolist(), group.tolist(), low, high, strict=True):
        found[number] = pieces[piece][begin:end]
    return found
