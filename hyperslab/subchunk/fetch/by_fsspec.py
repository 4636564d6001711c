"""Files behind URLs that fsspec knows."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

from .remote import RemoteFile, identity

_TAGS = ("ETag", "etag", "Content-MD5", "Digest")
_TIMES = ("LastModified", "Last-Modified", "last_modified", "mtime", "updated", "created")


class FsspecFile(RemoteFile):
    """A file behind a URL that fsspec knows: http, s3, gs, abfs and more.

    fsspec shares a file system, and its connections, between all files that are opened alike, and
    closes them when the process ends.
    """

    def _open(self) -> None:
        import fsspec

        self._system, self._path = fsspec.core.url_to_fs(self.url, **self.options)
        self._process = os.getpid()
        _leave_to_parent(self._system)

    @property
    def _files(self) -> Any:
        """The file system; a new one in a forked process, which lacks the thread of the old."""
        if self._process != os.getpid():
            self._open()
        return self._system

    def _ask(self) -> dict[str, Any]:
        info = self._files.info(self._path)
        tag, time = (
            next((info[name] for name in names if info.get(name) is not None), None)
            for names in (_TAGS, _TIMES)
        )
        return identity(info.get("size"), tag, time)

    def _read(self, starts: Sequence[int], stops: Sequence[int]) -> Sequence[Any]:
        paths = [self._path] * len(starts)
        found: list[Any] = self._files.cat_ranges(
            paths, list(starts), list(stops), on_error="raise"
        )
        return found


def _leave_to_parent(system: Any) -> None:
    """Make a file system close its session in the process that made it and in no fork of it.

    A fork that closed it would take the connections away from the parent's loop, which then waits
    for answers without end.
    """
    close = getattr(system, "close_session", None)
    if close and not isinstance(close, functools.partial):
        system.close_session = functools.partial(_close, os.getpid(), close)


def _close(process: int, close: Callable[[Any, Any], None], loop: Any, session: Any) -> None:
    if process == os.getpid():
        close(loop, session)
    else:
        # Nor may it be collected, which closes it too.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))
