"""Files behind URLs that fsspec knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .remote import RemoteFile

_TAGS = ("ETag", "etag", "LastModified", "mtime", "last_modified")


class FsspecFile(RemoteFile):
    """A file behind a URL that fsspec knows: http, s3, gs, abfs and more."""

    def _open(self) -> None:
        import fsspec

        self._files, self._path = fsspec.core.url_to_fs(self.url, **self.options)

    def _ask(self) -> dict[str, Any]:
        info = self._files.info(self._path)
        found: dict[str, Any] = {"size": info.get("size")}
        for name in _TAGS:
            if info.get(name) is not None:
                return found | {"tag": str(info[name])}
        return found

    def _read(self, starts: Sequence[int], stops: Sequence[int]) -> Sequence[Any]:
        paths = [self._path] * len(starts)
        found: list[Any] = self._files.cat_ranges(
            paths, list(starts), list(stops), on_error="raise"
        )
        return found
