"""The reads that a layout is tried with: named patterns, slabs, and boxes that step along."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

from hyperslab.io.selection import Indices, whole
from hyperslab.io.variable import Variable

from .axes import axes_of, axis_letters

NAMED = ("time_series", "map", "profile", "row", "column", "whole")
MOST_READS = 100_000
_AXES = {"time_series": "T", "map": "YX", "profile": "Z"}
Reads: TypeAlias = Mapping[str, Mapping[str, list[Indices]]]
"""What is read of each variable, one selection after the other, by the name of a pattern."""


def named(
    names: Sequence[str], variables: Mapping[str, Variable], chosen: Sequence[Variable]
) -> dict[str, dict[str, list[Indices]]]:
    """Return the reads of patterns by name; variables of the whole file tell what axes are."""
    axes, found = axes_of(variables), dict[str, dict[str, list[Indices]]]()
    for name in names:
        each = {v.name: selection(name, v, axes) for v in chosen}
        found[name] = {variable: [one] for variable, one in each.items() if one is not None}
    return found


def selection(name: str, variable: Variable, axes: Mapping[str, str]) -> Indices | None:
    """Return what a pattern reads of a variable, in its middle, by the axes of dimensions.

    None where the variable has no such pattern (a map of a time series, say).
    """
    rank = len(variable.shape)
    kept = set(range(rank))
    if name in _AXES:
        letters = axis_letters(variable.dims, variable.unlimited, axes)
        kept = {axis for axis, x in enumerate(letters) if x and x in _AXES[name]}
    elif name != "whole":
        kept = {rank - 1 if name == "row" else 0}
    absent = not kept or 0 in variable.shape or (name == "map" and len(kept) < 2)
    if absent or (name != "whole" and len(kept) == rank):
        return None
    lengths = enumerate(variable.shape)
    return tuple(slice(0, n, 1) if axis in kept else n // 2 for axis, n in lengths)


def usual(variables: Mapping[str, Variable], chosen: Sequence[Variable]) -> list[str]:
    """Return the patterns that are tried when none is named, as far as the variables have them.

    A time series, a map and the whole; a row and a column of what has neither of the first two.
    """
    able = [name for name, each in named(NAMED, variables, chosen).items() if each]
    fields = [name for name in able if name in ("time_series", "map")]
    lines = [name for name in able if name in ("row", "column")]
    return [*(fields or lines), *(name for name in able if name == "whole")]


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

    The last box along an axis is cut where the array ends, as bm_file's is; an increment of 0 does
    not move. (bm_file moves along the first axis only.)
    """
    shape, name = variable.shape, variable.name
    for what, given in (("starts", starts), ("counts", counts), ("increments", steps)):
        if len(given) != len(shape):
            raise ValueError(
                f"{name} has {len(shape)} dimensions ({', '.join(variable.dims)}) and got "
                f"{len(given)} {what}: give one for each"
            )
    corners = []
    for dim, size, start, count, step in zip(
        variable.dims, shape, starts, counts, steps, strict=True
    ):
        if start < 0 or count < 1 or step < 0 or start + count > size:
            raise ValueError(
                f"{name}: {count} elements from {start}, each {step} on, do not fit into {dim} of "
                f"length {size}: give a start and a step from 0, and a count from 1"
            )
        corners.append(range(start, size if step else start + 1, step or 1))
    if (reads := math.prod(map(len, corners))) > MOST_READS:
        raise ValueError(f"{name}: {reads} reads, more than {MOST_READS}: give larger increments")
    sizes = [*zip(counts, shape, strict=True)]
    return [
        tuple(slice(i, min(i + n, size), 1) for i, (n, size) in zip(corner, sizes, strict=True))
        for corner in product(*corners)
    ]
