"""Room on the disk: asked for before a copy begins, and named when it ran out."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from hyperslab.io.chunk_shapes import padded_bytes
from hyperslab.io.layout import Layout
from hyperslab.io.sources.base import SourceError, SourceVariable
from hyperslab.tune.process_memory import mib

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


class NoRoomError(OSError):
    """The disk is full, or a file may not grow."""


def require_room(needs: Sequence[tuple[str, int, Path]]) -> None:
    """Refuse what cannot fit on the disk: what it is, its bytes, and its folder."""
    disks: dict[int, list[tuple[str, int, Path]]] = {}
    for what, nbytes, folder in needs:
        if nbytes:
            disks.setdefault(folder.stat().st_dev, []).append((what, nbytes, folder))
    for asked in disks.values():
        left, bound = _left(asked[0][2])
        if sum(nbytes for _, nbytes, _ in asked) > left:
            words = " and ".join(f"{what} takes {mib(n)} in {folder}" for what, n, folder in asked)
            raise NoRoomError(f"there is no room: {words}, but {bound}: make room or take another "
                              "folder")  # fmt: skip


@contextmanager
def explained(folder: Path, needed_bytes: int) -> Iterator[None]:
    """Say in one line what kept a copy from being written: HDF5 does not tell of a full disk.

    It is used inside of the writer, which removes what failed and so makes room again.
    """
    try:
        yield
    except (SourceError, InterruptedError, MemoryError, NoRoomError):
        raise
    except Exception as error:
        left, bound = _left(folder)
        said = any(os.strerror(number) in str(error) for number in _FULL)
        if said or getattr(error, "errno", None) in _FULL or left < max(2**20, needed_bytes // 50):
            raise NoRoomError(
                f"the disk is full: {bound}, and the copy may take {mib(needed_bytes)}: make room "
                "or take another folder"
            ) from error
        if notes := getattr(error, "__notes__", ()):  # one line is all that reaches the user
            raise RuntimeError(f"{str(error).rstrip('.')}. {notes[0]}") from error
        raise


def _left(folder: Path) -> tuple[int, str]:
    """Return how large a file may become, and what bounds it."""
    free, limit = shutil.disk_usage(folder).free, resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and limit < free:
        return limit, f"a file may not grow beyond {mib(limit)} (ulimit -f)"
    return free, f"{mib(free)} are left in {folder}"


def most_bytes(variables: Sequence[SourceVariable], layouts: Mapping[str, Layout]) -> int:
    """Return the bytes that a copy takes at most, compression left aside."""
    return sum(_padded(variable, layouts[variable.name]) for variable in variables)


def likely_bytes(variables: Sequence[SourceVariable], layouts: Mapping[str, Layout]) -> int:
    """Return the bytes that a copy needs if codecs pack as now, new ones to a quarter."""
    total = 0
    for variable in variables:
        most = _padded(variable, layouts[variable.name])
        if layouts[variable.name].codec:
            stored = variable.stored_bytes if variable.codec else None
            most = min(most, most // 4 if stored is None else stored)
        total += most
    return total


def _padded(variable: SourceVariable, layout: Layout) -> int:
    if not layout.chunks or not variable.shape or 0 in variable.shape:
        return variable.nbytes
    return padded_bytes(variable.shape, layout.chunks, variable.itemsize)
