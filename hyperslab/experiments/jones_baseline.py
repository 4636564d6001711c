"""Plain binary read in buffers: how often each kind is read, each read by itself, and dd."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..io import buffers
from ..io.buffers import Files, ReadBuffers
from ..io.calls import Sample, copied_in
from ..io.experiment import Case
from ..kernels import kernel
from ..measure import case as measured
from ..measure.case import Stopwatch
from ..measure.cold import resident_fraction
from ..measure.counters import Counts

READ_BYTES = 2**16  # of successive reads; eight are the 512 KiB that a pattern of eight would span
_SEVERAL = 8 * 2**20  # up to this size a sample of any pattern has several reads
_MET, _FEW = "64 MiB", 4  # where patterns are said to meet; reads that take a pattern
_ENOUGH = 7  # blocks, of what claims compare and other things than noise decide
_RANDOM = ("random", "64 KiB")  # of Python, which a claim compares
_DD_BYTES = 2**20
# What the counters say of the loop belongs to all its reads together.
_NOT_EACH = dict.fromkeys(["overhead_s", *Counts.__dataclass_fields__])

Kind = tuple[str, str, str]  # reader, access and size of the buffer


def cases(
    files: Mapping[str, Files],
    kinds: Mapping[str, Sequence[Kind]],
    limit_s: float,
    seed: int,
    other_blocks: int,
) -> list[measured.Case]:
    """Return the reads of each state of the cache; the first of each is measured in pairs."""
    reads = []
    for state, stored in files.items():
        for number, kind in enumerate(kinds[state]):
            reader, access, buffer = kind
            nbytes = buffers.bytes_of(buffer)
            read = ReadBuffers(stored, reader, access, nbytes, limit_s, _least(kind, state), seed)
            labels = {"reader": reader, "access": access, "buffer": buffer}
            blocks = 0 if number == 0 else _blocks(kind, state, other_blocks)
            reads.append(Case(labels, read, number == 0, blocks).ready(state))
    return reads


def _least(kind: Kind, state: str) -> int:
    """Return how many reads a cold sample has at least: one alone has no pattern."""
    reader, access, buffer = kind
    judged = buffer == _MET and (reader == "C fread" or access == "sequential")
    judged |= reader in ("C fread", "Python read") and buffers.bytes_of(buffer) <= _SEVERAL
    return _FEW if judged and state == "cold" else 1


def _blocks(kind: Kind, state: str, other_blocks: int) -> int:
    """Return after how many blocks a kind is left out: where claims compare it late or never."""
    reader, access, buffer = kind
    claimed = reader == "C fread" or (reader, buffer) == ("numpy.fromfile", _MET)
    claimed |= reader == "Python read" and (access == "sequential" or kind[1:] == _RANDOM)
    several = reader == "Python read" and buffers.bytes_of(buffer) <= _SEVERAL
    if state == "warm":
        claimed, several = False, kind[1:] == ("sequential", _MET)
    if claimed or not other_blocks:
        return 0
    return max(other_blocks, _ENOUGH) if several else other_blocks


def successive(files: Files, reads: int) -> list[Case]:
    """Return the cases that time each of so many cold reads in a row."""
    path, columns = files.path("binary"), {"library": "C", "format": "binary"}
    columns |= {"pattern": "sequential", "size": "64KiB"}
    return [
        Case(
            {"reader": reader, "access": "sequential", "buffer": "64 KiB", "place": ""},
            Sample(ReadEach(files, reader, reads), bool, dict(columns), (path,)),
            aa=reader == "C fread",
        )
        for reader in ("C fread", "C pread")
    ]


@dataclass(frozen=True)
class ReadEach:
    """Read a file's head in C with a clock around each call: a phase read for every one."""

    files: Files
    reader: str
    reads: int

    def __call__(self, watch: Stopwatch) -> bool:
        kernel()
        path = self.files.path("binary")
        sample = ReadBuffers(self.files, self.reader, "sequential", READ_BYTES)
        loop = buffers.READERS[self.reader].loop(path, sample.spots.count)
        watch.chill()
        resident = resident_fraction([path])
        starts = sample.spots.between(0, self.reads)
        durations = np.zeros(len(starts))
        loop.ready(starts, durations)()
        for number, seconds in enumerate(durations.tolist()):
            offset = f"{number * READ_BYTES / 2**20:g}"
            with watch("read", case=f"{self.reader}, sequential, 64 KiB, {offset}", place=offset):
                pass
            columns = {"resident_before": resident, "useful_bytes": READ_BYTES}
            watch.note(**_NOT_EACH | columns | {"wall_s": seconds})
        same = sample.same(loop, len(starts) - 1)
        loop.close()
        return same


def whole(files: Files, folder: Path, mib: int) -> Files:
    """Return the file that dd reads too: the cold one, or one of its own that is smaller."""
    # Beyond the memory put in place a virtual machine's host gives pages anew, which slows it.
    own = Files(folder, mib * 2**20 // buffers.ITEMSIZE)
    return own if 0 < own.nbytes < files.nbytes else files


def beside_dd(files: Files, reader: str) -> list[Case]:
    """Return the cases that read a cold file in buffers of 1 MiB, for 10 s at most: ours and dd."""
    ours = ReadBuffers(files, reader, "sequential", _DD_BYTES)
    columns = {**ours.parts("cold")["columns"], "library": "dd"}
    path = files.path("binary")
    labels = {"reader": reader, "access": "sequential", "buffer": "1 MiB"}
    dd = Case(
        {**labels, "reader": "dd"},
        Sample(DdFor(path), bool, columns, (path,), memory_bytes=ours.memory_bytes),
    )
    return [Case(labels, ours, aa=True), dd]


@dataclass(frozen=True)
class DdFor:
    """Read a file with dd in blocks of 1 MiB, stopped after a while as Ctrl-C does: phase read."""

    path: Path
    limit_s: float = buffers.LONGEST_S

    def __call__(self, watch: Stopwatch) -> bool:
        words = ["dd", f"if={self.path}", "of=/dev/null", f"bs={_DD_BYTES}"]
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # what is ignored here dd ignores too
        try:
            with watch("read"):
                dd = subprocess.Popen(
                    words, stderr=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"}
                )
                try:
                    report, stopped = dd.communicate(timeout=self.limit_s)[1], False
                except subprocess.TimeoutExpired:
                    dd.send_signal(signal.SIGINT)
                    report, stopped = dd.communicate()[1], True
        finally:
            signal.signal(signal.SIGINT, before)
        copied, seconds = copied_in(report)
        # CPU time is the program's own, which is not counted here.
        watch.note(wall_s=seconds, user_s=None, sys_s=None, useful_bytes=copied)
        return copied == self.path.stat().st_size or (stopped and copied > 0)
