"""Files and stores behind URLs: what opens them, and what may be said of them."""

from __future__ import annotations

import asyncio
import io
import re
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from ..secret import concealed, of_options, of_url

_KINDS = {"http": "http", "https": "http", "s3": "s3", "s3a": "s3"}
ALONE = {"asynchronous": True, "skip_instance_cache": True}
"""Makes a file system of fsspec's that an event loop has for itself."""
# What obstore calls that which fsspec's s3fs takes.
_OBSTORE = {
    "key": "access_key_id",
    "secret": "secret_access_key",
    "anon": "skip_signature",
    "region_name": "region",
}

# What netCDF-C and codecs say whatever a server did.
_BARE = ("NetCDF: ", "decompress", "checksum")
_ASK_THE_SERVER = (
    "the library does not say what the server did: see whether it answers, and try again; if this "
    "stays, the file is damaged"
)


@dataclass(frozen=True)
class Remote:
    """A file or a store behind a URL.

    Examples
    --------
    >>> place = Remote("https://me:secret@example.org/sst.zarr?token=1")
    >>> str(place), place.below("sst").url
    ('https://example.org/sst.zarr', 'https://me:secret@example.org/sst.zarr/sst?token=1')
    """

    url: str = field(repr=False)
    # What fsspec takes beside it; it may hold credentials.
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return re.sub("://[^/]*@", "://", re.split("[?#]", self.url, maxsplit=1)[0])

    @property
    def kind(self) -> str:
        """How it is reached: "http" or "s3", or the URL's own scheme."""
        scheme = self.url.partition("://")[0].lower()
        return _KINDS.get(scheme, scheme)

    def below(self, name: str) -> Remote:
        """Give what lies in it under a name."""
        folder, mark, query = self.url.partition("?")
        return replace(self, url=f"{folder.rstrip('/')}/{name}{mark}{query}")

    def beside(self, suffix: str) -> Remote:
        """Give what lies beside it, its name with an ending."""
        path, mark, query = self.url.partition("?")
        return replace(self, url=f"{path}{suffix}{mark}{query}")

    def stream(self, cache: Mapping[str, Any] | None = None) -> Stream:
        """Open it by fsspec, with one of its caches (fsspec's own choice by default)."""
        system, path = self.system()
        return Stream(system.open(path, "rb", **(cache or {})))

    def system(self) -> tuple[Any, str]:
        """Give fsspec's file system, and the path in it."""
        import fsspec

        system_path: tuple[Any, str] = fsspec.core.url_to_fs(self.url, **self.options)
        return system_path

    def cause(self, error: BaseException) -> BaseException | None:
        """Give an error as the cause of ours; None where its text could tell what is secret."""
        # Libraries put whole addresses and headers into theirs, and a traceback shows all of them.
        return None if self.options or re.search(r"[?@]", self.url) else error

    def message(self, error: BaseException) -> str:
        """Give the first lines of an error and its cause, without what is kept secret."""
        from ..subchunk.fetch.remote import fault  # h5py comes with it

        # What follows HDF5's first line is addresses and errno.
        text = (str(error).strip() or type(error).__name__).splitlines()[0]
        # kerchunk's does not say what was wrong, but its cause does.
        cause = str(error.__cause__ or "").strip().splitlines()[:1]
        text += "".join(f": {line}" for line in cause if line not in text)
        text = fault(error) or (fault(error.__cause__) if error.__cause__ else "") or text
        if any(words in text for words in _BARE):
            text += f"; {_ASK_THE_SERVER}"
        text = text.replace(self.url, str(self))
        return concealed(text, {*of_options(self.options), *of_url(self.url)})

    def obstore(self) -> dict[str, Any]:
        """Give the options in obstore's words."""
        options = dict(self.options)
        options |= options.pop("client_kwargs", {})
        renamed = {_OBSTORE.get(name, name): value for name, value in options.items()}
        if self.url.startswith("http://") or str(renamed.get("endpoint_url", "")).startswith(
            "http://"
        ):
            renamed["client_options"] = {"allow_http": True} | renamed.get("client_options", {})
        return renamed


class Stream(io.RawIOBase):
    """A file of fsspec's, or any binary file, as h5py can read it."""

    # h5py reads while it holds its lock, and may wait for fsspec's thread; would that thread
    # collect garbage then, and find a file of h5py's in it, it would wait for the lock: for ever.

    def __init__(self, file: Any) -> None:
        self._file = file

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any, /) -> int:
        from ..subchunk.fetch.remote import NO_RANGES, short
        from ..subchunk.process import COLLECTION  # h5py comes with it

        out = memoryview(buffer).cast("B")
        with COLLECTION.put_off():
            data = self._file.read(len(out))
        if hasattr(self._file, "size"):
            at = self.tell() - len(data)
            expected = max(0, min(len(out), int(self._file.size) - at))
            if len(data) < expected:
                raise OSError(short(len(data), expected, at))
            if len(data) > expected:
                sent = f"the server sent {len(data)} bytes where {expected} were asked for"
                raise OSError(f"{sent}: {NO_RANGES}")
        out[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def shown(address: str) -> str:
    """Return a path, or a URL without user, password and query, which may hold secrets."""
    from ..subchunk.place import is_url  # h5py comes with it

    return str(Remote(address)) if is_url(address) else address


Place: TypeAlias = Path | Remote
"""Where a file is: on this machine, or behind a URL."""


def located(path: str | Path, options: Mapping[str, Any] | None) -> Place:
    """Give what a path or URL names; options are for URLs alone."""
    if isinstance(path, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", path):
        return Remote(path, dict(options or {}))
    if options:
        raise ValueError(f"{path}: storage_options are for URLs; leave them out")
    return Path(path)


def system_in_zarr(remote: Remote) -> tuple[Any, str, Callable[[], object]]:
    """Make a file system of zarr-python's event loop: it, the path in it, and what closes it."""
    import fsspec
    from zarr.core.sync import sync

    system, path = fsspec.core.url_to_fs(remote.url, **remote.options, **ALONE)

    async def opened() -> tuple[asyncio.AbstractEventLoop, Callable[..., Any]]:
        session = await system.set_session()
        # s3fs closes what made its session.
        return asyncio.get_running_loop(), getattr(system, "_s3creator", session).__aexit__

    async def refuse(*_: object, **__: object) -> None:
        raise OSError(f"{remote} was closed")

    # fsspec leaves closing the sessions of such a file system to its user.
    end = weakref.finalize(system, _leave, *sync(opened()))

    def close() -> None:
        # A request that goes on where another has failed would connect anew, and nobody end that.
        system.set_session = refuse
        end()

    return system, path, close


def _leave(loop: asyncio.AbstractEventLoop, leave: Callable[..., Any]) -> None:
    """Leave a session's context; fsspec breaks that off after a tenth of a second."""
    if not loop.is_running():  # the process ends
        return
    left = asyncio.run_coroutine_threadsafe(leave(None, None, None), loop)
    with suppress(RuntimeError):  # of a thread without a loop
        if asyncio.get_running_loop() is loop:  # garbage is collected there
            return
    with suppress(TimeoutError):  # it goes on all the same
        left.result(timeout=1)


def is_absent(error: BaseException) -> bool:
    """Whether an error says that nothing is there: what cannot be reached is not found either."""
    cause = error.__cause__
    genuine = cause is None or isinstance(cause, FileNotFoundError)
    return isinstance(error, FileNotFoundError) and (genuine or getattr(cause, "status", 0) == 404)
