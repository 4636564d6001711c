"""Files behind URLs that obstore knows."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote

from ..errors import SubchunkError
from .remote import RemoteFile, identity, shown

_AT_ONCE = 64  # ranges that are fetched at the same time
_started_in: list[int] = []  # the process whose threads obstore uses
_STORES = ("s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss")


class ObstoreFile(RemoteFile):
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

        def fetch(start: int, stop: int) -> memoryview:
            answer = obstore.get(self._store, self._path, options={"range": (start, stop)})
            meta = answer.meta
            self._same(identity(None, meta["e_tag"], meta["last_modified"]).get("tag"))
            return memoryview(answer.bytes())

        if len(starts) == 1:
            return [fetch(starts[0], stops[0])]
        with ThreadPoolExecutor(min(len(starts), _AT_ONCE)) as pool:
            return list(pool.map(fetch, starts, stops))

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
