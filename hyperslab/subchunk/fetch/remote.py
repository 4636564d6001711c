"""What files behind URLs have in common."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ..errors import MissingFileError, NoRangesError, StaleIndexError, SubchunkError, UnfitFileError
from .ranges import GAP_REMOTE, joined

_ABSENT = 404, 410
NO_RANGES = "it does not support ranges; copy the file, or serve it by another"
_FORBIDDEN, _BEYOND_THE_END, _CLIENTS_FAULT, _SERVERS_FAULT = 403, 416, 400, 500
_BROKEN = re.compile(r"received (\d+) of (\d+) bytes")  # aiohttp's words
_SHORT = re.compile(r"Requested (\d+)\.\.(\d+), got (\d+)\.\.(\d+)")  # obstore's


class RemoteFile(ABC):
    remote = True

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        self.name = self.url = url
        self.options = dict(options)
        self._identity: dict[str, Any] | None = None
        self._tag = ""  # of the first answer that had one
        try:
            self._open()
        except SubchunkError:
            raise
        except Exception as error:
            raise UnfitFileError(f"{shown(url)} cannot be read: {summary(error)}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.url, self.options)

    def close(self) -> None:  # noqa: B027 - connections are the library's
        """Do nothing."""

    def check(self, fd: int | None = None) -> None:  # noqa: B027 - each answer is, when it comes
        """Do nothing."""

    def identity(self) -> dict[str, Any]:
        """Return size and the server's tag or time, asked for once."""
        if self._identity is None:
            try:
                self._identity = self._ask()
                self._same(self._identity.get("tag"))
            except Exception as error:
                raise self._named(error) from error
        return dict(self._identity)

    def ranges(self, starts: Sequence[int], stops: Sequence[int]) -> list[memoryview]:
        """Return the bytes of each range, fetched at the same time; shorter where the file ends."""
        return joined(self._checked, starts, stops, GAP_REMOTE)

    def _checked(self, starts: Sequence[int], stops: Sequence[int]) -> list[Any]:
        try:
            pieces = self._read(starts, stops)
        except Exception as error:
            raise self._named(error) from error
        for data, start, stop in zip(pieces, starts, stops, strict=True):
            if len(data) > stop - start:
                raise self._no_ranges(f"sends {len(data)} bytes where {stop - start} were asked")
            # The beginning of a file whose size nobody asked for may be all of it.
            if len(data) < stop - start and (start or self._identity):
                self.check_end(start, stop, len(data))
        return list(pieces)

    def check_end(self, start: int, stop: int, sent: int) -> None:
        size = self.identity()["size"]
        if size is not None and sent < (expected := min(stop, size) - start):
            raise SubchunkError(f"{shown(self.url)}: {short(sent, expected, start)}")

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
        informative = isinstance(cause, OSError | TypeError) or hasattr(cause, "status")
        if isinstance(error, FileNotFoundError) and isinstance(cause, Exception) and informative:
            error = cause  # fsspec says so too when it could not ask, or was refused
        status = getattr(error, "status", 0)
        if isinstance(error, FileNotFoundError) or status in _ABSENT:
            return MissingFileError(f"{url} is not there")
        if status == _FORBIDDEN or "Permission" in type(error).__name__:
            # Stores that do not list say this of what is not there.
            return MissingFileError(
                f"{url} is not there, or not for you: {fault(error) or summary(error)}"
            )
        if status == _BEYOND_THE_END:
            why = "ends before a range that it should have: it was cut off, or replaced"
            return SubchunkError(f"{url} {why}")
        kind = SubchunkError if self._identity else UnfitFileError  # it was never reached
        return kind(f"{url} cannot be read: {fault(error) or summary(error)}")

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
    """Return size, and tag or else time, alike whatever library asked for them."""
    sized: dict[str, Any] = {"size": size}
    if tag:
        return sized | {"tag": str(tag).removeprefix("W/").strip('"')}
    if isinstance(time, str):
        with suppress(ValueError):
            time = parsedate_to_datetime(time)
    if isinstance(time, int | float):
        time = datetime.fromtimestamp(time, UTC)
    if isinstance(time, datetime) and time.tzinfo:
        time = f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return sized | ({"tag": f"written {time}"} if time else {})


def short(sent: int, expected: int, begin: int) -> str:
    """Return what is wrong with an answer that has fewer bytes than were asked for."""
    return (
        f"the server sent {sent} of the {expected} bytes from {begin} that it was asked for: its "
        "answer is cut, not the file; try again"
    )


def fault(error: BaseException) -> str:
    """Return what a server did, by the error of a library; empty if it says enough itself."""
    if match := _BROKEN.search(str(error)):
        return "the connection broke off after {} of the {} bytes of an answer: try again".format(
            *match.groups()
        )
    if match := _SHORT.search(str(error)):
        begin, end, _, stop = map(int, match.groups())
        return short(stop - begin, end - begin, begin)
    status = getattr(error, "status", 0)
    if isinstance(status, int) and status >= _CLIENTS_FAULT:  # the error's own text has the URL
        own = ": its own fault; try again later" if status >= _SERVERS_FAULT else ""
        return f"the server answered {status} {getattr(error, 'message', '')}{own}"
    return ""


def shown(url: str) -> str:
    """Return a URL without user, password and query, which may hold secrets."""
    scheme, mark, rest = url.partition("?")[0].partition("://")
    server, slash, path = rest.partition("/")
    return f"{scheme}{mark}{server.rpartition('@')[2]}{slash}{path}"


def summary(error: BaseException) -> str:
    # aiohttp's errors have the whole URL in their text.
    text = [] if hasattr(error, "request_info") else str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
