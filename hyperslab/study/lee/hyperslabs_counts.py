"""What one call of each way sets in motion: HDF5's descriptors, and functions of Python."""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...io.work import NAME
from ...kernels.hdf5_library import Id, got, prepare
from .hyperslabs import possible
from .hyperslabs_blocks import Blocks
from .hyperslabs_ways import WAYS

ON_NETCDFS_HDF5 = ("c", "hdf5-c", "python-plain")
IN_PYTHON = ("python", "python-plain", "h5py")
DESCRIPTORS = ("dataspaces", "property lists", "datatypes", "datasets")
FUNCTIONS = "functions"
_SHAPE, _FEW, _MORE = (10, 8), 2, 8
_NULL_SPACE = 2


class Descriptors:
    """Count what HDF5 opens: it numbers the identifiers of a kind one after another.

    Parameters
    ----------
    path : Path
        Of a file that holds the array.

    Examples
    --------
    >>> import tempfile
    >>> from hyperslab.kernels import Hdf5File
    >>> path = Path(tempfile.mkdtemp(), "a.h5")
    >>> Hdf5File.create(path, NAME, (2,), "i4").close() > 0
    True
    >>> count = Descriptors(path)
    >>> count(lambda: None)
    {'dataspaces': 0, 'property lists': 0, 'datatypes': 0, 'datasets': 0}
    >>> count.close()
    """

    def __init__(self, path: Path) -> None:
        prepare()
        self._file = got("H5Fopen", os.fsencode(path), ctypes.c_uint(0), Id(0), said=str(path))
        self._dataset = got("H5Dopen2", Id(self._file), NAME.encode(), Id(0))
        self._type = got("H5Dget_type", Id(self._dataset))
        self._list = got("H5Dget_create_plist", Id(self._dataset))

    def __call__(self, work: Callable[[], object]) -> dict[str, int]:
        """Do some work and return how many descriptors of each kind were opened meanwhile."""
        before = self._next()
        work()
        opened = self._next() - before - 1  # the counting opens one of each itself
        return dict(zip(DESCRIPTORS, opened.tolist(), strict=True))

    def close(self) -> None:
        """Close the file."""
        _closed("H5Tclose", self._type)
        _closed("H5Pclose", self._list)
        _closed("H5Dclose", self._dataset)
        _closed("H5Fclose", self._file)

    def _next(self) -> NDArray[np.int64]:
        return np.array(
            [
                _closed("H5Sclose", got("H5Screate", ctypes.c_int(_NULL_SPACE))),
                _closed("H5Pclose", got("H5Pcopy", Id(self._list))),
                _closed("H5Tclose", got("H5Tcopy", Id(self._type))),
                _closed("H5Dclose", got("H5Dopen2", Id(self._file), NAME.encode(), Id(0))),
            ]
        )


def functions_called(work: Callable[[], object]) -> int:
    """Do some work and return how many functions Python code called for it.

    What compiled code calls in turn is not seen.

    Examples
    --------
    >>> functions_called(lambda: len([abs(-1)]))
    3
    """
    seen = 0

    def see(_: object, event: str, __: object) -> None:
        nonlocal seen
        seen += event in ("call", "c_call")

    former = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(former)
    return seen - 1  # the call that ends the counting


def per_call(scratch: Path) -> Iterator[dict[str, object]]:
    """Yield what one call of each way opens in HDF5 and calls in Python, in ``stages``.

    Parameters
    ----------
    scratch : Path
        Where small files may be written.
    """
    path = scratch / "counted.nc"
    _write("python-plain", path)
    if possible("c"):
        count = Descriptors(path)
        for way in ON_NETCDFS_HDF5:
            for phase in ("read", "write"):
                few, many = (count(work) for work in _few_and_many(way, phase, path))
                for kind in DESCRIPTORS:
                    yield _row(way, phase, kind, many[kind] - few[kind])
        count.close()
    for way in IN_PYTHON:
        for phase in ("read", "write"):
            low, high = (functions_called(work) for work in _few_and_many(way, phase, path))
            yield _row(way, phase, FUNCTIONS, high - low)
    path.unlink()


def _few_and_many(way: str, phase: str, path: Path) -> Iterator[Callable[[], object]]:
    """Give the work of a few calls, then of more, so that what happens once falls out."""
    for rows in (_FEW, _FEW + _MORE):
        blocks = Blocks(_SHAPE, (1, _SHAPE[1]), most=rows)
        work: Callable[[], object]
        if phase == "read":
            file = WAYS[way].open(path)
            work = file.reading(blocks, keep=False)
        else:
            written = path.with_name("written.nc")
            file = WAYS[way].create(written, _SHAPE, None)
            work = file.writing(blocks, np.zeros(_SHAPE, "i4"))
        work()
        yield work
        file.close()
        path.with_name("written.nc").unlink(missing_ok=True)


def _write(way: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = WAYS[way].create(path, _SHAPE, None)
    file.writing(Blocks(_SHAPE, _SHAPE), np.zeros(_SHAPE, "i4"))()
    file.close()


def _row(way: str, phase: str, kind: str, number: int) -> dict[str, object]:
    return {
        "case": way,
        "phase": phase,
        "pattern": kind,
        "library": WAYS[way].library,
        "stages": number / _MORE,
    }


def _closed(name: str, identifier: int) -> int:
    got(name, Id(identifier), kind=ctypes.c_int)
    return identifier
