"""Ranges of a file of this machine."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import StaleIndexError
from ..process import ForkLock
from .ranges import GAP_LOCAL, joined

OPEN_FILES = 128  # descriptors that are kept; more files are opened again when they are read


class LocalFile:
    """A file of this machine, read by pread without read-ahead."""

    remote = False

    def __init__(self, path: str | Path) -> None:
        self.name = self.path = os.fspath(path)
        with _DESCRIPTORS.of(self) as fd:
            stat = os.fstat(fd)
        self._first = _marks(stat)
        self._identity = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}

    def __reduce__(self) -> tuple[Any, ...]:
        return LocalFile, (self.path,)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back; a later read opens the file again."""
        _DESCRIPTORS.drop(self)

    def identity(self) -> dict[str, Any]:
        """Return size and modification time, as they were when the file was opened first."""
        return dict(self._identity)

    def ranges(self, starts: Sequence[int], stops: Sequence[int]) -> list[memoryview]:
        """Return the bytes of each range; shorter where the file ends."""
        size = self._identity["size"]  # asking for more would reserve it
        with _DESCRIPTORS.of(self) as fd:

            def read(starts: Sequence[int], stops: Sequence[int]) -> list[bytes]:
                return [
                    os.pread(fd, max(0, min(stop, size) - start), min(start, size))
                    for start, stop in zip(starts, stops, strict=True)
                ]

            found = joined(read, starts, stops, GAP_LOCAL)
            self.check(fd)
        return found

    def check(self, fd: int | None = None) -> None:
        """Make sure that a descriptor, or this file's own, is of the file as it was."""
        if fd is None:
            with _DESCRIPTORS.of(self) as own:
                self.check(own)
        elif _marks(os.fstat(fd)) != self._first:
            raise StaleIndexError(
                f"{self.path} was replaced, removed or written to while it was open: open it again"
            )

    def open(self) -> int:
        """Open a descriptor, and make sure that it is the file it was."""
        fd = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
            if hasattr(self, "_first"):
                self.check(fd)
        except BaseException:
            os.close(fd)
            raise
        return fd


class _Descriptors:
    """Open descriptors, the least recently used ones closed when they are too many."""

    def __init__(self) -> None:
        self._lock = ForkLock()
        self._kept: OrderedDict[int, int] = OrderedDict()
        self._users: dict[int, int] = {}

    @contextmanager
    def of(self, file: LocalFile) -> Iterator[int]:
        """Give the descriptor of a file, which stays open meanwhile."""
        key = id(file)
        with self._lock:
            fd = self._kept.get(key)
            if fd is None:
                fd = self._kept[key] = file.open()
            self._kept.move_to_end(key)
            self._users[key] = self._users.get(key, 0) + 1
            self._shrink()
        try:
            yield fd
        finally:
            with self._lock:
                self._users[key] -= 1
                if not self._users[key]:
                    del self._users[key]

    def drop(self, file: LocalFile) -> None:
        """Close the descriptor of a file, unless somebody is reading."""
        with self._lock:
            self._close(id(file))

    def _shrink(self) -> None:
        for key in list(self._kept)[: max(0, len(self._kept) - OPEN_FILES)]:
            self._close(key)

    def _close(self, key: int) -> None:
        if key not in self._users and (fd := self._kept.pop(key, None)) is not None:
            os.close(fd)

    def after_fork(self) -> None:
        """Forget threads that read: they are not here."""
        self._users = {}


_DESCRIPTORS = _Descriptors()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_DESCRIPTORS.after_fork)


def _marks(stat: os.stat_result) -> tuple[int, ...]:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_nlink > 0
