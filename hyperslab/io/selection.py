"""A selection made definite: which elements of an array of a shape, axis by axis."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from itertools import product
from types import EllipsisType
from typing import NamedTuple, TypeAlias

Index: TypeAlias = int | slice | EllipsisType
Selection: TypeAlias = Index | tuple[Index, ...]
Indices: TypeAlias = tuple[int | slice, ...]


class Region(NamedTuple):
    """What a selection takes of an array: made by `region`."""

    starts: tuple[int, ...]  # first element along each axis of the array
    counts: tuple[int, ...]  # number of elements; 1 for an axis indexed by an integer
    steps: tuple[int, ...]
    indices: Indices  # the selection in full: one non-negative int or slice for each axis
    shape: tuple[int, ...]  # of what is selected: without the axes indexed by integers
    size: int  # number of elements selected

    def runs(self, shape: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
        """Give the pieces that are evenly spaced in row-major order: first, number and step."""
        if not self.size:
            return
        # Axes from `inner` on make one run: all but the first of them are taken whole.
        inner, step = len(shape), 1
        while inner:
            axis = inner - 1
            if self.steps[axis] != 1 and self.counts[axis] > 1:
                if inner == len(shape):
                    inner, step = axis, self.steps[axis]
                break
            inner = axis
            if self.counts[axis] != shape[axis]:
                break
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        first = sum(map(operator.mul, self.starts, strides))
        length = math.prod(self.counts[inner:])
        outer = (
            range(0, count * step_ * stride, step_ * stride)
            for count, step_, stride in zip(
                self.counts[:inner], self.steps[:inner], strides[:inner], strict=True
            )
        )
        for offsets in product(*outer):
            yield first + sum(offsets), length, step


def region(selection: Selection, shape: tuple[int, ...], name: str = "array") -> Region:
    """Make a selection definite for an array of this shape.

    Parameters
    ----------
    selection
        Integers (they drop their axis), slices with positive steps, one Ellipsis.
    shape, name
        Of the array; the name is for the messages.

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
    >>> region((-1, slice(0, 10, 4)), (5, 9)).indices
    (4, slice(0, 9, 4))
    """
    items = selection if isinstance(selection, tuple) else (selection,)
    if len(items) != len(shape) or any(item is Ellipsis for item in items):
        items = _filled(items, shape, name)
    starts, counts, steps = [], [], []
    indices: list[int | slice] = []
    lengths = []
    size = 1
    # One plain loop: small reads are timed through here.
    for axis, (item, n) in enumerate(zip(items, shape, strict=True)):
        if isinstance(item, slice):
            if item.step is not None and operator.index(item.step) < 1:
                raise ValueError(
                    f"{name}: step {item.step} on axis {axis}; steps must be at least 1: "
                    "read forwards and reverse the result"
                )
            start, stop, step = item.indices(n)
            count = max((stop - start + step - 1) // step, 0)
            indices.append(slice(start, start + (count - 1) * step + 1 if count else start, step))
            lengths.append(count)
        else:
            start, count, step = _position(item, n, axis, name), 1, 1
            indices.append(start)
        starts.append(start)
        counts.append(count)
        steps.append(step)
        size *= count
    return Region(tuple(starts), tuple(counts), tuple(steps), tuple(indices), tuple(lengths), size)


def _filled(items: tuple[Index, ...], shape: tuple[int, ...], name: str) -> tuple[Index, ...]:
    """Put whole axes where the Ellipsis stands, or at the end."""
    ellipses = [position for position, item in enumerate(items) if item is Ellipsis]
    absent = len(shape) - len(items) + len(ellipses)
    if len(ellipses) > 1 or absent < 0:
        raise IndexError(
            f"{name}: selection {items!r} does not fit shape {shape}; give at most "
            f"{len(shape)} integers or slices and one Ellipsis"
        )
    position = ellipses[0] if ellipses else len(items)
    return (*items[:position], *(slice(None),) * absent, *items[position + 1 :])


def _position(item: object, size: int, axis: int, name: str) -> int:
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise TypeError(
            f"{name}: index {item!r} on axis {axis}; give an integer, a slice or Ellipsis"
        )
    index = operator.index(item)
    if not -size <= index < size:
        raise IndexError(
            f"{name}: index {index} is out of range for axis {axis} of size {size}; "
            + (f"give {-size} to {size - 1}" if size else "the axis is empty")
        )
    return index % size


def whole(shape: Sequence[int]) -> Indices:
    """Select everything."""
    return tuple(slice(0, n, 1) for n in shape)
