"""The accesses of one loop: where each starts, how many elements it takes, with which steps."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

ACTIONS = ("read", "write")
INT64 = np.dtype(np.int64)


@dataclass(frozen=True)
class Calls:
    """The accesses of one loop, as C-contiguous arrays of int64 (calls, axes).

    Made by `calls_of`.
    """

    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    strides: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def rank(self) -> int:
        """Number of axes."""
        return int(self.starts.shape[1])

    def elements(self, reuse: bool) -> int:
        """Give the elements a buffer must have: for all blocks, or for the largest."""
        if not len(self):
            return 0
        blocks = self.counts.prod(axis=1)
        return int(blocks.max() if reuse else blocks.sum())


def calls_of(
    shape: tuple[int, ...], starts: ArrayLike, counts: ArrayLike, strides: ArrayLike | None
) -> Calls:
    """Check the accesses of one loop against the shape of the variable.

    Parameters
    ----------
    shape
        Of the variable.
    starts, counts
        Integers of shape (calls, axes); what has fewer is repeated as numpy does it.
    strides
        The same, or None for accesses without steps.

    Raises
    ------
    IndexError
        If an access leaves the variable; one that takes nothing may start at its end.
    TypeError
        For what is not an integer.
    ValueError
        If the numbers of axes differ.

    Examples
    --------
    >>> rows = calls_of((3, 4), [[0, 0], [1, 0], [2, 0]], [1, 4], None)
    >>> len(rows), rows.elements(reuse=False), rows.elements(reuse=True)
    (3, 12, 4)
    """
    first = np.atleast_2d(integers("starts", starts))
    if first.shape[1:] != (len(shape),):
        raise ValueError(
            f"starts of shape {first.shape} for a variable of shape {shape}: "
            f"give (calls, {len(shape)})"
        )
    begin = np.ascontiguousarray(first)
    size = np.ascontiguousarray(np.broadcast_to(integers("counts", counts), begin.shape))
    step = None
    if strides is not None:
        step = np.ascontiguousarray(np.broadcast_to(integers("strides", strides), begin.shape))
    spans = np.where(size > 0, (size - 1) * (1 if step is None else step) + 1, 0)
    wrong = (begin < 0) | (size < 0) | (begin + spans > np.array(shape, INT64).reshape(1, -1))
    if step is not None:
        wrong |= step < 1
    if wrong.any():
        at = int(np.argmax(wrong.any(axis=1)))
        raise IndexError(
            f"call {at}: start {tuple(begin[at].tolist())}, count {tuple(size[at].tolist())}"
            + (f", stride {tuple(step[at].tolist())}" if step is not None else "")
            + f" leaves a variable of shape {shape}"
        )
    return Calls(begin, size, step)


def integers(name: str, given: ArrayLike) -> NDArray[np.int64]:
    """Return numbers as int64.

    Raises
    ------
    TypeError
        For numbers of another kind, which would be cut.

    Examples
    --------
    >>> integers("starts", [[0.7]])
    Traceback (most recent call last):
    ...
    TypeError: starts must be integers, not float64
    """
    found = np.asarray(given)
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, not {found.dtype}")
    return found.astype(INT64, copy=False)


def check_action(action: str) -> None:
    """Raise a ValueError unless an action is "read" or "write"."""
    if action not in ACTIONS:
        raise ValueError(f"action={action!r}: give one of {', '.join(ACTIONS)}")


def place(buffer: NDArray[Any], dtype: np.dtype[Any] | None, need_bytes: int, action: str) -> int:
    """Return the address of a buffer that fits the accesses.

    Raises
    ------
    ValueError
        If it is too small, of another type, not contiguous, or not to be written to.

    Examples
    --------
    >>> place(np.zeros(3, "i4"), np.dtype("i4"), 16, "read")
    Traceback (most recent call last):
    ...
    ValueError: the buffer has 12 bytes, the calls need 16
    """
    if dtype is not None and buffer.dtype != dtype:
        raise ValueError(f"the buffer is {buffer.dtype}, the variable {dtype}; give the same")
    if buffer.nbytes < need_bytes:
        raise ValueError(f"the buffer has {buffer.nbytes} bytes, the calls need {need_bytes}")
    if not buffer.flags.c_contiguous or (action == "read" and not buffer.flags.writeable):
        raise ValueError("the buffer must be C-contiguous, and writeable for a read")
    return buffer.ctypes.data


def pointer(array: NDArray[Any] | None) -> ctypes.c_void_p:
    """Return an array's address for the C kernel, or NULL."""
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


def clock(each: NDArray[np.float64] | None, calls: int) -> ctypes.c_void_p:
    """Return the address of the array that takes the seconds of each call, or NULL.

    Raises
    ------
    ValueError
        If it is not one float64 a call.
    """
    if each is not None and (each.dtype != np.float64 or each.shape != (calls,)):
        raise ValueError(f"each must be float64 of shape ({calls},), not {each.dtype} {each.shape}")
    return pointer(each)


class Loop:
    """What all loops of the kernel take last, and what they leave.

    Parameters
    ----------
    numbers
        C-contiguous int64, the first axis over the calls; None is NULL.
    where
        Address of the buffer.
    sizes
        What a loop takes after the buffer.
    reuse, each
        As in `NetcdfFile.access`.

    Attributes
    ----------
    arguments : tuple
        For the kernel, in its order.
    """

    def __init__(
        self,
        numbers: tuple[NDArray[np.int64] | None, ...],
        where: int,
        *sizes: ctypes.c_size_t,
        reuse: bool,
        each: NDArray[np.float64] | None,
    ) -> None:
        assert numbers[0] is not None
        self._numbers = numbers  # kept: the kernel has their addresses alone
        self._calls = len(numbers[0])
        self._seconds, self._failed = ctypes.c_double(), ctypes.c_int64()
        self.arguments = (
            ctypes.c_int64(self._calls), *map(pointer, numbers), ctypes.c_void_p(where), *sizes,
            int(reuse), clock(each, self._calls), ctypes.byref(self._seconds),
            ctypes.byref(self._failed),
        )  # fmt: skip

    def __len__(self) -> int:
        return self._calls

    @property
    def seconds(self) -> float:
        """Seconds of the loop, by the monotonic clock in C."""
        return self._seconds.value

    @property
    def failed(self) -> int:
        """Number of the call that failed, from 0; tells nothing where none did."""
        return self._failed.value
