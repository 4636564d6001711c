"""Ranges of a file of this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
        self._first: tuple[int, ...] = ()
        stat = os.fstat(self._descriptor().fd)
        self._first = _marks(stat)
        self._identity = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}

    def __reduce__(self) -> tuple[Any, ...]:
        return LocalFile, (self.path,)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        with _LOCK:
            _OPEN.pop(id(self), None)

    def identity(self) -> dict[str, Any]:
        return dict(self._identity)

    def ranges(self, starts: Sequence[int], stops: Sequence[int]) -> list[memoryview]:
        size = self._identity["size"]  # asking for more would reserve it
        descriptor = self._descriptor()
        fd = descriptor.fd

        def read(starts: Sequence[int], stops: Sequence[int]) -> list[bytes]:
            spans = zip(starts, stops, strict=True)
            return [os.pread(fd, max(0, min(b, size) - a), min(a, size)) for a, b in spans]

        pieces = joined(read, starts, stops, GAP_LOCAL)
        self.check(fd)
        return pieces

    def check(self, fd: int | None = None) -> None:
        """Make sure that a descriptor, or this file's own, is of the file as it was."""
        if fd is None:
            own = self._descriptor()
            self.check(own.fd)
        elif _marks(os.fstat(fd)) != self._first:
            raise StaleIndexError(
                f"{self.path} was replaced, removed or written to while it was open: open it again"
            )

    def _descriptor(self) -> _Descriptor:
        """Return the open descriptor; the one that was used longest ago makes room for it."""
        with _LOCK:
            descriptor = _OPEN.pop(id(self), None)
            if descriptor is None:
                descriptor = _Descriptor(self.path)
                if self._first:
                    self.check(descriptor.fd)
            _OPEN[id(self)] = descriptor
            if len(_OPEN) > OPEN_FILES:
                del _OPEN[next(iter(_OPEN))]
        return descriptor


class _Descriptor:
    def __init__(self, path: str) -> None:
        self.fd = -1
        self.fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_RANDOM)

    def __del__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)


_LOCK, _OPEN = ForkLock(), dict[int, _Descriptor]()  # by the addresses of files


def _marks(stat: os.stat_result) -> tuple[int, ...]:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_nlink > 0
