"""Selections: made definite for an array of a shape, and the access patterns of the documents."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from itertools import product
from types import EllipsisType
from typing import NamedTuple, TypeAlias

import numpy as np

Index: TypeAlias = int | slice | EllipsisType
Selection: TypeAlias = Index | tuple[Index, ...]
Indices: TypeAlias = tuple[int | slice, ...]


class Region(NamedTuple):
    """What a selection takes of an array: made by `region`.

    Parameters
    ----------
    starts, counts, steps
        First element, number of elements and step along each axis of the array; an axis indexed
        by an integer has count 1.
    indices
        The selection in full: one non-negative int or slice for each axis.
    shape
        Shape of what is selected, as numpy gives it: without the axes indexed by integers.
    size
        Number of elements selected.
    """

    starts: tuple[int, ...]
    counts: tuple[int, ...]
    steps: tuple[int, ...]
    indices: tuple[int | slice, ...]
    shape: tuple[int, ...]
    size: int

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
    >>> region((-1, slice(0, 10, 4)), (5, 9)).indices
    (4, slice(0, 9, 4))
    >>> region((7,), (5, 9), "sst")
    Traceback (most recent call last):
    ...
    IndexError: sst: index 7 is out of range for axis 0 of size 5; give -5 to 4
    """
    given = selection if isinstance(selection, tuple) else (selection,)
    if len(given) != len(shape) or any(item is Ellipsis for item in given):
        given = _filled(given, shape, name)
    starts, counts, steps = [], [], []
    indices: list[int | slice] = []
    kept = []
    size = 1
    # One plain loop: small reads are timed through here.
    for axis, (item, n) in enumerate(zip(given, shape, strict=True)):
        if isinstance(item, slice):
            if item.step is not None and operator.index(item.step) < 1:
                raise ValueError(
                    f"{name}: step {item.step} on axis {axis}; steps must be at least 1: "
                    "read forwards and reverse the result"
                )
            start, stop, step = item.indices(n)
            count = max((stop - start + step - 1) // step, 0)
            indices.append(slice(start, start + (count - 1) * step + 1 if count else start, step))
            kept.append(count)
        else:
            start, count, step = _position(item, n, axis, name), 1, 1
            indices.append(start)
        starts.append(start)
        counts.append(count)
        steps.append(step)
        size *= count
    return Region(tuple(starts), tuple(counts), tuple(steps), tuple(indices), tuple(kept), size)


def _filled(given: tuple[Index, ...], shape: tuple[int, ...], name: str) -> tuple[Index, ...]:
    """Put whole axes where the Ellipsis stands, or at the end."""
    ellipses = [place for place, item in enumerate(given) if item is Ellipsis]
    absent = len(shape) - len(given) + len(ellipses)
    if len(ellipses) > 1 or absent < 0:
        raise IndexError(
            f"{name}: selection {given!r} does not fit shape {shape}; give at most "
            f"{len(shape)} integers or slices and one Ellipsis"
        )
    place = ellipses[0] if ellipses else len(given)
    return (*given[:place], *(slice(None),) * absent, *given[place + 1 :])


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
    """Select everything.

    Examples
    --------
    >>> whole((3, 4))
    (slice(0, 3, 1), slice(0, 4, 1))
    """
    return tuple(slice(0, n, 1) for n in shape)


def series(shape: Sequence[int], point: Sequence[int]) -> Indices:
    """Select all of the first axis (time) at one point.

    Parameters
    ----------
    shape
        Shape of the array, time first.
    point
        Index of the last axes; axes between time and these take index 0, the first level.

    Examples
    --------
    >>> series((13, 13, 721, 1440), (280, 506))
    (slice(0, 13, 1), 0, 280, 506)
    """
    if not 0 <= len(shape) - 1 - len(point) < len(shape) - 1:
        raise ValueError(f"series: point {tuple(point)} for shape {tuple(shape)}; time comes first")
    return _checked("series", shape, (slice(None), *_padded(len(shape) - 1, (), point)))


def frame(shape: Sequence[int], index: int | Sequence[int] = ()) -> Indices:
    """Select all of the last two axes (a map) at one index of the others.

    Parameters
    ----------
    shape
        Shape of the array, the map's axes last.
    index
        Index of the leading axes; those not given take index 0, the first level.

    Examples
    --------
    >>> frame((13, 13, 721, 1440), 3)
    (3, 0, slice(0, 721, 1), slice(0, 1440, 1))
    """
    given = (index,) if isinstance(index, int | np.integer) else tuple(index)
    if len(shape) < 2 or len(given) > len(shape) - 2:
        raise ValueError(f"frame: index {given} for shape {tuple(shape)}; a map has two axes")
    return _checked("frame", shape, (*_padded(len(shape) - 2, given, ()), ...))


def profile(shape: Sequence[int], index: Sequence[int], axis: int = 1) -> Indices:
    """Select all of one axis (the levels) at one index of all the others.

    Parameters
    ----------
    shape
        Shape of the array.
    index
        One index for each of the other axes, in order.
    axis
        The axis taken whole.

    Examples
    --------
    >>> profile((13, 37, 721, 1440), (0, 280, 506))
    (0, slice(0, 37, 1), 280, 506)
    """
    if len(index) != len(shape) - 1 or axis >= len(shape):
        raise ValueError(
            f"profile: index {tuple(index)} for shape {tuple(shape)}; "
            f"give {len(shape) - 1} indices, one for each axis but {axis}"
        )
    return _checked("profile", shape, (*index[:axis], slice(None), *index[axis:]))


def box(shape: Sequence[int], corner: Sequence[int], lengths: Sequence[int]) -> Indices:
    """Select a block of elements.

    Parameters
    ----------
    shape
        Shape of the array.
    corner
        First element of each axis.
    lengths
        Number of elements along each axis.

    Examples
    --------
    >>> box((100, 100), (20, 30), (10, 10))
    (slice(20, 30, 1), slice(30, 40, 1))
    """
    if not len(corner) == len(lengths) == len(shape):
        raise ValueError(
            f"box: corner {tuple(corner)} and lengths {tuple(lengths)} for shape {tuple(shape)}; "
            "give one of each for every axis"
        )
    for axis, (n, first, length) in enumerate(zip(shape, corner, lengths, strict=True)):
        if first < 0 or length < 0 or first + length > n:
            raise ValueError(
                f"box: {first} to {first + length} on axis {axis} of size {n} lies outside"
            )
    return tuple(slice(i, i + n, 1) for i, n in zip(corner, lengths, strict=True))


def strided(shape: Sequence[int], steps: int | Sequence[int]) -> Indices:
    """Select every n-th element along each axis.

    Parameters
    ----------
    shape
        Shape of the array.
    steps
        A step for all axes, or one for each, at least 1.

    Examples
    --------
    >>> strided((100, 100), 10)
    (slice(0, 100, 10), slice(0, 100, 10))
    """
    each = (steps,) * len(shape) if isinstance(steps, int | np.integer) else tuple(steps)
    if len(each) != len(shape) or min(each, default=1) < 1:
        raise ValueError(
            f"strided: steps {steps!r} for shape {tuple(shape)}; give one for each axis, at least 1"
        )
    return tuple(slice(0, n, int(step)) for n, step in zip(shape, each, strict=True))


def _padded(axes: int, before: Sequence[int], after: Sequence[int]) -> Indices:
    """Return indices of so many axes, 0 between those that are given."""
    return (*before, *(0,) * (axes - len(before) - len(after)), *after)


def _checked(pattern: str, shape: Sequence[int], selection: Selection) -> Indices:
    """Return a pattern's selection in full: whole axes from 0 to their end."""
    found = region(selection, tuple(shape), pattern).indices
    return tuple(
        slice(0, n, 1) if isinstance(i, slice) else i for i, n in zip(found, shape, strict=True)
    )
