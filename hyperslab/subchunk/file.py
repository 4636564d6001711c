"""Open a file and read inside its chunks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py

from .chunkindex.index import ChunkindexIndex
from .errors import (
    CorruptIndexError,
    MissingFileError,
    StaleIndexError,
    SubchunkError,
    UnreadableError,
)
from .fetch import LocalFile, RemoteFile, Source, is_url, source
from .fetch.filelike import RangeReader
from .fetch.remote import NoRangesError, shown
from .fetch.together import in_turn, together
from .forks import ForkLock, cached
from .hdf5 import attributes
from .index.entries import decoded
from .index.fingerprint import difference, digest
from .index.format import Hdf5IndexError, NoIndexError
from .index.index import Index, PointIndex
from .index.place import absolute, file_name, index_place
from .index.survey import look
from .listing import Listing, listing
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
        self.lock = ForkLock()
        self._lost: dict[str, str] = {}  # attributes that were read and could not be kept
        at_once = together if self.data.remote and is_url(self._place) else in_turn
        self.index, identity = at_once(self._index, self.data.identity)
        if self.index:
            self._check_fresh(self.index, identity)

    def __reduce__(self) -> tuple[Any, ...]:
        place = self._place if self._given else None
        given = place, self.options, self.threads, self.memory_bytes, self._verify
        return _again, (self.path, *given, self.data.identity())

    def __repr__(self) -> str:
        with_index = f"index={self._place!r}" if self.__dict__.get("index") else "without an index"
        return f"<hyperslab.subchunk.File {self.path!r} {with_index}>"

    def __getitem__(self, name: str) -> VariableReader:
        path = name.strip("/")
        if path in self._readers:
            return self._readers[path]
        if why := self.listing.left_out.get(path):
            raise UnreadableError(f"{path} in {self.path} cannot be read: {why}")
        known = ", ".join(self._readers) or "none"
        raise KeyError(f"no variable {name!r}: the file has {known}")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.strip("/") in self._readers

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

    @cached
    def hdf5(self) -> h5py.File:
        """The file as h5py opens it, for what is read plainly."""
        try:
            if isinstance(self.data, RemoteFile):
                return h5py.File(RangeReader(self.data), "r")
            found = h5py.File(self.path, "r")
        except SubchunkError:
            raise
        except Exception as error:
            raise SubchunkError(
                f"{self.path} cannot be opened as HDF5 or netCDF-4: {error}"
            ) from error
        self.data.check(found.id.get_vfd_handle())
        return found

    @contextmanager
    def plainly(self) -> Iterator[h5py.File]:
        """Give the file as h5py opens it, to one thread at a time, if it is still the same after.

        Raises
        ------
        StaleIndexError
            When the file was replaced, or written to, since it was opened.
        """
        try:
            with self.lock:
                yield self.hdf5
        finally:  # what goes wrong may go wrong for this reason
            self.data.check()

    @property
    def listing(self) -> Listing:
        """What the file holds, attributes left out where there is no index."""
        return self.index.listing if self.index else self._listing

    @cached
    def _listing(self) -> Listing:
        with self.plainly() as file:
            return listing(file, attrs=False)

    @cached
    def _readers(self) -> dict[str, VariableReader]:
        entries = self.index.entries if self.index else {}
        return {
            name: VariableReader(self, variable, entries.get(name))
            for name, variable in self.listing.variables.items()
        }

    @property
    def left_out(self) -> dict[str, str]:
        """Why variables, groups and links are not there, by their paths."""
        return dict(self.listing.left_out)

    @property
    def left_out_attrs(self) -> dict[str, str]:
        """Why attributes are not there, by the path of what has them, a colon and their names."""
        for path in (*self.listing.dimensions, *self):
            self.attributes(path)
        return {**self.listing.left_out_attrs, **self._lost}

    def groups(self) -> dict[str, dict[str, Any]]:
        """Return attributes of all groups by their paths; "" is the root."""
        return {path: self.attributes(path) for path in self.listing.dimensions}

    def attributes(self, path: str) -> dict[str, Any]:
        """Return the attributes of a variable or a group, as numpy or Python has them.

        Parameters
        ----------
        path : str
            "" for the root.
        """
        kept: Mapping[str, Any] | None = self.listing.attrs.get(path)
        if kept is None and self.index and path in self.index.entries:
            path = self.index.entries[path].variable.same or path
            kept = self.index.entries[path].variable.attrs
        if kept is None:
            with self.plainly() as file:
                kept, lost = attributes(file[path or "/"])
            self._lost |= {f"{path}:{name}": why for name, why in lost.items()}
        return decoded(kept)

    def _index(self) -> PointIndex | None:
        place = self._place
        if self._given:
            try:
                return Index(place, self.options, self.memory_bytes)
            except Hdf5IndexError:
                return ChunkindexIndex(place, self.options, self.plainly)
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
        if self._verify and isinstance(index, Index) and digest(index.survey()) != kept["table"]:
            raise CorruptIndexError(
                f"{file_name(self._place)}: what the index says of variables and chunks is not "
                "what it was built with: build it again"
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
        try:
            with self.plainly() as file:
                return digest(look(file, names, self.path))
        except SubchunkError:
            return ""


def _again(
    path: str,
    place: str | None,
    options: dict[str, Any],
    threads: int,
    memory_bytes: int,
    verify: bool,
    identity: dict[str, Any],
) -> File:
    file = File(
        path,
        place,
        storage_options=options,
        threads=threads,
        memory_bytes=memory_bytes,
        verify=verify,
    )
    if file.data.identity() != identity:
        raise StaleIndexError(
            f"{file_name(path)} is not the file that was open before: open it anew"
        )
    return file
