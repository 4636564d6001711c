"""A plain file, read and written by loops in C on the system's calls or on stdio."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperslab.kernels.build import kernel
from hyperslab.kernels.calls import check_action, clock, integers, place, pointer
from hyperslab.kernels.library import LibraryError


class PlainFile:
    """An open file, read with pread (or with fread) and written with pwrite.

    Parameters
    ----------
    path
    write
        Whether it may be written; it is made when missing, and never cut.
    stdio
        Read through a buffered stream of the C library, fdopen and fread.

    Raises
    ------
    OSError
        If the file cannot be opened, or no stream can be made on it.

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
        if write and stdio:
            raise ValueError("stdio=True reads only; leave it out to write")
        loaded = kernel()
        self._path, self._open, self._stream = Path(path), True, None
        flags = os.O_RDWR | os.O_CREAT if write else os.O_RDONLY
        self._descriptor = os.open(path, flags, 0o666)
        if stdio:
            failed = ctypes.c_int()
            loaded.hs_stream.restype = ctypes.c_void_p
            self._stream = loaded.hs_stream(self._descriptor, ctypes.byref(failed))
            if self._stream is None:
                os.close(self._descriptor)
                raise OSError(failed.value, os.strerror(failed.value), str(path))

    def access(
        self,
        action: str,
        offsets: ArrayLike,
        lengths: ArrayLike,
        buffer: NDArray[Any],
        *,
        reuse: bool = False,
        each: NDArray[np.float64] | None = None,
    ) -> float:
        """Read or write pieces of the file, one after another, in a loop in C.

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

        Returns
        -------
        float
            Seconds of the loop, by the monotonic clock in C.

        Raises
        ------
        LibraryError
            If a call fails, or the file ends before a piece does.
        TypeError, ValueError
            For what is no integer, negative numbers, or a buffer that does not fit.
        """
        check_action(action)
        if not self._open:
            raise ValueError(f"{self._path}: the file is closed; open it again")
        first = np.ascontiguousarray(np.atleast_1d(integers("offsets", offsets)))
        size = np.ascontiguousarray(np.broadcast_to(integers("lengths", lengths), first.shape))
        if (first < 0).any() or (size < 0).any():
            raise ValueError("offsets and lengths are bytes: give numbers from 0")
        need = int(size.max() if reuse else size.sum()) if size.size else 0
        where = ctypes.c_void_p(place(buffer, None, need, action))
        seconds, failed = ctypes.c_double(), ctypes.c_int64()
        tail = (
            ctypes.c_int64(len(first)), pointer(first), pointer(size), where, int(reuse),
            clock(each, len(first)), ctypes.byref(seconds), ctypes.byref(failed),
        )  # fmt: skip
        if self._stream is None:
            status = kernel().hs_posix(self._descriptor, int(action == "write"), *tail)
        elif action == "write":
            raise ValueError("a file opened with stdio=True reads only")
        else:
            status = kernel().hs_fread(ctypes.c_void_p(self._stream), *tail)
        if status:
            at = failed.value
            why = "the file ends before" if status < 0 else os.strerror(status)
            raise LibraryError(f"{self._path}: call {at}, {size[at]} bytes at {first[at]}: {why}")
        return seconds.value

    def sync(self) -> float:
        """Flush the file to the device and return the seconds."""
        seconds = ctypes.c_double()
        if status := kernel().hs_fsync(self._descriptor, ctypes.byref(seconds)):
            raise LibraryError(os.strerror(status))
        return seconds.value

    def close(self) -> None:
        """Close the file; closing again does nothing."""
        if not self._open:
            return
        self._open = False
        if self._stream is None:
            os.close(self._descriptor)
        else:
            kernel().hs_stream_close(ctypes.c_void_p(self._stream))

    def __enter__(self) -> PlainFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
