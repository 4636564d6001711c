"""How many objects of HDF5 some work opens."""

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hyperslab.kernels.hdf5_c import Id, got, native, prepare
from hyperslab.kernels.library import variable

OBJECTS = ("dataspaces", "property lists", "datatypes", "datasets")


class Objects:
    """Count what HDF5 opens: it numbers the identifiers of a kind one after another."""

    def __init__(self, path: Path, name: str) -> None:
        prepare()
        self._name = name.encode()
        self._file = got("H5Fopen", os.fsencode(path), ctypes.c_uint(0), Id(0), said=str(path))
        self._dataset = got("H5Dopen2", Id(self._file), self._name, Id(0))

    def __call__(self, work: Callable[[], object]) -> dict[str, int]:
        """Do some work and return how many objects of each kind were opened meanwhile."""
        before = self._next()
        work()
        opened = self._next() - before - 1  # the counting opens one of each itself
        return dict(zip(OBJECTS, opened.tolist(), strict=True))

    def close(self) -> None:
        _closed("H5Dclose", self._dataset)
        _closed("H5Fclose", self._file)

    def _next(self) -> NDArray[np.int64]:
        null, kind = ctypes.c_int(2), native(np.dtype("i4"))
        opened = {
            "S": got("H5Screate", null),
            "P": got("H5Pcreate", Id(variable("H5P_CLS_DATASET_XFER_ID_g"))),
            "T": got("H5Tcopy", Id(kind)),
            "D": got("H5Dopen2", Id(self._file), self._name, Id(0)),
        }
        return np.array([_closed(f"H5{kind}close", one) for kind, one in opened.items()])


def _closed(name: str, identifier: int) -> int:
    got(name, Id(identifier), kind=ctypes.c_int)
    return identifier
