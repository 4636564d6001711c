"""The access patterns of the documents, by name, as numpy selections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

Indices: TypeAlias = tuple[int | slice, ...]


def whole(shape: Sequence[int]) -> Indices:
    """Select everything.

    Examples
    --------
    >>> whole((3, 4))
    (slice(0, 3, 1), slice(0, 4, 1))
    """
    return tuple(slice(0, n, 1) for n in shape)


def row(shape: Sequence[int], i: int) -> Indices:
    """Select index `i` of the first axis, all of the others.

    Examples
    --------
    >>> row((3, 4), 2)
    (2, slice(0, 4, 1))
    """
    _rank("row", shape, 2)
    return (_inside("row", shape, 0, i), *whole(shape)[1:])


def column(shape: Sequence[int], j: int) -> Indices:
    """Select index `j` of the last axis, all of the others.

    Examples
    --------
    >>> column((3, 4), 1)
    (slice(0, 3, 1), 1)
    """
    _rank("column", shape, 2)
    return (*whole(shape)[:-1], _inside("column", shape, len(shape) - 1, j))


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
    >>> series((72, 380, 1287), (280, 506))
    (slice(0, 72, 1), 280, 506)
    >>> series((13, 13, 721, 1440), (280, 506))
    (slice(0, 13, 1), 0, 280, 506)
    """
    _rank("series", shape, 2)
    levels = len(shape) - 1 - len(point)
    if levels < 0:
        raise ValueError(f"series: point {tuple(point)} has more axes than {tuple(shape)[1:]}")
    full = (*(0,) * levels, *point)
    return (
        slice(0, shape[0], 1),
        *(_inside("series", shape, axis, i) for axis, i in enumerate(full, start=1)),
    )


def frame(shape: Sequence[int], index: int | Sequence[int] = 0) -> Indices:
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
    _rank("frame", shape, 2)
    leading = len(shape) - 2
    given = (index,) if isinstance(index, int | np.integer) else tuple(index)
    if leading == 0 and given in ((), (0,)):
        return whole(shape)
    if len(given) > leading:
        raise ValueError(f"frame: index {given} has more axes than {tuple(shape)[:leading]}")
    full = (*given, *(0,) * (leading - len(given)))
    picked = (_inside("frame", shape, axis, i) for axis, i in enumerate(full))
    return (*picked, *whole(shape)[leading:])


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
    _rank("profile", shape, axis + 1)
    if len(index) != len(shape) - 1:
        raise ValueError(
            f"profile: index {tuple(index)} for shape {tuple(shape)}; "
            f"give {len(shape) - 1} indices, one for each axis but {axis}"
        )
    others = [n for n in range(len(shape)) if n != axis]
    picked: list[int | slice] = [slice(0, n, 1) for n in shape]
    for other, i in zip(others, index, strict=True):
        picked[other] = _inside("profile", shape, other, i)
    return tuple(picked)


def box(shape: Sequence[int], corner: Sequence[int], lengths: Sequence[int]) -> Indices:
    """Select a block by its first corner and its lengths; it must lie inside the array.

    Examples
    --------
    >>> box((10, 10), (2, 3), (4, 5))
    (slice(2, 6, 1), slice(3, 8, 1))
    """
    if not len(shape) == len(corner) == len(lengths):
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


def random_points(shape: Sequence[int], n: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Draw `n` points of the array, uniformly, the same ones for the same seed.

    Examples
    --------
    >>> points = random_points((10, 20), 3, seed=1)
    >>> len(points), points == random_points((10, 20), 3, seed=1)
    (3, True)
    """
    if min(shape, default=1) < 1:
        raise ValueError(f"random_points: an array of shape {tuple(shape)} has no points")
    drawn = np.random.default_rng(seed).integers(0, shape, size=(n, len(shape)))
    return tuple(tuple(int(i) for i in point) for point in drawn)


def _rank(pattern: str, shape: Sequence[int], least: int) -> None:
    if len(shape) < least:
        raise ValueError(
            f"{pattern}: shape {tuple(shape)} has {len(shape)} axes; it needs at least {least}"
        )


def _inside(pattern: str, shape: Sequence[int], axis: int, index: int) -> int:
    if not -shape[axis] <= index < shape[axis]:
        raise IndexError(
            f"{pattern}: index {index} is out of range for axis {axis} of size {shape[axis]}"
        )
    return int(index) % shape[axis]
