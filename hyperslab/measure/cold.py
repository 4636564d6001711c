"""Evict files from the page cache, and verify that they are out."""

import ctypes
import mmap
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

NOT_COLD = 0.002  # of a file's bytes: what may stay resident and still count as cold
TRIES = 5  # of evicting, before it is given up
_LIBC = ctypes.CDLL(None, use_errno=True)  # once: each is a cycle, which stays in a sample
_CACHESTAT = 451  # the same number on every architecture since Linux 6.5


class ColdCacheError(OSError):
    """The page cache cannot be emptied of a file here."""


def files_of(path: str | Path) -> tuple[Path, ...]:
    """Return a file, or every file of a directory store, sorted."""
    path = Path(path)
    if path.is_dir():
        return tuple(sorted(p for p in path.rglob("*") if p.is_file()))
    if not path.exists():
        raise FileNotFoundError(f"no file or directory at {path}")
    return (path,)


def remove(path: Path) -> None:
    """Remove a file or a directory store, if it is there; of a link the link alone."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def can_evict() -> bool:
    """Return whether this system can evict a file without root."""
    return sys.platform == "linux"


def resident_fraction(paths: Iterable[str | Path]) -> float:
    """Return the share of files and directories in the page cache; NaN where nobody can tell."""
    if not can_evict():
        return float("nan")
    pages = total = 0
    for path in paths:
        for file in files_of(path):
            size = file.stat().st_size
            total += -(-size // mmap.PAGESIZE)
            if size:
                pages += _resident_pages(file, size)
    return pages / total if total else 0.0


def evict(paths: Iterable[str | Path]) -> float:
    """Write files to disk, drop them from the page cache, and return the share that stays.

    Parameters
    ----------
    paths : iterable of path
        Files, or directories whose files are all evicted.

    Raises
    ------
    ColdCacheError
        When more than `NOT_COLD` stays, of a file that is mapped or lies in memory; or the system
        has no way.

    Examples
    --------
    >>> evict([])
    0.0
    """
    files = [file for path in paths for file in files_of(path)]
    if not files:
        return 0.0
    if not can_evict():
        raise ColdCacheError(
            f"{sys.platform} offers no way to evict a file from the page cache: "
            "cold reads can be measured on Linux only"
        )
    left = 1.0
    for _ in range(TRIES):
        for file in files:
            with file.open("rb", buffering=0) as handle:
                os.fsync(handle)  # dirty pages would stay
                os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        left = resident_fraction(files)
        if left <= NOT_COLD:
            return left
    raise ColdCacheError(
        f"{left:.1%} of {files[0].name}{' and others' if len(files) > 1 else ''} stays in the "
        "page cache after eviction: it is mapped by another program or lies on a memory file "
        "system; close what uses it or choose a work directory on a disk"
    )


def warm(paths: Iterable[str | Path]) -> None:
    """Read files whole, so that they are in the page cache; those that are there are left alone."""
    buffer = bytearray(1 << 20)
    for path in paths:
        for file in files_of(path):
            if resident_fraction([file]) == 1.0:
                continue
            with file.open("rb", buffering=0) as handle:
                while handle.readinto(buffer):
                    pass


def _resident_pages(file: Path, size: int) -> int:
    with file.open("rb", buffering=0) as handle:
        pages = _cachestat(handle.fileno())
        return _mincore(handle.fileno(), size) if pages is None else pages


def _cachestat(fd: int) -> int | None:
    whole, counts = (ctypes.c_uint64 * 2)(), (ctypes.c_uint64 * 5)()
    failed = _LIBC.syscall(_CACHESTAT, fd, whole, counts, 0)
    return None if failed else counts[0]  # the others are dirty, written back, evicted


def _mincore(fd: int, size: int) -> int:
    pages = np.zeros(-(-size // mmap.PAGESIZE), dtype="u1")
    with mmap.mmap(fd, size, prot=mmap.PROT_READ) as mapped:
        held = np.frombuffer(mapped, dtype="u1")
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (held, pages)]
        failed = _LIBC.mincore(pointers[0], ctypes.c_size_t(size), pointers[1])
        del held  # else the map stays open
    if failed:
        raise OSError(ctypes.get_errno(), "mincore failed")
    return int((pages & 1).sum())
