"""What every reader offers, and what all of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .cards import Card
from .selection import Region, Selection, region
from .urls import Place, Remote, is_absent, located


class Reader(ABC):
    """A library that reads variables of files, described by its card; it adds `_open`."""

    has_chunk_cache: ClassVar[bool] = True

    def __init__(self, card: Card) -> None:
        self.card = card
        self.name = card.name  # to ask for it by
        self.library = card.library  # that reads
        self.formats = card.formats  # of `hyperslab.io.FORMATS`
        self.prepare()

    def prepare(self) -> None:  # noqa: B027 - most libraries need nothing
        """Do once, when the reader is asked for, what no open should pay for."""

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
            If there is nothing at `path`, or no such array of a Zarr store behind a URL.
        OSError
            If this library cannot read what is there.
        KeyError
            If there is no such variable; of a local file the message lists those there are.
        ValueError
            If it holds no numbers, or the library has no chunk cache or does not read such places.
        """
        place, variable = located(path, storage_options), variable.strip("/")
        self._check(place, chunk_cache_bytes)
        try:
            opened = self._open(place, variable, chunk_cache_bytes)
        except NotNumbersError:
            raise
        except Exception as error:
            cause = place.cause(error) if isinstance(place, Remote) else error
            raise self._why(place, variable, error) from cause
        if isinstance(place, Remote):
            opened.origin = place, self.name
        return opened

    def _check(self, place: Place, chunk_cache_bytes: int | None) -> None:
        kind = place.kind if isinstance(place, Remote) else "file"
        if kind not in self.card.places:
            takes = " and ".join(sorted(self.card.places))
            raise ValueError(
                f"{place}: {self.name} reads {takes}, not {kind}; "
                f"hyperslab.io.readers(place={kind!r}) names those that do"
            )
        if chunk_cache_bytes is not None and not self.has_chunk_cache:
            option = f"chunk_cache_bytes={chunk_cache_bytes}"
            raise ValueError(f"{option}: {self.name} has no chunk cache; leave it out")

    def _why(self, place: Place, variable: str, error: Exception) -> Exception:
        """Return the error that says why a variable could not be opened, and what to do."""
        takes = f"{self.name} takes {', '.join(sorted(self.formats))}"
        if isinstance(place, Remote):
            kind = KeyError if isinstance(error, KeyError | IndexError) else OSError
            kind = FileNotFoundError if is_absent(error) else kind
            return kind(f"{place} cannot be read by {self.name}: {place.message(error)}; {takes}")
        if not place.exists():
            return FileNotFoundError(f"{place} does not exist; {takes}")
        message = str(error).partition("\n")[0]  # what follows HDF5's first line is addresses
        try:
            present = sorted(self.names(place))
        except Exception:
            return OSError(f"{place} cannot be read by {self.name}: {message}; {takes}")
        if variable in present:
            return OSError(f"{place}: {self.name} cannot open {variable!r}: {message}")
        shown = ", ".join(present[:20]) + (" …" if len(present) > 20 else "")
        return KeyError(f"{place}: no variable {variable!r}; there are {shown or 'none'}")

    @abstractmethod
    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        """Open, letting the library's own errors out."""

    def names(self, path: Path) -> Iterable[str]:
        from .opening import open_source

        with open_source(path) as source:
            return list(source.variables)


class StreamReader(Reader):
    """A library that reads HDF5 from a path, or from a stream of fsspec's."""

    @abstractmethod
    def file(self, source: Any, **cache: int) -> Any:
        """Open a file by its path or stream, maybe with ``rdcc_nbytes`` of chunk cache."""

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        cache = {} if chunk_cache_bytes is None else {"rdcc_nbytes": chunk_cache_bytes}
        with ExitStack() as held:
            source: Any = place
            if isinstance(place, Remote):
                source = held.enter_context(place.stream(self.card.cache))
            file = held.enter_context(self.file(source, **cache))
            return Indexed(variable, self.checked(file[variable]), held)

    def checked(self, item: Any) -> Any:
        return item


class NotNumbersError(ValueError):
    """The variable holds text, records or lists, not numbers."""


class Opened(AbstractContextManager["Opened"], ABC):
    """One variable of an open file, and a context manager; a library adds `_fetch` and `_close`."""

    def __init__(self, name: str, shape: Iterable[int] | None, dtype: Any) -> None:
        numbers = isinstance(dtype, str | np.dtype) and np.dtype(dtype).kind in "iuf"
        if shape is None or not numbers:
            held = "nothing" if shape is None else dtype
            raise NotNumbersError(f"{name!r} holds {held}; readers take integers and floats")
        self.name = name
        self.shape = tuple(int(n) for n in shape)
        self.dtype: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
        self.origin: tuple[Remote, str] | None = None
        self._open = True

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
            place, reader = self.origin
            reason = place.message(error).removeprefix(f"{place}").lstrip(": ")
            message = f"{place}: {reader} cannot read {self.name!r}: {reason}"
            raise OSError(message) from place.cause(error)
        return np.asarray(fetched, self.dtype, order="C")

    def close(self) -> None:
        """Close the file; closing again does nothing."""
        if self._open:
            self._open = False
            self._close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # What went wrong first is what is told, not that the file cannot be closed after it.
        with suppress(*((Exception,) if kind else ())):
            self.close()

    @abstractmethod
    def _fetch(self, chosen: Region) -> Any:
        """Read a selection that is not empty."""

    @abstractmethod
    def _close(self) -> None: ...


class Indexed(Opened):
    """A variable that its library indexes as numpy does; `held` closes it, once it is accepted."""

    def __init__(self, name: str, variable: Any, held: ExitStack) -> None:
        if not hasattr(variable, "shape"):
            raise KeyError(f"{name!r} is a group")
        super().__init__(name, variable.shape, variable.dtype)
        self.variable, self._held = variable, held.pop_all()

    def _fetch(self, chosen: Region) -> Any:
        return self.variable[chosen.indices or ...]

    def _close(self) -> None:
        self._held.close()
