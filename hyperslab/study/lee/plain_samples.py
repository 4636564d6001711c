"""Samples that write and read a plain file whole: from C, and by dd."""

import filecmp
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...kernels import PlainFile, kernel
from ...measure.case import Stopwatch
from ...storage.write import stored_bytes
from .format_samples import Whole

_COPIED = re.compile(r"(\d+) bytes.*?(?:copied,|transferred in) ([\d.e+-]+) s")


def rehearse(path: Path) -> None:
    """Write and read two numbers beside a file, as is done before netCDF is timed."""
    spot, out = path.with_name(f"{path.name}.rehearsal"), np.arange(2, dtype="i4")
    with PlainFile(spot, write=True) as file:
        file.access("write", [0], [out.nbytes], out)
        file.access("read", [0], [out.nbytes], out)
    spot.unlink()


@dataclass(frozen=True)
class WritePlain:
    """Write an array to a plain file with one pwrite and fsync: phases write and sync.

    All is rehearsed before.

    Parameters
    ----------
    path : Path
    array : Whole
    """

    path: Path
    array: Whole

    def __call__(self, watch: Stopwatch) -> None:
        kernel()
        rehearse(self.path)
        values = self.array.values()
        file = PlainFile(self.path, write=True)
        with watch("write", useful_bytes=values.nbytes):
            seconds = file.access("write", [0], [values.nbytes], values)
        watch.note(wall_s=seconds, file_bytes=stored_bytes(self.path))
        with watch("sync"):
            seconds = file.sync()
        watch.note(wall_s=seconds)
        file.close()


@dataclass(frozen=True)
class ReadPlain:
    """Read a plain file with one pread, into memory that was touched before: phase read.

    All is rehearsed.

    Parameters
    ----------
    path : Path
    array : Whole
    """

    path: Path
    array: Whole

    def __call__(self, watch: Stopwatch) -> NDArray[np.generic]:
        kernel()
        rehearse(self.path)
        out: NDArray[np.generic] = np.ones(self.array.shape, self.array.dtype)
        with PlainFile(self.path) as file:
            with watch("read", useful_bytes=out.nbytes):
                seconds = file.access("read", [0], [out.nbytes], out)
            watch.note(wall_s=seconds, file_bytes=out.nbytes)
        return out


@dataclass(frozen=True)
class Dd:
    """Copy a plain file with dd in blocks of 1 MiB, timed by itself: phase read, or write.

    One block of the whole size would be quicker to say, and slower: its memory is new, page by
    page. A write ends with fsync, and begins with reading the source out of the page cache.

    Parameters
    ----------
    source : Path
    target : Path, optional
        None reads only, into nothing.
    """

    source: Path
    target: Path | None = None

    def __call__(self, watch: Stopwatch) -> int:
        size = self.source.stat().st_size
        words = ["dd", f"if={self.source}", f"of={self.target or '/dev/null'}", f"bs={2**20}"]
        words += ["conv=fsync"] if self.target else []
        with watch("write" if self.target else "read", useful_bytes=size):
            done = subprocess.run(
                words, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}
            )
        copied, seconds = copied_in(done.stderr)
        # CPU time is the program's own, which is not counted here.
        watch.note(wall_s=seconds, user_s=None, sys_s=None, file_bytes=size)
        return copied


@dataclass(frozen=True)
class Copied:
    """Check that dd copied a whole file.

    Parameters
    ----------
    source : Path
    target : Path, optional
        What must hold the same bytes.
    """

    source: Path
    target: Path | None = None

    def __call__(self, copied: int) -> bool:
        same = self.target is None or filecmp.cmp(self.target, self.source, shallow=False)
        return same and copied == self.source.stat().st_size


def copied_in(said: str) -> tuple[int, float]:
    """Return the bytes that dd copied and the seconds that it took.

    Raises
    ------
    ValueError
        When it says something else.

    Examples
    --------
    >>> copied_in("1+0 records out\\n4096 bytes (4.1 kB, 4.0 KiB) copied, 0.000134 s, 30.6 MB/s")
    (4096, 0.000134)
    """
    found = _COPIED.search(said)
    if not found:
        raise ValueError(f"dd says {said!r}: no bytes and seconds in it")
    return int(found[1]), float(found[2])
