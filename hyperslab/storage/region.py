"""A selection made definite: which elements of an array of a given shape, axis by axis."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from types import EllipsisType
from typing import TypeAlias

Index: TypeAlias = int | slice | EllipsisType
Selection: TypeAlias = Index | tuple[Index, ...]


@dataclass(frozen=True)
class Region:
    """First element, count and step along each axis, and which axes the result drops.

    Parameters
    ----------
    starts, counts, steps
        One integer for each axis of the array; an axis indexed by an integer has count 1.
    dropped
        True for each axis indexed by an integer.
    """

    starts: tuple[int, ...]
    counts: tuple[int, ...]
    steps: tuple[int, ...]
    dropped: tuple[bool, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of what is selected, as numpy gives it."""
        return tuple(n for n, drop in zip(self.counts, self.dropped, strict=True) if not drop)

    @property
    def size(self) -> int:
        """Number of elements selected."""
        return math.prod(self.counts)

    @property
    def index(self) -> tuple[int | slice, ...]:
        """The selection in full: one non-negative int or slice for each axis."""
        return tuple(
            start
            if drop
            else slice(start, start + (count - 1) * step + 1 if count else start, step)
            for start, count, step, drop in zip(
                self.starts, self.counts, self.steps, self.dropped, strict=True
            )
        )

    def runs(self, shape: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
        """Give the pieces that are contiguous in row-major order, in order.

        Parameters
        ----------
        shape
            Shape of the array the region was made for.

        Yields
        ------
        tuple of int
            First element, number of elements, and the step between them (1: contiguous).
        """
        if self.size == 0:
            return
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        # Axes from `inner` on make one run: all but the first of them are taken whole.
        inner = len(shape)
        step = 1
        while inner:
            axis = inner - 1
            if self.steps[axis] != 1 and self.counts[axis] > 1:
                if inner == len(shape):
                    step = self.steps[axis]
                    inner = axis
                break
            inner = axis
            if self.counts[axis] != shape[axis]:
                break
        length = math.prod(self.counts[inner:])
        base = sum(
            start * stride
            for start, stride in zip(self.starts[inner:], strides[inner:], strict=True)
        )
        outer = (
            range(start * stride, (start + count * step_) * stride, step_ * stride)
            for start, count, step_, stride in zip(
                self.starts[:inner],
                self.counts[:inner],
                self.steps[:inner],
                strides[:inner],
                strict=True,
            )
        )
        for offsets in product(*outer):
            yield base + sum(offsets), length, step


def region(selection: Selection, shape: tuple[int, ...], name: str = "array") -> Region:
    """Make a selection definite for an array of this shape.

    Parameters
    ----------
    selection
        What numpy takes as basic indices, but for new axes: integers (they drop their axis),
        slices with positive steps, one Ellipsis.
    shape
        Shape of the array.
    name
        Its name, for the messages.

    Raises
    ------
    IndexError
        If an integer is out of range, or there are more indices than axes.
    TypeError
        If an index is of another kind.
    ValueError
        If a slice has a step below one.

    Examples
    --------
    >>> region((-1, slice(0, 10, 4)), (5, 9)).index
    (4, slice(0, 9, 4))
    >>> region((7,), (5, 9), "sst")
    Traceback (most recent call last):
    ...
    IndexError: sst: index 7 is out of range for axis 0 of size 5; give -5 to 4
    """
    given = selection if isinstance(selection, tuple) else (selection,)
    ellipses = sum(item is Ellipsis for item in given)
    if ellipses > 1 or len(given) - ellipses > len(shape):
        raise IndexError(
            f"{name}: selection {selection!r} does not fit shape {shape}; give at most "
            f"{len(shape)} integers or slices and one Ellipsis"
        )
    split = next((i for i, item in enumerate(given) if item is Ellipsis), len(given))
    whole = (slice(None),) * (len(shape) - len(given) + ellipses)
    full = (*given[:split], *whole, *given[split + 1 :])
    axes = [
        _axis(item, n, axis, name) for axis, (item, n) in enumerate(zip(full, shape, strict=True))
    ]
    return (
        Region(*(tuple(column) for column in zip(*axes, strict=True)))
        if axes
        else Region((), (), (), ())
    )


def _axis(item: object, size: int, axis: int, name: str) -> tuple[int, int, int, bool]:
    if isinstance(item, slice):
        if item.step is not None and operator.index(item.step) < 1:
            raise ValueError(
                f"{name}: step {item.step} on axis {axis}; steps must be at least 1: "
                "read forwards and reverse the result"
            )
        start, stop, step = item.indices(size)
        return start, len(range(start, stop, step)), step, False
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise TypeError(
            f"{name}: index {item!r} on axis {axis}; give an integer, a slice or Ellipsis"
        )
    index = operator.index(item)
    if not -size <= index < size:
        raise IndexError(
            f"{name}: index {index} is out of range for axis {axis} of size {size}"
            + (f"; give {-size} to {size - 1}" if size else "; the axis is empty")
        )
    return index % size, 1, 1, True
