"""What a numpy-like selection asks of each axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Key = int | slice | EllipsisType | None | Sequence[int] | NDArray[Any]


@dataclass(frozen=True)
class Axis:
    indices: range | NDArray[np.int64]  # ascending, each once
    order: slice | NDArray[np.int64] | None = None  # what brings them into the order asked for
    drop: bool = False  # whether the axis disappears, as with a whole number


@dataclass(frozen=True)
class Selection:
    """A selection, axis by axis, and where new axes of length one come in."""

    axes: tuple[Axis, ...]
    new: tuple[int, ...] = ()  # places of new axes in the result
    boxed: bool = False  # whether all of a scalar comes as an array: an ellipsis asked for it

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.indices) for axis in self.axes)

    def arrange(self, values: NDArray[Any]) -> NDArray[Any]:
        for position, axis in enumerate(self.axes):
            if axis.order is not None:
                values = values[(slice(None),) * position + (axis.order,)]
        # The ellipsis keeps an array, also where every axis is dropped.
        values = values[(*(0 if axis.drop else slice(None) for axis in self.axes), ...)]
        for position in self.new:
            values = np.expand_dims(values, position)
        if values.ndim:
            return np.ascontiguousarray(values)
        return values if self.boxed else values[()]


def wanted(key: Key | tuple[Key, ...], shape: tuple[int, ...]) -> Selection:
    """Return what a selection asks of each axis; several lists select their product, as in h5py."""
    keys = list(key) if isinstance(key, tuple) else [key]
    dots = [position for position, item in enumerate(keys) if item is Ellipsis]
    named = len(keys) - len(dots) - sum(item is None for item in keys)
    if len(dots) > 1:
        raise IndexError("a selection can hold one ellipsis only")
    if named > len(shape):
        raise IndexError(f"{named} indices were given for a variable of {len(shape)} dimensions")
    at = dots[0] if dots else len(keys)
    keys[at : at + 1] = [slice(None)] * (len(shape) - named)
    axes: list[Axis] = []
    new: list[int] = []
    position = 0
    for item in keys:
        if item is None:
            new.append(position)
            position += 1
            continue
        axes.append(_axis(item, shape[len(axes)], len(axes)))
        position += not axes[-1].drop
    return Selection(tuple(axes), tuple(new), boxed=bool(dots) and not shape)


def picked_of(values: NDArray[Any], axes: Sequence[range | NDArray[np.int64]]) -> NDArray[Any]:
    """Return the product of indices of each axis."""
    for position, chosen in enumerate(axes):
        values = values[(slice(None),) * position + (as_key(chosen),)]
    return values


def as_key(indices: range | NDArray[np.int64]) -> slice | NDArray[np.int64]:
    if isinstance(indices, range):
        return slice(indices.start, indices.stop, indices.step)
    return indices


def _axis(item: Any, length: int, number: int) -> Axis:
    if isinstance(item, slice):
        chosen = range(*item.indices(length))
        if chosen.step > 0 or not chosen:
            return Axis(chosen if chosen else range(0))
        return Axis(chosen[::-1], slice(None, None, -1))
    array = np.asarray(item)
    if array.ndim == 0 and array.dtype.kind in "iu":
        return Axis(range(_inside(int(array), length, number), int(array) % length + 1), drop=True)
    if array.ndim != 1:
        raise IndexError(
            f"axis {number} is indexed by {type(item).__name__} {item!r}: give a whole number, a "
            "slice, or a list or mask of one dimension"
        )
    if array.dtype == bool:
        if array.size != length:
            raise IndexError(f"the mask of axis {number} has {array.size} values for {length}")
        return Axis(np.flatnonzero(array).astype(np.int64))
    if array.size == 0:
        return Axis(range(0))
    if array.dtype.kind not in "iu":
        raise IndexError(f"axis {number} is indexed by values of type {array.dtype}")
    for index in (int(array.min()), int(array.max())):
        _inside(index, length, number)
    indices = np.where(array < 0, array.astype(np.int64) + length, array.astype(np.int64))
    ascending, order = np.unique(indices, return_inverse=True)
    same = ascending.size == indices.size and bool((np.diff(indices) > 0).all())
    return Axis(ascending, None if same else order.reshape(-1).astype(np.int64))


def _inside(index: int, length: int, number: int) -> int:
    if not -length <= index < length:
        raise IndexError(f"index {index} is outside of axis {number}, which has {length} values")
    return index % length
