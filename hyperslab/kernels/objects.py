"""How many objects of HDF5 some work opens."""

import ctypes
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hyperslab.kernels.hdf5_c import Hdf5File, Id, got
from hyperslab.kernels.library import variable

OBJECTS = ("dataspaces", "property lists", "datatypes", "datasets")


class Objects(Hdf5File):
    """Count what HDF5 opens: it numbers the identifiers of a kind one after another."""

    def __call__(self, work: Callable[[], object]) -> dict[str, int]:
        before = self._next()
        work()
        opened = self._next() - before - 1  # the counting opens one of each itself
        return dict(zip(OBJECTS, opened.tolist(), strict=True))

    def _next(self) -> NDArray[np.int64]:
        opened = {
            "S": got("H5Screate", ctypes.c_int(2)),  # of no values
            "P": got("H5Pcreate", Id(variable("H5P_CLS_DATASET_XFER_ID_g"))),
            "T": got("H5Tcopy", Id(self._type)),
            "D": got("H5Dopen2", self._dataset, b".", Id(0)),
        }
        for kind, identifier in opened.items():
            got(f"H5{kind}close", Id(identifier), kind=ctypes.c_int)
        return np.array([*opened.values()])
