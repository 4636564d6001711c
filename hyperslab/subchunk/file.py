"""Open a file and read inside its chunks."""

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import h5py

from . import errors
from .fetch import LocalFile, Source, source
from .fetch.filelike import open_hdf5
from .fetch.ranges import both
from .fetch.remote import shown
from .index.format import decoded
from .index.index import Index
from .index.survey import UNLISTED, difference, look
from .listing import Listing, listing
from .place import absolute, file_name, index_path, is_url
from .process import ForkLock, allowed, cached
from .variable_reader import VariableReader


class File(Mapping[str, "VariableReader"], AbstractContextManager["File"]):
    """A netCDF-4 or HDF5 file, open for reading inside its chunks, with its index if it has one.

    It gives variables by their paths. `open` is another name of this class.

    Parameters
    ----------
    path : path-like
        The file, or its URL.
    index : path-like, optional
        The index, its folder, or the URL of one; beside the file if not given. Without an index
        the file is read chunk by chunk.
    storage_options : mapping, optional
        What opens URLs: `backend`, "fsspec" (the default) or "obstore", and what that one takes.
    threads : int, optional
        Threads of one read; one a core, at most 8, if not given.
    memory_bytes : int, optional
        What a read may hold beside its result; half of the machine's memory if not given. A read
        inside of chunks is cut into pieces that fit; where one chunk does not, there is a
        `MemoryLimitError`. Of what is read plainly HDF5 may hold more.
    verify : bool
        Compare variables, attributes and chunk tables with the file, whatever its size, time and
        tag say; behind a URL this takes some requests. It is done by itself where time or tag
        differ, and for a file here whose index knows no time. Of a URL whose index was built from
        a file here, and knows no tag, only the size tells without it.

    Raises
    ------
    FileNotFoundError
        When file or index are not there.
    StaleIndexError, CorruptIndexError, UnknownVersionError
        When the index does not belong to the file as it is, is damaged, or of a newer format.
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
        self.verify = verify
        self._index_given = index is not None
        self.index_path = absolute(index_path(self.path, index))
        self.threads = threads or min(8, os.cpu_count() or 1)
        self.memory_bytes = allowed(memory_bytes)
        self.data: Source = source(self.path, self.options)
        self.lock = ForkLock()
        far = self.data.remote and is_url(self.index_path)
        self.index, identity = both(self._read_index, self.data.identity, at_once=far)
        if self.index:
            self._check_fresh(self.index, identity)

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("threads", "memory_bytes", "verify")
        options = {name: getattr(self, name) for name in names}
        options["storage_options"] = self.options
        index = self.index_path if self._index_given else None
        return _again, (self.path, index, options, self.data.identity())

    def __repr__(self) -> str:
        with_index = f"index={self.index_path!r}" if self.index else "without an index"
        return f"<hyperslab.subchunk.File {self.path!r} {with_index}>"

    def __getitem__(self, name: str) -> VariableReader:
        path = str(name).strip("/")
        if path in self._readers:
            return self._readers[path]
        if why := self.listing.left_out.get(path):
            raise errors.UnreadableError(f"{path} in {self.path} cannot be read: {why}")
        names = ", ".join(self._readers) or "none"
        raise KeyError(f"no variable {name!r}: the file has {names}")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.strip("/") in self._readers

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open; closing again does nothing."""
        with self.lock:  # a thread may be reading
            if hdf5 := self.__dict__.pop("hdf5", None):
                hdf5.close()
        self.data.close()
        if self.index:
            self.index.close()

    @cached
    def hdf5(self) -> h5py.File:
        """The file as h5py opens it, for what is read plainly."""
        return open_hdf5(self.data)

    @contextmanager
    def plainly(self) -> Iterator[h5py.File]:
        """Give the file as h5py opens it, to one thread at a time, if it is still the same."""
        try:
            with self.lock:
                yield self.hdf5
        finally:  # what goes wrong may go wrong for this reason
            self.data.check()

    @cached
    def listing(self) -> Listing:
        if self.index:
            return self.index.listing
        with self.plainly() as file:
            return listing(file)

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
        return dict(self.listing.left_out_attrs)

    def attributes(self, path: str) -> dict[str, Any]:
        """Return the attributes of a variable or a group, "" for the root."""
        variables, groups = self.listing.variables, self.listing.attrs
        return decoded(
            groups[path] if path in groups else variables[variables[path].same or path].attrs
        )

    def _read_index(self) -> Index | None:
        path = self.index_path
        if not self._index_given and isinstance(self.data, LocalFile) and not Path(path).exists():
            return None
        try:
            return Index(path, self.options, self.memory_bytes)
        except errors.MissingFileError:
            if self._index_given:
                raise
        except (errors.NoIndexError, errors.NoRangesError):  # some servers answer whatever is asked
            if self._index_given or isinstance(self.data, LocalFile):
                raise
            self.data.ranges([0], [1])  # one that gives no ranges says so here
            without = f"{shown(self.path)} is read without an index"
            message = f"{without}: what the server gives as {shown(path)} is none"
            warnings.warn(message, stacklevel=4)
        return None

    def _check_fresh(self, index: Index, now: Mapping[str, Any]) -> None:
        indexed = index.data
        why = difference(indexed, now)
        # Built from a URL, it knows no time; here looking at the file costs no request.
        unknown = not self.data.remote and "table" in indexed and "mtime_ns" not in indexed
        if not (why or unknown or self.verify):
            return
        if self.verify and index.survey().digest() != indexed.get("table"):
            raise errors.CorruptIndexError(
                f"{file_name(self.index_path)}: what the index says of variables and chunks is "
                "not what it was built with: build it again"
            )
        if indexed.get("size") == now.get("size") and self._digest(index) == indexed.get("table"):
            return
        why = why or "it describes its variables or chunks otherwise"
        raise errors.StaleIndexError(
            f"the index {file_name(self.index_path)} does not belong to {file_name(self.path)} as "
            f"it is now: {why}; build it again with `hyperslab index`, or remove it"
        )

    def _digest(self, index: Index) -> str:
        """Return what the file says now of what the index took from it; empty if not all of it."""
        names = [
            name
            for name, entry in index.entries.items()
            if entry.spacing or entry.variable.plain.startswith(UNLISTED)
        ]
        try:
            with self.plainly() as file:
                return look(file, names, self.path).digest()
        except errors.SubchunkError:
            return ""


open = File


def _again(path: str, index: str | None, options: dict[str, Any], identity: dict[str, Any]) -> File:
    file = File(path, index, **options)
    if file.data.identity() != identity:
        raise errors.StaleIndexError(
            f"{file_name(path)} is not the file that was open before: open it anew"
        )
    return file
