"""What all writers share: closing once, syncing to the device, leaving nothing half-made."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..measure import cold
from .layout import Layout
from .selection import Selection
from .variable import Variable

Placed = Sequence[tuple[Variable, Layout]]
Attrs = Mapping[str, object]
_ORDERS = {"native": "=", "little": "<", "big": ">"}


def by_group(attrs: Attrs) -> dict[str, Attrs]:
    """Return the attributes of each group by its path; those of the root, under "", come first."""
    groups = {path: own for path, own in attrs.items() if isinstance(own, Mapping)}
    root = {name: value for name, value in attrs.items() if name not in groups}
    return {"": root} | {path.strip("/"): own for path, own in groups.items()}


class Handles(dict[str, Any]):
    """The open variables by name; a missing one is named with what there is."""

    closed = False

    def __missing__(self, name: str) -> NoReturn:
        if self.closed:
            raise ValueError(f"{name!r} cannot be written: the file is closed")
        raise KeyError(f"no variable {name!r} here; there are {', '.join(self) or 'none'}")


class Writer(AbstractContextManager["Writer"], ABC):
    """A file or directory being written, removed if the body of its ``with`` fails."""

    def __init__(
        self, path: Path, variables: Placed, attrs: Attrs, cache_bytes: int | None
    ) -> None:
        self.path = path
        self._file: Any = None
        self._handles = Handles()
        self._closed = False
        try:
            self._make(variables, attrs, cache_bytes)
        except BaseException:
            self.discard()
            raise

    def write(self, name: str, selection: Selection, values: NDArray[Any]) -> None:
        """Write the values of one selection of one variable."""
        self._handles[name][selection] = values

    def finish(self, name: str) -> None:  # not every library holds anything
        """Free the chunk cache of a variable, once nothing more is written to it."""

    def sync(self) -> None:
        """Flush the library's buffers, then the system's to the device."""
        self._flush()
        sync_files(self.path)

    def close(self) -> None:
        """Close the file; closing again does nothing."""
        if not self._closed:
            self._closed = self._handles.closed = True
            self._handles.clear()
            if self._file is not None:
                self._close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
            return
        try:
            self.close()
        except BaseException:
            # Chunks are compressed at the latest here: what fails then leaves holes.
            self.discard()
            raise

    def discard(self) -> None:
        """Close the file, whatever state it is in, and remove it."""
        try:
            with suppress(Exception):  # what matters is the error that led here
                self.close()
        finally:
            remove(self.path)

    @abstractmethod
    def _make(self, variables: Placed, attrs: Attrs, cache_bytes: int | None) -> None:
        """Create the file with its variables."""

    def _flush(self) -> None:  # plain files and Zarr hold nothing back
        """Write what the library holds back."""

    def _close(self) -> None:  # of Zarr nothing is open between writes
        """Close the file."""


def fitted(values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return values as numpy would assign them to this shape: repeated, or without leading axes."""
    values = np.asarray(values)
    extra = max(values.ndim - len(shape), 0)
    if values.shape[:extra] == (1,) * extra:
        values = values.reshape(values.shape[extra:])
    return values if values.shape == shape else np.broadcast_to(values, shape)


def stored_bytes(path: str | Path) -> int:
    """Give the size of a file, or of all files of a directory store, in bytes."""
    if not Path(path).is_dir():
        return Path(path).stat().st_size
    return sum(
        os.lstat(os.path.join(folder, file)).st_size  # noqa: PTH118  (many files: Path is slow)
        for folder, _, files in os.walk(path)
        for file in files
    )


def sync_files(path: str | Path) -> None:
    """Flush a file, or every file and directory of a directory store, to the device."""
    inside = (
        each
        for folder, _, files in os.walk(path, topdown=False)
        for each in (*(f"{folder}/{file}" for file in files), folder)
    )
    for each in inside if Path(path).is_dir() else [path]:
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file with its sidecar, or a directory store; nothing there is well."""
    if not path.is_dir():
        sidecar(path).unlink(missing_ok=True)
    cold.remove(path)


def sidecar(path: Path) -> Path:
    """Path of the description beside a plain binary file."""
    return path.with_name(path.name + ".json")


def ordered(dtype: str, byteorder: str) -> np.dtype[Any]:
    """Give a type in the byte order of a layout."""
    return np.dtype(_ORDERS[byteorder] + dtype)
