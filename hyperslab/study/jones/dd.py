"""A cold file read whole, or for a while, by our loop in C and by dd: samples and cases."""

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...io.calls import copied_in
from ...measure.case import Case, Stopwatch
from .files import ITEMSIZE, Files
from .plan import Cell, available, size_bytes
from .reads import LONGEST_S, ReadBuffers, right
from .spots import Spots

WHOLE = "1MiB"
"""Buffers in which the file is read."""


@dataclass(frozen=True)
class DdFor:
    """Read a file with dd in blocks of 1 MiB, timed by itself, for a while: phase read.

    dd is stopped as Ctrl-C stops it, upon which it says how much it has read, and in which time.

    Parameters
    ----------
    path : Path
    limit_s : float
        Seconds after which it is stopped.
    """

    path: Path
    limit_s: float = LONGEST_S

    def __call__(self, watch: Stopwatch) -> bool:
        words = ["dd", f"if={self.path}", "of=/dev/null", f"bs={size_bytes(WHOLE)}"]
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # what is ignored here dd ignores too
        try:
            with watch("read"):
                dd = subprocess.Popen(
                    words, stderr=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"}
                )
                try:
                    said, stopped = dd.communicate(timeout=self.limit_s)[1], False
                except subprocess.TimeoutExpired:
                    dd.send_signal(signal.SIGINT)
                    said, stopped = dd.communicate()[1], True
        finally:
            signal.signal(signal.SIGINT, before)
        copied, seconds = copied_in(said)
        # CPU time is the program's own, which is not counted here.
        watch.note(wall_s=seconds, user_s=None, sys_s=None, useful_bytes=copied)
        return copied == self.path.stat().st_size or (stopped and copied > 0)


def file_of(files: Mapping[str, Files], scratch: Path, mib: int) -> Files:
    """Return the file that is read beside dd: the cold one, or one of its own.

    A large file is read into memory that the host of a virtual machine may have to give anew,
    which takes either of the two by chance.

    Parameters
    ----------
    files : mapping
        From `files_of`.
    scratch : Path
    mib : int
        Size in MiB of one of its own, where it is smaller; 0 for the cold file.
    """
    own = Files(scratch / "whole", mib * 2**20 // ITEMSIZE)
    return own if 0 < own.nbytes < files["cold"].nbytes else files["cold"]


def cases(files: Files) -> list[Case]:
    """Return the cases that read a cold file in buffers of 1 MiB: C, and dd where it is.

    Both stop after 10 s, if the file does not end before. dd is a program of its own and is timed
    by what it reports, so starting it does not count.
    """
    path = files.path("binary")
    spots = Spots("sequential", size_bytes(WHOLE), files.nbytes)
    columns: dict[str, object] = {"format": "binary", "pattern": "sequential", "size": WHOLE}
    columns["file_bytes"] = files.nbytes
    common = Case("", print, check=right, columns=columns, files=[path], cache_state="cold")
    readers = available(["c-fread"]) or ["python-read"]
    ours = ReadBuffers(path, readers[0], spots, LONGEST_S)
    return [
        replace(common, name=Cell(readers[0], "sequential", WHOLE).name, run=ours, aa=True,
                columns={**columns, "library": "C"}),
        replace(common, name=Cell("dd", "sequential", WHOLE).name, run=DdFor(path),
                columns={**columns, "library": "dd"}),
    ]  # fmt: skip
