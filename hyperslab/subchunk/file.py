"""Open a file and read inside its chunks."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py

from .chunkindex.index import ChunkindexIndex
from .errors import MissingFileError, StaleIndexError, SubchunkError
from .fetch import LocalFile, RemoteFile, Source, source
from .fetch.filelike import RangeReader
from .hdf5 import attribute, attributes, datasets, describe
from .index.fingerprint import difference, digest
from .index.format import Hdf5IndexError
from .index.index import SUFFIX, Index, PointIndex
from .index.survey import look
from .memory import allowed
from .variable import VariableReader


def open(
    path: str | Path,
    index: str | Path | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    memory_bytes: int | None = None,
) -> File:
    """Open a netCDF-4 or HDF5 file, with its index where there is one.

    Parameters
    ----------
    path : path-like
        The file, or its URL.
    index : path-like, optional
        The index, or its URL; beside the file if not given. Without one the file is read all the
        same, chunk by chunk.
    storage_options : mapping, optional
        What opens URLs: `backend`, "fsspec" (the default) or "obstore", and what that one takes.
    threads : int, optional
        Threads of one read; one a core, at most 8, if not given.
    memory_bytes : int, optional
        What a read may hold beside its result; half of the machine's memory if not given. A read
        is cut into pieces that fit; where one chunk does not, there is a `MemoryLimitError`.

    Raises
    ------
    FileNotFoundError
        When file or index are not there.
    StaleIndexError
        When the index does not belong to the file as it is now.
    CorruptIndexError, UnknownVersionError
        When the index is damaged, or of a newer format.
    SubchunkError
        When a URL cannot be read.

    Examples
    --------
    >>> import h5py, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.h5"
    >>> with h5py.File(path, "w") as file:
    ...     _ = file.create_dataset("x", data=range(10_000), chunks=(5_000,), compression=4)
    >>> with open(path) as file:
    ...     file["x"][[7, 4_321]].tolist()
    [7, 4321]
    """
    return File(
        path,
        index,
        storage_options=storage_options,
        threads=threads,
        memory_bytes=memory_bytes,
    )


class File(Mapping[str, "VariableReader"]):
    """A file, open for reading inside its chunks; see `open`."""

    def __init__(
        self,
        path: str | Path,
        index: str | Path | None = None,
        *,
        storage_options: Mapping[str, Any] | None = None,
        threads: int | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.options = dict(storage_options or {})
        self._place = index
        self.threads = threads or min(8, os.cpu_count() or 1)
        self.memory_bytes = allowed(memory_bytes)
        self.data: Source = source(path, self.options)
        self.lock = threading.Lock()
        self.index = self._index(index)
        if self.index:
            self._check_fresh(self.index)
        else:
            self.data.identity()  # says what is missing now, not at the first read

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.path, self._place, self.options, self.threads, self.memory_bytes)

    def __getitem__(self, name: str) -> VariableReader:
        try:
            return self._readers[name.strip("/")]
        except KeyError:
            known = ", ".join(self._readers) or "none"
            raise KeyError(f"no variable {name!r}: the file has {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open; closing again does nothing."""
        if "hdf5" in self.__dict__:
            self.hdf5.close()
            del self.__dict__["hdf5"]
        self.data.close()
        if self.index:
            self.index.close()

    @cached_property
    def hdf5(self) -> h5py.File:
        """The file as h5py opens it, for what is read plainly."""
        try:
            if isinstance(self.data, RemoteFile):
                return h5py.File(RangeReader(self.data), "r")
            return h5py.File(self.path, "r")
        except SubchunkError:
            raise
        except (OSError, ValueError) as error:
            raise SubchunkError(
                f"{self.path} cannot be opened as HDF5 or netCDF-4: {error}"
            ) from error

    @cached_property
    def _readers(self) -> dict[str, VariableReader]:
        if self.index:
            return {
                name: VariableReader(self, entry.variable, entry)
                for name, entry in self.index.entries.items()
            }
        with self.lock:
            return {
                name: VariableReader(self, describe(name, item), None)
                for name, item in datasets(self.hdf5)
            }

    def groups(self) -> dict[str, dict[str, Any]]:
        """Return attributes of all groups by their paths; "" is the root."""
        if self.index:
            kept: Mapping[str, Mapping[str, Any]] = self.index.groups
        else:
            found = {"": attributes(self.hdf5)}

            def keep(name: str, item: object) -> None:
                if isinstance(item, h5py.Group):
                    found[name] = attributes(item)

            self.hdf5.visititems(keep)
            kept = found
        return {
            name: {key: attribute(value) for key, value in attrs.items()}
            for name, attrs in kept.items()
        }

    def _index(self, place: str | Path | None) -> PointIndex | None:
        if place is not None:
            try:
                return Index(place, self.options, self.memory_bytes)
            except Hdf5IndexError:
                return ChunkindexIndex(place, self.options, lambda: self.hdf5, self.lock)
        beside = self.path + SUFFIX
        if isinstance(self.data, LocalFile):
            found = Path(beside).exists()
            return Index(beside, None, self.memory_bytes) if found else None
        try:
            return Index(beside, self.options, self.memory_bytes)
        except MissingFileError:
            return None

    def _check_fresh(self, index: PointIndex) -> None:
        kept = index.data
        why = difference(kept, self.data.identity())
        if not why:
            return
        same_size = kept.get("size") == self.data.identity().get("size")
        if same_size and self._digest(index) == kept.get("table"):
            return
        place = os.fspath(self._place or self.path + SUFFIX)
        raise StaleIndexError(
            f"the index {Path(place).name} does not belong to {Path(self.path).name} as it is "
            f"now: {why}; build it again with `hyperslab index`, or remove it"
        )

    def _digest(self, index: PointIndex) -> str:
        """Return what the file says now of what the index took from it; empty if not all of it."""
        names = [name for name, entry in index.entries.items() if entry.spacing]
        with self.lock:
            try:
                return digest(look(self.hdf5, names, self.path))
            except SubchunkError:
                return ""


def _again(
    path: str, place: str | Path | None, options: dict[str, Any], threads: int, memory_bytes: int
) -> File:
    return File(path, place, storage_options=options, threads=threads, memory_bytes=memory_bytes)
