"""A strided read of small pieces, made in several ways: the sample and its cases."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...measure.case import Case, Stopwatch
from .files import ITEMSIZE, VARIABLE, Files, truth

PIECE_BYTES = 4096
STRIDE = 4
"""One piece is wanted of so many, as in the document's strided reads."""
BLOCK_BYTES = 2**20
THREADS = 4

Get = Callable[[int, int], NDArray[Any]]


@dataclass(frozen=True)
class Quarter:
    """Read one piece of four: phases open, read and close.

    Parameters
    ----------
    path : Path
        Of the netCDF-4 file.
    library, manner : str
        Of `LIBRARIES` and `MANNERS`.
    pieces : int
        How many are wanted.
    piece : int
        Values of each.
    """

    path: Path
    library: str
    manner: str
    pieces: int
    piece: int = PIECE_BYTES // ITEMSIZE

    def __call__(self, watch: Stopwatch) -> NDArray[np.float64]:
        out = np.empty(self.pieces * self.piece)
        with ExitStack() as held:
            with watch("open"):
                get = LIBRARIES[self.library](self.path, held)
            watch.chill()
            with watch("read"):
                reads = MANNERS[self.manner](get, out, self.piece)
            watch.note(useful_bytes=out.nbytes, stages=reads)
            with watch("close"):
                held.close()
        return out


@dataclass(frozen=True)
class Quarters:
    """Check what `Quarter` read.

    Parameters
    ----------
    pieces, piece : int
        As of it.
    """

    pieces: int
    piece: int = PIECE_BYTES // ITEMSIZE

    def __call__(self, read: object) -> bool:
        whole = truth(0, self.pieces * self.piece * STRIDE)
        return isinstance(read, np.ndarray) and np.array_equal(
            read, whole.reshape(-1, STRIDE, self.piece)[:, 0].ravel()
        )


@dataclass(frozen=True)
class AllCores:
    """Let this process use all the cores of the one that started it; samples have one."""

    def __call__(self) -> None:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, os.sched_getaffinity(os.getppid()))


def cases(files: Mapping[str, Files], pieces: int) -> list[Case]:
    """Return the reads of one piece of four, by library and manner.

    Parameters
    ----------
    files : mapping
        From cache state to files.
    pieces : int
        How many are wanted; all the pieces lie in the first 4 × 4 KiB × pieces of the variable.

    Raises
    ------
    ValueError
        When the variable has fewer, or they fill no whole number of blocks.
    """
    span = pieces * STRIDE * PIECE_BYTES
    if span % BLOCK_BYTES or any(span > each.nbytes for each in files.values()):
        raise ValueError(
            f"{pieces} pieces lie in {span} bytes: give a multiple of "
            f"{BLOCK_BYTES // STRIDE // PIECE_BYTES} that the variable has room for"
        )
    return [
        Case(
            f"{library}/{manner}",
            Quarter(found.path("netcdf4"), library, manner, pieces),
            check=Quarters(pieces),
            columns={"library": library, "format": "netcdf4", "pattern": "strided"},
            files=(found.path("netcdf4"),),
            cache_state=state,
            prepare=AllCores() if manner == "threads" else None,
            aa=(library, manner) == ("netcdf4-python", "pieces"),
        )
        for state, found in files.items()
        for library, manner in WAYS
    ]


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
    import h5py

    with h5py.File(path) as file:
        offset = file[VARIABLE].id.get_offset()
    number = os.open(path, os.O_RDONLY)
    held.callback(os.close, number)

    def get(first: int, count: int) -> NDArray[Any]:
        data = os.pread(number, count * ITEMSIZE, offset + first * ITEMSIZE)
        return np.frombuffer(data, np.float64)

    return get


def _pieces(get: Get, out: NDArray[np.float64], piece: int) -> int:
    for at in range(0, len(out), piece):
        out[at : at + piece] = get(STRIDE * at, piece)
    return len(out) // piece


def _contiguous(get: Get, out: NDArray[np.float64], piece: int) -> int:
    block = BLOCK_BYTES // ITEMSIZE
    for first in range(0, STRIDE * len(out), block):
        found = get(first, block).reshape(-1, STRIDE, piece)[:, 0]
        out[first // STRIDE : (first + block) // STRIDE] = found.ravel()
    return STRIDE * len(out) // block


def _threads(get: Get, out: NDArray[np.float64], piece: int) -> int:
    def one(places: range) -> None:
        for at in places:
            out[at : at + piece] = get(STRIDE * at, piece)

    places = range(0, len(out), piece)
    share = -(-len(places) // THREADS)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(one, [places[n * share : (n + 1) * share] for n in range(THREADS)]))
    return len(places)


LIBRARIES: Mapping[str, Callable[[Path, ExitStack], Get]] = {
    "netcdf4-python": _netcdf4,
    "h5py": _h5py,
    "pread": _pread,
}
MANNERS: Mapping[str, Callable[[Get, NDArray[np.float64], int], int]] = {
    "pieces": _pieces,
    "contiguous": _contiguous,
    "threads": _threads,
}
WAYS = (
    *product(("netcdf4-python", "h5py"), MANNERS),
    *product(("pread",), ("pieces", "threads")),
)
"""The libraries and manners that are measured."""
