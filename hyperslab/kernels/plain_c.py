"""A plain file, read and written by loops in C on the system's calls or on stdio."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperslab.kernels.kernel_build import kernel
from hyperslab.kernels.loops import Loop, Opened, integers, pointer, repeated


class PlainFile(Opened):
    """An open file, read with pread and written with pwrite; or read with fread, for `stdio`."""

    def __init__(self, path: Path, *, write: bool = False, stdio: bool = False) -> None:
        kernel()
        super().__init__(path)
        self._stream = ctypes.c_void_p()
        flags = os.O_RDWR | os.O_CREAT if write else os.O_RDONLY
        self._descriptor = os.open(path, flags, 0o666)
        if stdio:
            fdopen = ctypes.CDLL(None).fdopen
            fdopen.restype = ctypes.c_void_p
            self._stream = ctypes.c_void_p(fdopen(self._descriptor, b"rb"))

    def prepared(
        self,
        action: str,
        offsets: ArrayLike,
        lengths: ArrayLike,
        buffer: NDArray[Any],
        *,
        reuse: bool = False,
        each: NDArray[np.float64] | None = None,
    ) -> Callable[[], float]:
        """Return a checked loop over pieces of the file; `each` takes the seconds of every call."""
        self._check()
        first = np.ascontiguousarray(np.atleast_1d(integers("offsets", offsets)))
        size = repeated(first, "lengths", lengths)
        if (first < 0).any() or (size < 0).any():
            raise ValueError("offsets and lengths are bytes: give numbers from 0")
        need = int(size.max() if reuse else size.sum()) if size.size else 0
        if each is not None and (each.dtype != np.float64 or each.shape != first.shape):
            raise ValueError(f"each must be float64 of shape {first.shape}")
        loop = Loop(action, (first, size), buffer, need, int(reuse), pointer(each))
        call = partial(kernel().hs_plain, self._descriptor, self._stream, int(action == "write"))

        def failed() -> str:
            at = loop.failed.value
            return f"{self._path}: call {at}, {size[at]} bytes at {first[at]}"

        return partial(self._run, call, loop, failed)

    def sync(self) -> float:
        self._check()
        return self._timed(kernel().hs_fsync, self._descriptor)

    def _close(self) -> float:
        return self._timed(kernel().hs_close, self._descriptor, self._stream)

    def _words(self, status: int) -> str:
        return "the file ends before" if status < 0 else os.strerror(status)
