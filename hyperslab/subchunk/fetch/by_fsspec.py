"""Files behind URLs that fsspec knows."""

import asyncio
import ctypes
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import fsspec

from .remote import RemoteFile, identity

_TAGS = ("ETag", "etag", "Content-MD5", "Digest")
_SUCCEEDED = (200, 206)
_TIMES = ("LastModified", "Last-Modified", "last_modified", "mtime", "updated", "created")


class FsspecFile(RemoteFile):
    def _open(self) -> None:
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
        return identity(info.get("size"), _first(info, _TAGS), _first(info, _TIMES))

    def _read(self, starts: Sequence[int], stops: Sequence[int]) -> Sequence[Any]:
        system, more = self._files, dict[str, Any]()
        if "s3" in system.protocol:
            return list(fsspec.asyn.sync(system.loop, self._from_s3, starts, stops))
        if "http" in system.protocol:
            more["raise_for_status"] = self._check_headers
        paths, more["on_error"] = [self._path] * len(starts), "raise"
        ranges: list[Any] = system.cat_ranges(paths, list(starts), list(stops), **more)
        return ranges

    async def _check_headers(self, answer: Any) -> None:
        """Compare the tag of an answer; what is wrong with it otherwise fsspec says."""
        if answer.status in _SUCCEEDED:
            tag, time = _first(answer.headers, _TAGS), _first(answer.headers, _TIMES)
            self._same(identity(None, tag, time).get("tag"))

    async def _from_s3(self, starts: Sequence[int], stops: Sequence[int]) -> Sequence[bytes]:
        """Return ranges as s3fs gives them, which keeps the tags of the answers to itself."""
        bucket, key, version = self._system.split_path(self._path)
        where = {"Bucket": bucket, "Key": key} | ({"VersionId": version} if version else {})

        async def fetch(start: int, stop: int) -> bytes:
            byte_range = f"bytes={start}-{stop - 1}"
            answer = await self._system._call_s3("get_object", **where, Range=byte_range)
            async with answer["Body"] as body:
                self._same(identity(None, answer.get("ETag"), None).get("tag"))
                data: bytes = await body.read()
            return data

        return await asyncio.gather(*map(fetch, starts, stops))


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _leave_to_parent(system: Any) -> None:
    """Let a file system close its session in no fork, where that would take the parent's away."""
    close = getattr(system, "close_session", None)
    if close and not isinstance(close, functools.partial):
        system.close_session = functools.partial(_close, os.getpid(), close)


def _close(process: int, close: Callable[[Any, Any], None], loop: Any, session: Any) -> None:
    if process == os.getpid():
        close(loop, session)
    else:
        # Nor may it be collected, which closes it too.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))
