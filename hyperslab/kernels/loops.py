"""The accesses of one loop, checked before it runs, and what the kernel holds open for them."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperslab.kernels.library import LibraryError

Integers = NDArray[np.int64]


def calls_of(
    shape: tuple[int, ...], starts: ArrayLike, counts: ArrayLike, strides: ArrayLike | None
) -> tuple[Integers, Integers, Integers | None]:
    """Return starts, counts and strides as int64 of shape (calls, axes), checked."""
    first = np.ascontiguousarray(np.atleast_2d(integers("starts", starts)))
    if first.shape[1:] != (len(shape),):
        raise ValueError(f"starts of shape {first.shape}: give (calls, {len(shape)})")
    size = repeated(first, "counts", counts)
    step = None if strides is None else repeated(first, "strides", strides)
    wide = np.ones(1, np.int64) if step is None else step
    spans = np.where(size > 0, (size - 1) * wide + 1, 0)
    wrong = (first < 0) | (size < 0) | (wide < 1) | (first + spans > np.array(shape, np.int64))
    if wrong.any():
        at = int(np.argmax(wrong.any(axis=1)))
        calls = {"start": first, "count": size, "stride": step}
        words = [f"{name} {tuple(of[at].tolist())}" for name, of in calls.items() if of is not None]
        raise IndexError(f"call {at}: {', '.join(words)} leaves a variable of shape {shape}")
    return first, size, step


def integers(name: str, numbers: ArrayLike) -> Integers:
    """Return numbers as int64; those of another kind, which would be cut, are refused."""
    array = np.asarray(numbers)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, not {array.dtype}")
    return array.astype(np.int64, copy=False)


def repeated(first: Integers, name: str, numbers: ArrayLike) -> Integers:
    return np.ascontiguousarray(np.broadcast_to(integers(name, numbers), first.shape))


def pointer(array: NDArray[Any] | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


class Loop:
    """What all loops of the kernel take last, as `arguments` in its order, and what they leave."""

    def __init__(
        self, action: str, numbers: tuple[Integers | None, ...], buffer: NDArray[Any],
        need_bytes: int, *details: Any,
    ) -> None:  # fmt: skip
        if buffer.nbytes < need_bytes:
            raise ValueError(f"the buffer has {buffer.nbytes} bytes, the calls need {need_bytes}")
        if not buffer.flags.c_contiguous or (action == "read" and not buffer.flags.writeable):
            raise ValueError("the buffer must be C-contiguous, and writeable for a read")
        assert numbers[0] is not None
        self._kept_alive = numbers, buffer  # the kernel has their addresses alone
        self.seconds, self.failed = ctypes.c_double(), ctypes.c_int64()
        self.arguments = (
            ctypes.c_int64(len(numbers[0])), *map(pointer, numbers), pointer(buffer), *details,
            ctypes.byref(self.seconds), ctypes.byref(self.failed),
        )  # fmt: skip


class Opened(ABC):
    """A file that is open until `close`, which the end of its block calls."""

    def __init__(self, path: Path) -> None:
        self._path, self._open = path, True

    def access(self, *where: Any, **how: Any) -> float:
        """Run what `prepared` returns, and return its seconds; LibraryError says what failed."""
        return self.prepared(*where, **how)()

    @abstractmethod
    def prepared(self, *where: Any, **how: Any) -> Callable[[], float]: ...

    def close(self) -> float:
        """Close the file and return the seconds; closing again does nothing."""
        if not self._open:
            return 0.0
        self._open = False
        return self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _close(self) -> float: ...

    @abstractmethod
    def _words(self, status: int) -> str: ...

    def _check(self) -> None:
        if not self._open:
            raise ValueError(f"{self._path}: the file is closed; open it again")

    def _run(self, call: Callable[..., int], loop: Loop, failed: Callable[[], str]) -> float:
        self._check()
        if status := call(*loop.arguments):
            raise LibraryError(f"{failed()}: {self._words(status)}")
        return loop.seconds.value

    def _timed(self, call: Callable[..., int], *arguments: Any) -> float:
        """Call a function of the kernel that gives its seconds last."""
        seconds = ctypes.c_double()
        if status := call(*arguments, ctypes.byref(seconds)):
            raise LibraryError(f"{self._path}: {self._words(status)}")
        return seconds.value


class OpenedArray(Opened):
    """One array of an open file, its type in native byte order."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def prepared(
        self,
        action: str,
        starts: ArrayLike,
        counts: ArrayLike,
        strides: ArrayLike | None,
        buffer: NDArray[Any],
        *,
        reuse: bool = False,
        **how: bool,
    ) -> Callable[[], float]:
        """Return a checked loop; its blocks lie in a row in the buffer, or all at its start."""
        self._check()
        if self.dtype.hasobject:
            raise ValueError(f"{self._path}: the variable holds no numbers, which loops read alone")
        if buffer.dtype != self.dtype:
            raise ValueError(f"the buffer is {buffer.dtype}, the variable {self.dtype}")
        calls = calls_of(self.shape, starts, counts, strides)
        blocks, size = calls[1].prod(axis=1), self.dtype.itemsize
        elements = int(blocks.max() if reuse else blocks.sum()) if len(blocks) else 0
        loop = Loop(action, calls, buffer, elements * size, ctypes.c_size_t(size), int(reuse))
        name, call = self._call(action, strides is not None, **how)
        return partial(self._run, call, loop, lambda: f"{name}, call {loop.failed.value}")

    @abstractmethod
    def _call(self, action: str, strided: bool) -> tuple[str, Callable[..., int]]:
        """Return the name of the library's function, and the kernel's loop over it."""
