"""What files behind URLs have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ..errors import MissingFileError, StaleIndexError, SubchunkError
from .faults import NO_RANGES, fault, short
from .ranges import GAP_REMOTE, joined

_FORBIDDEN, _BEYOND_THE_END = 403, 416


class NoRangesError(SubchunkError):
    """The server gives files only whole."""


class ShortAnswerError(SubchunkError):
    """The server sent less of the file than it was asked for."""


class RemoteFile(ABC):
    """A file behind a URL, read by concurrent ranges."""

    remote = True

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        self.url, self.options = url, dict(options)
        self._identity: dict[str, Any] | None = None
        self._tag = ""  # of the first answer that had one
        try:
            self._open()
        except SubchunkError:
            raise
        except Exception as error:
            raise SubchunkError(f"{shown(url)} cannot be read: {said(error)}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.url, self.options)

    @property
    def name(self) -> str:
        """Its URL."""
        return self.url

    def close(self) -> None:
        """Do nothing: connections are the library's."""
        return

    def identity(self) -> dict[str, Any]:
        """Return size and the server's tag or time, asked for once."""
        if self._identity is None:
            try:
                self._identity = self._ask()
                self._same(self._identity.get("tag"))
            except Exception as error:
                raise self._named(error) from error
        return dict(self._identity)

    def check(self, fd: int | None = None) -> None:
        """Do nothing: each answer is checked when it comes."""
        return

    def ranges(self, starts: Sequence[int], stops: Sequence[int]) -> list[memoryview]:
        """Return the bytes of each range, fetched at the same time."""
        return joined(self._checked, starts, stops, GAP_REMOTE)

    def _checked(self, starts: Sequence[int], stops: Sequence[int]) -> list[Any]:
        try:
            found = self._read(starts, stops)
        except Exception as error:
            raise self._named(error) from error
        for data, start, stop in zip(found, starts, stops, strict=True):
            if len(data) > stop - start:
                raise self._no_ranges(f"sends {len(data)} bytes where {stop - start} were asked")
            # The beginning of a file whose size nobody asked for may be all of it.
            if len(data) < stop - start and (start or self._identity):
                self.check_end(start, stop, len(data))
        return list(found)

    def check_end(self, start: int, stop: int, sent: int) -> None:
        """Raise an error for an answer that is shorter than the file is."""
        size = self.identity()["size"]
        if size is not None and sent < (wanted := min(stop, size) - start):
            raise ShortAnswerError(f"{shown(self.url)}: {short(sent, wanted, start)}")

    def _same(self, tag: str | None) -> None:
        """Make sure that an answer is of the same state of the file as those before it."""
        self._tag = self._tag or tag or ""
        if tag and tag != self._tag:
            raise StaleIndexError(
                f"{shown(self.url)} was replaced while it was open, as the server's tag tells: "
                "open it again"
            )

    def _named(self, error: Exception) -> SubchunkError:
        if isinstance(error, SubchunkError):
            return error
        url, cause = shown(self.url), error.__cause__
        if isinstance(error, FileNotFoundError) and isinstance(cause, OSError):
            error = cause  # fsspec says so too when it could not ask
        if isinstance(error, FileNotFoundError):
            return MissingFileError(f"{url} is not there")
        if getattr(error, "status", 0) == _FORBIDDEN or "Permission" in type(error).__name__:
            # Stores that do not list say this of what is not there.
            return MissingFileError(f"{url} is not there, or not for you: {said(error)}")
        if getattr(error, "status", 0) == _BEYOND_THE_END:
            return SubchunkError(
                f"{url} ends before a range that it should have: it was cut off, or replaced"
            )
        return SubchunkError(f"{url} cannot be read: {fault(error) or said(error)}")

    def _no_ranges(self, how: str) -> NoRangesError:
        return NoRangesError(f"{shown(self.url)}: the server {how}: {NO_RANGES}")

    @abstractmethod
    def _open(self) -> None:
        """Make what the reads need; no request."""

    @abstractmethod
    def _ask(self) -> dict[str, Any]:
        """Return size and tag, by one request."""

    @abstractmethod
    def _read(self, starts: Sequence[int], stops: Sequence[int]) -> Sequence[Any]:
        """Return the bytes of each range; they lie apart."""


def identity(size: int | None, tag: Any, time: Any) -> dict[str, Any]:
    """Return size, and tag or else time, alike whatever library asked for them.

    Examples
    --------
    >>> identity(4, 'W/"5-a"', None), identity(4, None, "Thu, 01 Jan 1970 00:01:00 GMT")
    ({'size': 4, 'tag': '5-a'}, {'size': 4, 'tag': 'written 1970-01-01T00:01:00Z'})
    """
    found: dict[str, Any] = {"size": size}
    if tag:
        return found | {"tag": str(tag).removeprefix("W/").strip('"')}
    if isinstance(time, str):
        with suppress(ValueError):
            time = parsedate_to_datetime(time)
    if isinstance(time, int | float):
        time = datetime.fromtimestamp(time, UTC)
    if isinstance(time, datetime) and time.tzinfo:
        time = f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return found | ({"tag": f"written {time}"} if time else {})


def shown(url: str) -> str:
    """Return a URL without user, password and query, which may hold secrets.

    Examples
    --------
    >>> shown("https://me:word@example.org/a.nc?token=1"), shown("s3://bucket/a@2.nc")
    ('https://example.org/a.nc', 's3://bucket/a@2.nc')
    """
    scheme, mark, rest = url.partition("?")[0].partition("://")
    server, slash, path = rest.partition("/")
    return f"{scheme}{mark}{server.rpartition('@')[2]}{slash}{path}"


def said(error: BaseException) -> str:
    """Return the first line of an error, with its kind.

    Examples
    --------
    >>> said(OSError("no route"))
    'OSError: no route'
    """
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
