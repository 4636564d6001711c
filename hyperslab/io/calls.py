"""What samples of single calls share: numbered arrays, their checks, and copies by dd."""

import filecmp
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..measure.case import Stopwatch
from ..measure.cold import remove
from . import reader
from .work import NAME

NEEDS = ("netCDF4", "h5py", "hyperslab.kernels.preloaded", __name__)
_COPIED = re.compile(r"(\d+) bytes.*?(?:copied,|transferred in) ([\d.e+-]+) s")
_PIECE = 2**16  # elements that stay in the processor's cache


@dataclass(frozen=True)
class Sample:
    run: Callable[[Stopwatch], Any]
    check: Callable[[Any], bool]
    columns: dict[str, object]
    files: tuple[Path, ...] = ()
    made: Path | None = None  # what is written, and removed before and afterwards
    memory_bytes: int = 0  # see `measure.case.Case`

    def parts(self, cache_state: str) -> dict[str, Any]:
        fields = {name: value for name, value in vars(self).items() if name != "made"}
        if self.made:
            fields |= dict.fromkeys(("prepare", "cleanup"), partial(remove, self.made))
        return fields


@dataclass(frozen=True)
class Whole:
    """A whole array of integers, element i counting i, or the bytes of such integers."""

    shape: tuple[int, ...]  # of bytes the last length counts them, four for each integer
    dtype: str = "i4"  # or "i1" for bytes

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize

    def values(self) -> NDArray[np.generic]:
        return np.arange(self.nbytes // 4, dtype="i4").view(self.dtype).reshape(self.shape)

    def same(self, read: NDArray[np.generic]) -> bool:
        """Whether what was read is the array, compared in pieces that stay in the cache."""
        if (read.shape, read.dtype) != (self.shape, np.dtype(self.dtype)):
            return False
        flat = np.ascontiguousarray(read).ravel().view("i4")
        pieces = ((at, flat[at : at + _PIECE]) for at in range(0, flat.size, _PIECE))
        return all(
            np.array_equal(piece, np.arange(at, at + piece.size, dtype="i4"))
            for at, piece in pieces
        )

    def stored(self, path: Path, checker: str, _: object = None) -> bool:
        """Whether a file holds the array, read back by a reader, or as plain bytes without one."""
        if not checker:
            return self.same(np.fromfile(path, self.dtype).reshape(self.shape))
        with reader(checker).open(path, NAME) as opened:
            return self.same(opened.read())


@dataclass(frozen=True)
class Dd:
    """Copy a plain file with dd in blocks of 1 MiB, timed by itself: phase read, or write."""

    source: Path
    target: Path | None = None  # none reads into nothing

    needs: ClassVar = NEEDS

    # One block of the whole size would be slower: its memory is new, page by page. A write begins
    # with reading the source out of the page cache.
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

    def right(self, copied: int) -> bool:
        same = self.target is None or filecmp.cmp(self.target, self.source, shallow=False)
        return same and copied == self.source.stat().st_size


def copied_in(printed: str) -> tuple[int, float]:
    match = _COPIED.search(printed)
    if not match:
        raise ValueError(f"dd printed {printed!r}: no bytes and seconds in it")
    return int(match[1]), float(match[2])
