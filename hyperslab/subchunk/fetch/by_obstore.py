"""Files behind URLs that obstore knows."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote

from ..errors import SubchunkError
from .remote import RemoteFile, identity, shown

_AT_ONCE = 10  # ranges that one call fetches at the same time, whatever their number
_CALLS = 10
_started_in: list[int] = []  # the process whose threads obstore uses
_STORES = ("s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss")


class ObstoreFile(RemoteFile):
    """A file behind a URL that obstore knows: http, s3, gs, az."""

    def _open(self) -> None:
        try:
            from obstore.store import from_url
        except ImportError as error:
            raise SubchunkError(
                "backend='obstore' needs obstore: pip install 'hyperslab[obstore]'"
            ) from error
        _check_process(self.url)
        scheme, _, rest = self.url.partition("://")
        host, _, path = rest.partition("/")
        options = dict(self.options)
        if scheme == "http":
            options["client_options"] = {"allow_http": True} | options.get("client_options", {})
        if scheme in _STORES:
            base, self._path = f"{scheme}://{host}", path
        else:
            path, _, query = path.partition("?")
            folder, _, name = path.rpartition("/")
            self._path = unquote(name)  # it is quoted again
            base = f"{scheme}://{host}/{folder}".rstrip("/") + (f"?{query}" if query else "")
        self._store = from_url(base, **options)

    def _ask(self) -> dict[str, Any]:
        import obstore

        _check_process(self.url)
        meta = obstore.head(self._store, self._path)
        return identity(meta["size"], meta["e_tag"], meta["last_modified"])

    def _read(self, starts: Sequence[int], stops: Sequence[int]) -> Sequence[Any]:
        import obstore

        _check_process(self.url)
        # Ranges are joined already; older releases join with a gap of their own.
        joining: dict[str, Any] = {"coalesce": 0} if _can_join() else {}

        def some(first: int) -> list[memoryview]:
            part = slice(first, first + _AT_ONCE)
            found = obstore.get_ranges(
                self._store, self._path, starts=starts[part], ends=stops[part], **joining
            )
            return [memoryview(data) for data in found]

        groups = range(0, len(starts), _AT_ONCE)
        if len(groups) < 2:
            return some(0)
        with ThreadPoolExecutor(min(len(groups), _CALLS)) as pool:
            return [data for group in pool.map(some, groups) for data in group]

    def _named(self, error: Exception) -> SubchunkError:
        text = str(error)
        if type(error).__name__ == "NotSupportedError" or "206 Partial Content" in text:
            return self._no_ranges("gives no part of the file")
        return super()._named(error)


def _check_process(url: str) -> None:
    """Raise an error in a fork of a process that used obstore, where it would wait for ever."""
    if not _started_in:
        _started_in.append(os.getpid())
    if _started_in[0] != os.getpid():
        raise SubchunkError(
            f"{shown(url)} cannot be read in a process forked from one that used obstore: start "
            "processes by spawn or forkserver, or give backend='fsspec'"
        )


def _can_join() -> bool:
    import obstore

    return "coalesce" in inspect.signature(obstore.get_ranges).parameters
