"""The reads that a layout is tried with: named patterns, slabs, and boxes that step along."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from hyperslab.io.selection import Indices, whole
from hyperslab.io.variable import Variable

from .axes import axes_of, axis_letters

NAMED = ("time_series", "map", "profile", "row", "column", "whole")
MOST_READS = 100_000
_AXES = {"time_series": "T", "map": "YX", "profile": "Z"}


@dataclass(frozen=True)
class Pattern:
    """One way of reading variables, resolved for each of them."""

    name: str  # one of `NAMED`, or the label of slabs or boxes
    slabs: int = 0  # so many consecutive parts of the slowest dimension (bm_file's -s); 0 for none
    boxes: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = ()
    axes: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.slabs and not self.boxes and self.name not in NAMED:
            raise ValueError(f"pattern {self.name!r}: give one of {', '.join(NAMED)}")

    def selections(self, variables: Sequence[Variable]) -> dict[str, list[Indices]]:
        """Return what is read of each variable, one selection after the other.

        A variable that has no such pattern (a map of a time series, say) is absent.
        """
        boxes = dict(self.boxes)
        found: dict[str, list[Indices]] = {}
        for variable in variables:
            if not variable.shape or 0 in variable.shape:
                continue
            if self.boxes:
                if variable.name in boxes:
                    found[variable.name] = stepped(variable, *boxes[variable.name])
            elif self.slabs:
                found[variable.name] = slabs(variable.shape, self.slabs)
            elif kept := self._kept(variable):
                axes = enumerate(variable.shape)
                one = tuple(slice(0, n, 1) if axis in kept else n // 2 for axis, n in axes)
                found[variable.name] = [one]
        return found

    def _kept(self, variable: Variable) -> set[int]:
        """Return the axes taken whole; none when the variable has no such pattern."""
        rank = len(variable.shape)
        if self.name == "whole":
            return set(range(rank))
        letters = axis_letters(variable.dims, variable.unlimited, dict(self.axes))
        if self.name in _AXES:
            kept = {axis for axis, x in enumerate(letters) if x and x in _AXES[self.name]}
            kept = kept if self.name != "map" or len(kept) == 2 else set()
        else:
            kept = {rank - 1 if self.name == "row" else 0}
        return kept if len(kept) < rank else set()


def named(names: Sequence[str], variables: Mapping[str, Variable]) -> list[Pattern]:
    """Return patterns by name, with the axes that the metadata of the whole file give."""
    axes = tuple(sorted(axes_of(variables).items()))
    return [Pattern(name, axes=axes) for name in names]


def usual(variables: Mapping[str, Variable], chosen: Sequence[Variable]) -> list[Pattern]:
    """Return the patterns that are tried when none is named.

    A time series, a map and the whole; a row and a column of arrays that have neither of the
    first two; nothing of a scalar.
    """

    def having(*names: str) -> list[Pattern]:
        return [p for p in named(names, variables) if p.selections(chosen)]

    return [*(having("time_series", "map") or having("row", "column")), *having("whole")]


def slabs(shape: Sequence[int], parts: int) -> list[Indices]:
    """Return consecutive slabs along the first axis, each 1/parts of it (bm_file's -s)."""
    step = -(-shape[0] // parts)
    return [
        (slice(i, min(i + step, shape[0]), 1), *whole(shape[1:])) for i in range(0, shape[0], step)
    ]


def stepped(
    variable: Variable, starts: Sequence[int], counts: Sequence[int], steps: Sequence[int]
) -> list[Indices]:
    """Return boxes whose corner moves on by the increments, axis by axis, to the array's end.

    The last box along an axis is cut where the array ends, as bm_file's is; an increment of 0
    does not move. (bm_file moves along the first axis only, whatever the other increments say.)
    """
    shape, name = variable.shape, variable.name
    for what, given in (("starts", starts), ("counts", counts), ("increments", steps)):
        if len(given) != len(shape):
            raise ValueError(
                f"{name} has {len(shape)} dimensions ({', '.join(variable.dims)}) and got "
                f"{len(given)} {what}: give one for each"
            )
    for dim, size, start, count in zip(variable.dims, shape, starts, counts, strict=True):
        if start < 0 or count < 1 or start + count > size:
            raise ValueError(
                f"{name}: {count} elements from {start} do not fit into {dim} of length {size}: "
                f"give a start from 0 and a count from 1, together at most {size}"
            )
    if min(steps, default=0) < 0:
        raise ValueError(f"{name}: increments {':'.join(map(str, steps))}: give at least 0")
    corners = [
        range(start, size, step) if step else range(start, start + 1)
        for start, size, step in zip(starts, shape, steps, strict=True)
    ]
    if (reads := math.prod(map(len, corners))) > MOST_READS:
        raise ValueError(f"{name}: {reads} reads, more than {MOST_READS}: give larger increments")
    return [
        tuple(
            slice(i, min(i + n, size), 1) for i, n, size in zip(corner, counts, shape, strict=True)
        )
        for corner in product(*corners)
    ]
