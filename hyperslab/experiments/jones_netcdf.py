"""Reads of netCDF through every layer: how often which, and one piece of four in several ways."""

import os
import resource
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Barrier, Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.buffers import (
    ITEMSIZE,
    LONGEST_S,
    READERS,
    STRIDE,
    VARIABLE,
    Files,
    ReadBuffers,
    bytes_of,
    offset_of,
    truth,
)
from ..io.experiment import Case, File
from ..measure import case as measured
from ..measure.case import Stopwatch

MOST_VALUES = 2**31 // ITEMSIZE  # of a file that stays in memory, or of a Zarr store
SMALL_PAGES = ", small pages"
_WHOLE = float("inf")  # no limit of time: all the reads of a sample, so that their bytes compare
_PAIRED = ("netCDF4-python", "sequential", "1 MiB")  # what most claims rest on
_SMALL = ("512 B", "4 KiB")  # random reads from memory that claims compare
_ENOUGH = 7  # blocks, of what claims compare and other things than noise decide
_JUMP_BLOCKS = 3
_NETCDF = ("netCDF-C", "netCDF4-python")
_JUMPERS = ("netCDF4-python without masking", "h5py", "h5netcdf", "xarray", "Zarr")
# Whose sequential reads claims compare, by state; and of cold ones by h5py and h5netcdf, 1 MiB.
_JUDGED = {
    "cold": ("C fread", *_NETCDF),
    "warm": (*_NETCDF, "netCDF4-python without masking"),
}

Kind = tuple[str, str, str]  # reader, access and size of the buffer


def stored(readers: Iterable[str], files: Files) -> list[str]:
    """Return what the variable is written in; a large one in no Zarr store, with its many files."""
    kinds = {READERS[name].kind for name in readers} | {"binary", "netcdf4"}
    return sorted(kinds - ({"zarr3"} if files.values > MOST_VALUES else set()))


def possible(
    kinds: Iterable[Kind], files: Files, readers: Collection[str], sizes: Collection[str]
) -> list[Kind]:
    formats = stored(readers, files)
    return [
        kind
        for kind in kinds
        if kind[0] in readers and kind[2] in sizes and READERS[kind[0]].kind in formats
    ]


def _read(kind: Kind, files: Files, limit_s: float, aa: bool = False, blocks: int = 0) -> Case:
    reader, access, buffer = kind
    labels = {"reader": reader, "access": access, "buffer": buffer}
    return Case(labels, ReadBuffers(files, reader, access, bytes_of(buffer), limit_s), aa, blocks)


def cases(
    files: Mapping[str, Files],
    kinds: Mapping[str, Sequence[Kind]],
    limit_s: float,
    other_blocks: int,
) -> list[measured.Case]:
    """Return the reads of each state of the cache, each with the blocks that claims need."""
    reads = []
    for state, state_kinds in kinds.items():
        pair = _PAIRED if _PAIRED in state_kinds else state_kinds[0]
        for kind in state_kinds:
            limit = _WHOLE if (state, kind[1]) == ("warm", "random") else limit_s
            blocks = 0 if kind == pair else _blocks(kind, state, other_blocks)
            reads.append(_read(kind, files[state], limit, kind == pair, blocks).ready(state))
    return reads


def _blocks(kind: Kind, state: str, other_blocks: int) -> int:
    """Return after how many blocks a kind is left out: where claims compare it late or never."""
    reader, access, buffer = kind
    judged, also = reader in _JUDGED[state], state == "cold" and reader in ("h5py", "h5netcdf")
    if access != "sequential":
        if state == "cold" and reader in _JUMPERS:
            return _JUMP_BLOCKS
        judged = reader in _NETCDF and (
            access == "strided" if state == "cold" else buffer in _SMALL
        )
        also = False
    if not other_blocks or (state == "cold" and (judged or (also and buffer == "1 MiB"))):
        return 0
    return max(other_blocks, _ENOUGH) if judged or also else other_blocks


def counted(
    files: Files,
    random: Sequence[Kind],
    strided: Sequence[Kind],
    large: Sequence[Kind],
    limit_s: float,
) -> list[measured.Case]:
    """Return reads from memory whose bytes, calls and page faults are counted, not their times."""
    reads = [_read(kind, files, _WHOLE).ready("warm") for kind in random]
    # Long enough for many reads, of which the last fetches more than is asked of it.
    reads += [_read(kind, files, 10 * limit_s).ready("warm") for kind in strided]
    for kind in large:  # and once more where numpy may not ask for huge pages
        case = _read(kind, files, limit_s).ready("warm")
        labels = {**case.labels, "reader": kind[0] + SMALL_PAGES}
        name = ", ".join(labels.values())
        reads += [case, replace(case, name=name, labels=labels, prepare=small_pages)]
    return [replace(case, aa=number == 0) for number, case in enumerate(reads)]


def small_pages() -> None:
    """Keep numpy from asking for huge pages, as NUMPY_MADVISE_HUGEPAGE=0 does before it starts."""
    from numpy._core import multiarray

    multiarray._set_madvise_hugepage(False)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class _ChunkedFile(Files):
    def path(self, kind: str) -> Path:
        return self.folder


def chunked(files: Mapping[str, File]) -> list[measured.Case]:
    """Return the reads of files in chunks, 1 MiB at a time, to their end or for 10 s."""
    reads = []
    for chunk, file in files.items():
        source = _ChunkedFile(file.path, file.array.shape[0])
        work = ReadBuffers(source, "netCDF4-python", "sequential", min(2**20, source.nbytes))
        labels = {"reader": "netCDF4-python", "chunk": chunk}
        case = Case(labels, work, aa=chunk == "1 MiB").ready("cold")
        nbytes = bytes_of(chunk)
        columns = {"chunks": str(nbytes // ITEMSIZE), "chunk_bytes": nbytes}
        reads.append(replace(case, columns={**case.columns, **columns}))
    return reads


PIECE_BYTES, BLOCK_BYTES, THREADS = 4096, 2**20, 4
# Values of a piece, and how many pieces are wanted of a block.
PIECE, RUN = PIECE_BYTES // ITEMSIZE, BLOCK_BYTES // STRIDE // PIECE_BYTES
MANNERS = ("piece by piece", "1 MiB at a time", f"{THREADS} threads")
_MANY = 4096  # pieces of a read that takes a while from memory

Get = Callable[[int, int], NDArray[Any]]
# The pieces, and the first of each run of them that was read.
Pieces = tuple[NDArray[np.float64], list[int]]


def quarters(files: Mapping[str, Files], pieces: int) -> list[measured.Case]:
    """Return the reads of one piece of four, by reader and manner: so many of the first pieces."""
    span = pieces * STRIDE * PIECE_BYTES
    if span % BLOCK_BYTES or any(span > each.nbytes for each in files.values()):
        raise ValueError(
            f"{pieces} pieces lie in {span} bytes: give a multiple of {RUN} that the variable has "
            "room for"
        )
    return [
        Case(
            {"reader": reader, "manner": manner},
            Quarter(state_files, reader, manner, pieces),
            aa=(reader, manner) == ("netCDF4-python", MANNERS[0]),
        ).ready(state)
        for state, state_files in files.items()
        for reader in _OPENED
        for manner in MANNERS
        if (reader, manner) != ("os.pread", MANNERS[1])
    ]


@dataclass(frozen=True)
class Quarter:
    """Read one piece of four in runs of `RUN`: phases open, start (of threads), read and close."""

    files: Files
    reader: str
    manner: str
    pieces: int
    limit_s: float = LONGEST_S

    def parts(self, cache_state: str) -> dict[str, Any]:
        """Return what a sample runs; os.pread gets more, so that it takes a while from memory."""
        pieces = self.pieces
        if (self.reader, cache_state) == ("os.pread", "warm"):
            pieces = max(pieces, min(_MANY, self.files.nbytes // BLOCK_BYTES * RUN))
        return {
            "run": replace(self, pieces=pieces),
            "check": right,
            "columns": {"library": self.reader, "format": "netcdf4", "pattern": "strided"},
            "files": (self.files.path("netcdf4"),),
            "prepare": use_all_cores if self.manner == MANNERS[2] else None,
        }

    def __call__(self, watch: Stopwatch) -> Pieces:
        out = np.empty((self.pieces, PIECE))
        with ExitStack() as held:
            with watch("open"):
                get = _OPENED[self.reader](self.files.path("netcdf4"), held)
            take = _at_once if self.manner == MANNERS[1] else _one_by_one
            pool = None
            if self.manner == MANNERS[2]:
                with watch("start"):  # until they run: reads are timed, and not their start
                    pool, ready = held.enter_context(ThreadPoolExecutor(THREADS)), Barrier(THREADS)
                    list(pool.map(lambda _: ready.wait(), range(THREADS)))
            watch.chill()
            before = resource.getrusage(resource.RUSAGE_SELF)
            with watch("read"):
                end, runs = time.perf_counter() + self.limit_s, range(0, self.pieces, RUN)
                done = _until(end, partial(take, get, out), runs, pool)
            after = resource.getrusage(resource.RUSAGE_SELF)
            watch.note(
                useful_bytes=len(done) * RUN * PIECE_BYTES,
                stages=len(done) * (1 if take is _at_once else RUN),
                voluntary_switches=after.ru_nvcsw - before.ru_nvcsw,
                forced_switches=after.ru_nivcsw - before.ru_nivcsw,
            )
            with watch("close"):
                held.close()
        return out, done


def _until(
    end: float, each: Callable[[int], None], runs: range, pool: ThreadPoolExecutor | None
) -> list[int]:
    """Make the runs until their end or that of the time; return those that were made."""

    def some(mine: range) -> list[int]:
        done = []
        for first in mine:
            if time.perf_counter() >= end:
                break
            each(first)
            done.append(first)
        return done

    if pool is None:
        return some(runs)
    share = -(-len(runs) // THREADS)
    shares = (runs[n * share : (n + 1) * share] for n in range(THREADS))
    return [first for done in pool.map(some, shares) for first in done]


def right(read: object) -> bool:
    assert isinstance(read, tuple)
    out, done = read
    for first in done:
        whole = truth(first * STRIDE * PIECE, RUN * STRIDE * PIECE)
        if not np.array_equal(out[first : first + RUN], whole.reshape(RUN, STRIDE, PIECE)[:, 0]):
            return False
    return bool(done)


def use_all_cores() -> None:
    """Let this process use all the cores of the one that started it; samples have one."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, os.sched_getaffinity(os.getppid()))


def _one_by_one(get: Get, out: NDArray[np.float64], first: int) -> None:
    for piece in range(first, first + RUN):
        out[piece] = get(STRIDE * PIECE * piece, PIECE)


def _at_once(get: Get, out: NDArray[np.float64], first: int) -> None:
    block = get(STRIDE * PIECE * first, RUN * STRIDE * PIECE)
    out[first : first + RUN] = block.reshape(RUN, STRIDE, PIECE)[:, 0]


def _netcdf4(path: Path, held: ExitStack) -> Get:
    import netCDF4

    file = netCDF4.Dataset(path)
    held.callback(file.close)
    variable, lock = file[VARIABLE], Lock()

    def get(first: int, count: int) -> NDArray[Any]:
        with lock:  # netCDF-C must not be called by two threads at once
            return np.asarray(variable[first : first + count])

    return get


def _h5py(path: Path, held: ExitStack) -> Get:
    import h5py

    variable = held.enter_context(h5py.File(path))[VARIABLE]
    return lambda first, count: np.asarray(variable[first : first + count])


def _pread(path: Path, held: ExitStack) -> Get:
    offset, descriptor = offset_of(path), os.open(path, os.O_RDONLY)
    held.callback(os.close, descriptor)

    def get(first: int, count: int) -> NDArray[Any]:
        data = os.pread(descriptor, count * ITEMSIZE, offset + first * ITEMSIZE)
        return np.frombuffer(data, np.float64)

    return get


_OPENED: Mapping[str, Callable[[Path, ExitStack], Get]] = {
    "netCDF4-python": _netcdf4,
    "h5py": _h5py,
    "os.pread": _pread,
}
