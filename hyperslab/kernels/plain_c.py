"""A plain file, read and written by loops in C on the system's calls or on stdio."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperslab.kernels.build import kernel
from hyperslab.kernels.library import LibraryError
from hyperslab.kernels.loops import Loop, Opened, integers, pointer, repeated, timed


class PlainFile(Opened):
    """An open file, read with pread and written with pwrite; or read with fread, for `stdio`.

    For `write` it is made when missing, and never cut. What cannot be opened is an OSError.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "a.bin")
    >>> with PlainFile(path, write=True) as file:
    ...     seconds = file.access("write", [0, 3], [3, 3], np.frombuffer(b"abcdef", "u1"))
    >>> out = np.empty(2, "u1")
    >>> with PlainFile(path, stdio=True) as file:
    ...     seconds = file.access("read", [1, 4], 1, out)
    >>> out.tobytes()
    b'be'
    """

    def __init__(self, path: str | Path, *, write: bool = False, stdio: bool = False) -> None:
        loaded = kernel()
        super().__init__(Path(path))
        self._stream = None
        flags = os.O_RDWR | os.O_CREAT if write else os.O_RDONLY
        self._descriptor = os.open(path, flags, 0o666)
        if stdio:
            failed = ctypes.c_int()
            loaded.hs_stream.restype = ctypes.c_void_p
            self._stream = loaded.hs_stream(self._descriptor, ctypes.byref(failed))
            if self._stream is None:
                os.close(self._descriptor)
                raise OSError(failed.value, os.strerror(failed.value), str(path))

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
        """Return a loop over pieces of the file, checked, to be run when it is called.

        Parameters
        ----------
        action
            "read" or "write".
        offsets, lengths
            In bytes, one for each piece; a single length stands for all.
        buffer
            C-contiguous; it holds the pieces one after another.
        reuse
            Every piece lies at the buffer's start instead.
        each
            Takes the seconds of every call: float64 of shape (calls,).

        Raises
        ------
        TypeError, ValueError
            For what is no integer, negative numbers, or a buffer that does not fit.
        """
        self._check(action)
        first = np.ascontiguousarray(np.atleast_1d(integers("offsets", offsets)))
        size = repeated(first, "lengths", lengths)
        if (first < 0).any() or (size < 0).any():
            raise ValueError("offsets and lengths are bytes: give numbers from 0")
        if self._stream is not None and action == "write":
            raise ValueError("a file opened with stdio=True reads only")
        need = int(size.max() if reuse else size.sum()) if size.size else 0
        if each is not None and (each.dtype != np.float64 or each.shape != first.shape):
            raise ValueError(f"each must be float64 of shape {first.shape}")
        loop = Loop(action, (first, size), buffer, need, int(reuse), pointer(each))
        writes, hs = int(action == "write"), kernel()

        def run() -> float:
            self._check()
            if self._stream is None:
                status = hs.hs_posix(self._descriptor, writes, *loop.arguments)
            else:
                status = hs.hs_fread(ctypes.c_void_p(self._stream), *loop.arguments)
            if status:
                at = loop.failed
                why = "the file ends before" if status < 0 else os.strerror(status)
                what = f"call {at}, {size[at]} bytes at {first[at]}"
                raise LibraryError(f"{self._path}: {what}: {why}")
            return loop.seconds

        return run

    def sync(self) -> float:
        """Flush the file to the device and return the seconds."""
        self._check()
        return self._done(kernel().hs_fsync)

    def _close(self) -> float:
        return self._done(kernel().hs_close, ctypes.c_void_p(self._stream))

    def _done(self, call: Callable[..., int], *arguments: Any) -> float:
        status, seconds = timed(call, self._descriptor, *arguments)
        if status:
            raise LibraryError(f"{self._path}: {os.strerror(status)}")
        return seconds
