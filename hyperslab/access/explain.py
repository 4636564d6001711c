"""Which of the things that can be wrong with an open it was."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from hyperslab.access.answer import Origin, bare
from hyperslab.access.urls import Remote


class Asked(Protocol):
    """What a reader is asked when it could not open something."""

    @property
    def name(self) -> str:
        """Name to ask for it by."""

    @property
    def formats(self) -> frozenset[str]:
        """Formats it reads."""

    def exists(self, place: Path | Remote) -> bool:
        """Whether there is such a file or store."""

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the variables in a file."""

    def remote_names(self, remote: Remote) -> Iterable[str]:
        """Give the names of the variables behind a URL."""


def why(reader: Asked, place: Path | Remote, variable: str, error: Exception) -> Exception:
    """Return the error that says why a variable could not be opened, and what to do.

    Parameters
    ----------
    reader : Asked
    place : Path or Remote
    variable : str
    error : Exception
        What the library raised.
    """
    # What follows HDF5's first line is addresses and errno.
    said = place.said(error) if isinstance(place, Remote) else str(error).partition("\n")[0]
    takes = f"{reader.name} takes {', '.join(sorted(reader.formats))}"
    try:
        if not reader.exists(place):
            return FileNotFoundError(f"{place} does not exist; {takes}")
    except OSError as unreachable:
        return OSError(f"{place} cannot be read by {reader.name}: {unreachable}; {takes}")
    fault = ""
    try:
        present = _present(reader, place)
    except Exception:
        # Here too it may be the server: only where that is sound now it is the file.
        if isinstance(place, Remote) and place.kind == "http" and bare(said):
            fault = origin(reader, place, variable).fault()
        try:
            present = [] if fault else _present(reader, place)
        except Exception:
            return OSError(f"{place} cannot be read by {reader.name}: {said}; {takes}")
    if fault:
        return OSError(f"{place} cannot be read by {reader.name}: {said}; {fault}")
    if variable not in present:
        shown = ", ".join(present[:20]) + (" …" if len(present) > 20 else "")
        return KeyError(f"{place}: no variable {variable!r}; there are {shown or 'none'}")
    if isinstance(place, Remote):
        return origin(reader, place, variable).cannot("open", said)
    return OSError(f"{place}: {reader.name} cannot open {variable!r}: {said}")


def origin(reader: Asked, place: Remote, variable: str) -> Origin:
    """Return where a variable is read from."""
    store = any("zarr" in name for name in reader.formats)
    return Origin(place, reader.name, variable, store=store)


def _present(reader: Asked, place: Path | Remote) -> list[str]:
    if isinstance(place, Remote):
        return sorted(reader.remote_names(place))
    return sorted(reader.names(place))
