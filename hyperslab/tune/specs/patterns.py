"""The reads that a layout is tried with: patterns by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from hyperslab.io.selection import Indices
from hyperslab.io.variable import Variable

from .axes import axes_of, axis_letters

NAMED = ("time_series", "map", "profile", "row", "column", "whole")
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
    """Return what a pattern reads of a variable, in its middle; None where it has no such."""
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
    """Return the patterns that are tried when none is named, as far as the variables have them."""
    able = [name for name, each in named(NAMED, variables, chosen).items() if each]
    fields = [name for name in able if name in ("time_series", "map")]
    lines = [name for name in able if name in ("row", "column")]
    return [*(fields or lines), *(name for name in able if name == "whole")]
