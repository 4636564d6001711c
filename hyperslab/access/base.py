"""What every reader offers, and what all of them share."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hyperslab.access.answer import Origin
from hyperslab.access.card import Card
from hyperslab.access.explain import origin, why
from hyperslab.access.urls import Remote, located
from hyperslab.storage.region import Region, Selection, region


class Opened(Protocol):
    """One variable of an open file; also a context manager."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the variable."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of what is stored, in native byte order."""

    def read(self, selection: Selection = ...) -> NDArray[Any]:
        """Read a selection: stored values, C-contiguous, in native byte order."""

    def close(self) -> None:
        """Close the file; closing again does nothing."""

    def __enter__(self) -> Opened: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Reader(Protocol):
    """A library that reads variables from files of some formats."""

    @property
    def name(self) -> str:
        """Name to ask for it by."""

    @property
    def library(self) -> str:
        """The library that reads."""

    @property
    def formats(self) -> frozenset[str]:
        """Formats of `hyperslab.storage` it reads."""

    def open(
        self,
        path: str | Path,
        variable: str,
        *,
        chunk_cache_bytes: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Opened:
        """Open one variable of a file."""


class LibraryReader(ABC):
    """A reader described by its card; a library's file adds `_open`, `names` and `version`."""

    def __init__(self, card: Card) -> None:
        self._card = card

    def __repr__(self) -> str:
        return f"<reader {self.name}>"

    @property
    def name(self) -> str:
        """Name to ask for it by."""
        return self._card.name

    @property
    def library(self) -> str:
        """The library that reads."""
        return self._card.library

    @property
    def formats(self) -> frozenset[str]:
        """Formats of `hyperslab.storage` it reads."""
        return self._card.formats

    def open(
        self,
        path: str | Path,
        variable: str,
        *,
        chunk_cache_bytes: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Opened:
        """Open one variable of a file.

        Parameters
        ----------
        path
            The file, or the directory of a Zarr format; or its URL, as text.
        variable
            Its name, with groups before it ("group/sub/name").
        chunk_cache_bytes
            Size of the library's chunk cache; None keeps the library's own.
        storage_options
            What fsspec takes beside a URL, for every reader alike.

        Raises
        ------
        FileNotFoundError
            If there is nothing at `path`.
        OSError
            If this library cannot read what is there.
        KeyError
            If there is no such variable; the message lists those there are.
        ValueError
            If the variable holds no numbers, the library has no chunk cache, or it does not read
            such places.
        """
        place, variable = located(path, storage_options), variable.strip("/")
        self._check_place(place)
        try:
            if isinstance(place, Remote):
                opened = self._open_remote(place, variable, chunk_cache_bytes)
                if isinstance(opened, OpenedArray):
                    opened.origin = origin(self, place, variable)
                return opened
            return self._open(place, variable, chunk_cache_bytes)
        except (NotNumbersError, NoCacheError):
            raise
        except Exception as error:
            told = why(self, place, variable, error)
            raise told from place.cause(error) if isinstance(place, Remote) else error

    def _check_place(self, place: Path | Remote) -> None:
        kind = place.kind if isinstance(place, Remote) else "file"
        if kind not in self._card.places:
            takes = " and ".join(sorted(self._card.places))
            raise ValueError(
                f"{place}: {self.name} reads {takes}, not {kind}; "
                f"hyperslab.access.readers(place={kind!r}) names those that do"
            )

    def exists(self, place: Path | Remote) -> bool:
        """Whether there is such a file or store."""
        return place.exists()

    @abstractmethod
    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        """Open, letting the library's own errors out."""

    def _open_remote(self, remote: Remote, variable: str, chunk_cache_bytes: int | None) -> Opened:
        """Open what is behind a URL; for readers whose card has such places."""
        raise NotImplementedError

    def remote_names(self, remote: Remote) -> Iterable[str]:
        """Give the names of the variables behind a URL."""
        raise NotImplementedError

    @abstractmethod
    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the variables in a file, with their groups."""

    @abstractmethod
    def version(self) -> str:
        """Give the versions of what does the reading."""


class NotNumbersError(ValueError):
    """The variable holds text, records or lists, not numbers."""


class NoCacheError(ValueError):
    """A chunk cache was asked of a library that has none."""


class OpenedArray(ABC):
    """One open variable; a library's file adds `_fetch` and `_close`.

    Parameters
    ----------
    name
        Name of the variable, for messages.
    shape
        Its shape.
    dtype
        Type as the library gives it, in any byte order.
    """

    def __init__(self, name: str, shape: Iterable[int], dtype: object) -> None:
        self.name = name
        self.shape = tuple(int(n) for n in shape)
        self.dtype: np.dtype[Any] = numeric(name, dtype).newbyteorder("=")
        self._open = True
        self.origin: Origin | None = None

    def read(self, selection: Selection = ...) -> NDArray[Any]:
        """Read a selection: stored values, C-contiguous, in native byte order.

        Parameters
        ----------
        selection
            Integers (they drop their axis), slices with positive steps, an Ellipsis.

        Raises
        ------
        IndexError
            If an integer is out of range, or there are more indices than axes.
        ValueError
            If the file is closed, or a step is not positive.
        OSError
            If a server does not give what was asked for; from a local file, the library's error.
        """
        if not self._open:
            raise ValueError(f"{self.name}: the file is closed; open it again to read")
        chosen = region(selection, self.shape, self.name)
        if not chosen.size:
            return np.empty(chosen.shape, self.dtype)
        try:
            fetched = self._fetch(chosen)
        except Exception as error:
            if self.origin is None:
                raise
            place = self.origin.place
            said = place.said(error).removeprefix(f"{place}").lstrip(": ")
            raise self.origin.cannot("read", said) from place.cause(error)
        return np.asarray(fetched, self.dtype, order="C")

    def close(self) -> None:
        """Close the file; closing again does nothing."""
        if self._open:
            self._open = False
            self._close()

    def __enter__(self) -> OpenedArray:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # What went wrong first is what is told, not that the file cannot be closed after it.
        with contextlib.suppress(*((Exception,) if kind else ())):
            self.close()

    @abstractmethod
    def _fetch(self, chosen: Region) -> Any:
        """Read a selection that is not empty."""

    @abstractmethod
    def _close(self) -> None: ...


def numeric(name: str, dtype: object) -> np.dtype[Any]:
    """Give the type of a variable that holds numbers.

    Raises
    ------
    NotNumbersError
        If it holds anything else.

    Examples
    --------
    >>> numeric("sst", "f4")
    dtype('float32')
    """
    if isinstance(dtype, str | np.dtype) and np.dtype(dtype).kind in "iuf":
        return np.dtype(dtype)
    raise NotNumbersError(f"{name!r} holds {dtype}; readers take integers and floats")


def no_cache(reader: str, chunk_cache_bytes: int | None) -> None:
    """Refuse a chunk cache where the library has none.

    Raises
    ------
    NoCacheError
        If one is given.
    """
    if chunk_cache_bytes is not None:
        raise NoCacheError(
            f"chunk_cache_bytes={chunk_cache_bytes}: {reader} has no chunk cache; leave it out"
        )
