"""What the kernel has open: closed at the end of a block, and never used after it."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperslab.kernels.calls import Loop, calls_of, check_action, place


class Opened(ABC):
    """A file that is open until `close`, which the end of its block calls."""

    def __init__(self, path: Path) -> None:
        self._path, self._open = path, True

    def close(self) -> float:
        """Close the file and return the seconds; closing again does nothing."""
        if not self._open:
            return 0.0
        self._open = False
        return self._close()

    @abstractmethod
    def _close(self) -> float:
        """Close the file and return the seconds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if not self._open:
            raise ValueError(f"{self._path}: the file is closed; open it again")


class OpenedArray(Opened):
    """One array of an open file.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
        Type of the stored values, in native byte order.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def _loop(
        self,
        action: str,
        starts: ArrayLike,
        counts: ArrayLike,
        strides: ArrayLike | None,
        buffer: NDArray[Any],
        reuse: bool,
        each: NDArray[np.float64] | None,
    ) -> Loop:
        """Check what `access` is given, and return its loop; the rank comes before it."""
        check_action(action)
        self._check_open()
        calls = calls_of(self.shape, starts, counts, strides)
        size = self.dtype.itemsize
        where = place(buffer, self.dtype, calls.elements(reuse) * size, action)
        arrays = (calls.starts, calls.counts, calls.strides)
        return Loop(arrays, where, ctypes.c_size_t(size), reuse=reuse, each=each)
