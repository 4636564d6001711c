"""Open a file and read inside its chunks."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py

from .chunkindex.index import ChunkindexIndex
from .errors import MissingFileError, StaleIndexError, SubchunkError
from .fetch import LocalFile, RemoteFile, Source, is_url, source
from .fetch.filelike import RangeReader
from .fetch.remote import NoRangesError, shown
from .fetch.together import in_turn, together
from .hdf5 import attributes, datasets, describe
from .index.entries import decoded
from .index.fingerprint import difference, digest
from .index.format import Hdf5IndexError, NoIndexError
from .index.index import Index, PointIndex
from .index.place import absolute, file_name, index_place
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
    verify: bool = False,
) -> File:
    """Open a netCDF-4 or HDF5 file, with its index where there is one.

    Parameters
    ----------
    path : path-like
        The file, or its URL.
    index : path-like, optional
        The index, or its URL, or the folder it lies in; beside the file if not given. Without one
        the file is read all the same, chunk by chunk.
    storage_options : mapping, optional
        What opens URLs: `backend`, "fsspec" (the default) or "obstore", and what that one takes.
    threads : int, optional
        Threads of one read; one a core, at most 8, if not given.
    memory_bytes : int, optional
        What a read may hold beside its result; half of the machine's memory if not given. A read
        is cut into pieces that fit; where one chunk does not, there is a `MemoryLimitError`.
    verify : bool
        Compare what the index has of the file's variables, attributes and chunk tables with the
        file, whatever its size, time and tag say. Behind a URL this takes some requests. It is
        done by itself where time or tag differ, and for a file of this machine whose index knows
        no time. An index built from a file of this machine knows no tag: of a URL only the size
        tells, unless this is asked for.

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
        verify=verify,
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
        verify: bool = False,
    ) -> None:
        self.path = absolute(path)
        self.options = dict(storage_options or {})
        self._verify = verify
        self._given = index is not None
        self._place = absolute(index_place(self.path, index))
        self.threads = threads or min(8, os.cpu_count() or 1)
        self.memory_bytes = allowed(memory_bytes)
        self.data: Source = source(self.path, self.options)
        self.lock = threading.Lock()
        at_once = together if self.data.remote and is_url(self._place) else in_turn
        self.index, identity = at_once(self._index, self.data.identity)
        if self.index:
            self._check_fresh(self.index, identity)

    def __reduce__(self) -> tuple[Any, ...]:
        place = self._place if self._given else None
        given = place, self.options, self.threads, self.memory_bytes, self._verify
        return _again, (self.path, *given)

    def __repr__(self) -> str:
        with_index = f"index={self._place!r}" if self.__dict__.get("index") else "without an index"
        return f"<hyperslab.subchunk.File {self.path!r} {with_index}>"

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
        """Return attributes of all groups by their paths; "" is the root.

        `_Netcdf4Dimensions` among them lists a group's own dimensions: name, length, unlimited.
        """
        if self.index:
            kept: Mapping[str, Mapping[str, Any]] = self.index.groups
        else:
            found = {"": attributes(self.hdf5)}

            def keep(name: str, item: object) -> None:
                if isinstance(item, h5py.Group):
                    found[name] = attributes(item)

            self.hdf5.visititems(keep)
            kept = found
        return {name: decoded(attrs) for name, attrs in kept.items()}

    def _index(self) -> PointIndex | None:
        place = self._place
        if self._given:
            try:
                return Index(place, self.options, self.memory_bytes)
            except Hdf5IndexError:
                return ChunkindexIndex(place, self.options, lambda: self.hdf5, self.lock)
        if isinstance(self.data, LocalFile):
            found = Path(place).exists()
            return Index(place, None, self.memory_bytes) if found else None
        try:
            return Index(place, self.options, self.memory_bytes)
        except MissingFileError:
            return None
        except (NoIndexError, NoRangesError):  # some servers answer whatever is asked
            self.data.ranges([0], [1])  # one that gives no ranges says so here
            warnings.warn(
                f"{shown(str(self.path))} is read without an index: what the server gives as "
                f"{shown(str(place))} is none",
                stacklevel=5,
            )
            return None

    def _check_fresh(self, index: PointIndex, now: Mapping[str, Any]) -> None:
        kept = index.data
        why = difference(kept, now)
        # Built from a URL, it knows no time; here looking at the file costs no request.
        unknown = not self.data.remote and "table" in kept and "mtime_ns" not in kept
        if not (why or unknown or self._verify):
            return
        if self._verify and "table" not in kept:
            raise SubchunkError(
                "an index of the package chunkindex holds no checksums, so there is nothing to "
                "compare: build one with `hyperslab index`"
            )
        same_size = kept.get("size") == now.get("size")
        if same_size and self._digest(index) == kept.get("table"):
            return
        why = why or "it describes its variables or chunks otherwise"
        raise StaleIndexError(
            f"the index {file_name(self._place)} does not belong to {file_name(self.path)} as it "
            f"is now: {why}; build it again with `hyperslab index`, or remove it"
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
    path: str,
    place: str | None,
    options: dict[str, Any],
    threads: int,
    memory_bytes: int,
    verify: bool,
) -> File:
    return File(
        path,
        place,
        storage_options=options,
        threads=threads,
        memory_bytes=memory_bytes,
        verify=verify,
    )
