"""What CF attributes say of a variable: its axes, what serves it, and usual reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import TypeAlias

from hyperslab.io.selection import Indices
from hyperslab.io.source import Source, SourceVariable
from hyperslab.io.variable import Variable

_STANDARD = {
    "time": "T",
    **dict.fromkeys(("latitude", "grid_latitude", "projection_y_coordinate"), "Y"),
    **dict.fromkeys(("longitude", "grid_longitude", "projection_x_coordinate"), "X"),
    **dict.fromkeys(("depth", "altitude", "height", "air_pressure", "model_level_number"), "Z"),
}
_UNITS = ((r"\w+ since ", "T"), (r"degrees?_?n(orth)?$", "Y"), (r"degrees?_?e(ast)?$", "X"))
_NAMES = (
    (r"t|(valid_?)?time(_?counter|steps?)?\d*|dates?|days?|months?|years?", "T"),
    (r"z\d*|(bottom_|soil_)?lev(el)?s?\d*|.*level|depth.*|height.*|altitude|plev\d*|sigma", "Z"),
    (r"y[ch]?\d*|r?lat(itude)?s?\d*|nj|j|south_north|rows?|eta_.*", "Y"),
    (r"x[ch]?\d*|r?lon(gitude)?s?\d*|ni|i|west_east|col(umn)?s?|xi_.*", "X"),
)
_NAMING = ("coordinates", "bounds", "climatology", "grid_mapping", "formula_terms")
NAMED = ("time_series", "map", "profile", "row", "column", "whole")
_AXES = {"time_series": "T", "map": "YX", "profile": "Z"}
Reads: TypeAlias = Mapping[str, Mapping[str, Indices]]
"""What is read of each variable, by the name of a pattern: of each axis all, or one index."""


def axes_of(variables: Mapping[str, Variable]) -> dict[str, str]:
    """Return the CF axis (T, Z, Y or X) of the dimensions of a file, as far as it can be known."""
    # The attributes of coordinates (CF conventions 1.11, chapter 4) come before dimensions' names.
    axes: dict[str, str] = {}
    for variable in variables.values():
        own = variable.name.rpartition("/")[2]
        names_itself = [dim.rpartition("/")[2] for dim in variable.dims] == [own]
        if names_itself and (letter := _by_attributes(variable.attrs)):
            axes[variable.dims[0]] = letter
    for variable in variables.values():
        for dim in variable.dims:
            if dim not in axes and (letter := _by_name(dim)):
                axes[dim] = letter
    return axes


def axis_letters(
    dims: Sequence[str], unlimited: Sequence[str], axes: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the axis of each dimension of one variable, guessed by position where unknown."""
    letters = [axes[dim] if dim in axes else _by_name(dim) for dim in dims]
    letters = [x if x and x not in letters[:i] else "" for i, x in enumerate(letters)]
    if dims and not letters[0] and "T" not in letters and dims[0] in unlimited:
        letters[0] = "T"
    if len(dims) >= 3:
        if not any(letters[-2:]):
            for axis, letter in ((-2, "Y"), (-1, "X")):
                if letter not in letters:
                    letters[axis] = letter
        if not letters[0] and "T" not in letters and letters[-2:] == ["Y", "X"]:
            letters[0] = "T"
        if len(dims) == 4 and not letters[1] and "Z" not in letters:
            letters[1] = "Z"
    return tuple(letters)


def _by_attributes(attrs: Mapping[str, object]) -> str:
    axis = str(attrs.get("axis", "")).upper()
    if axis in ("T", "Z", "Y", "X"):
        return axis
    if letter := _STANDARD.get(str(attrs.get("standard_name", ""))):
        return letter
    units = str(attrs.get("units", "")).lower()
    for pattern, letter in _UNITS:
        if re.match(pattern, units):
            return letter
    return "Z" if str(attrs.get("positive", "")).lower() in ("up", "down") else ""


def _by_name(dim: str) -> str:
    plain = dim.rpartition("/")[2].lower()
    for pattern, letter in _NAMES:
        if re.fullmatch(pattern, plain):
            return letter
    return ""


def largest(source: Source) -> SourceVariable:
    """Return the variable that is meant where none is named: the largest that serves no other."""
    able = source.choose()
    filled = [v for v in able if v.shape and 0 not in v.shape] or able
    serving = {name for v in filled for name in _needed(source.variables, v) if name != v.name}
    main = [v for v in filled if v.name not in serving] or filled
    fields = [v for v in main if len(v.shape) > 1] or main
    return max(fields, key=lambda variable: variable.nbytes)


def _needed(variables: Mapping[str, Variable], variable: Variable) -> Iterator[str]:
    """Yield what a variable cannot be understood without (CF conventions 1.11, chapters 4 to 7)."""
    for other, candidate in variables.items():
        own = other.rpartition("/")[2]
        # One name means one dimension in a source: those of groups may have a longer one.
        if any(candidate.dims == (dim,) and dim.endswith(own) for dim in variable.dims):
            yield other
    for key in _NAMING:
        text = variable.attrs.get(key)
        for word in text.split() if isinstance(text, str) else ():
            groups = PurePosixPath(variable.name).parents  # the nearest has it
            paths = (str(group / word.strip(":")).lstrip("/") for group in groups)
            yield from islice((path for path in paths if path in variables), 1)


def named(
    names: Sequence[str], variables: Mapping[str, Variable], chosen: Sequence[Variable]
) -> dict[str, dict[str, Indices]]:
    """Return the reads of patterns by name; variables of the whole file tell what axes are."""
    axes = axes_of(variables)
    return {
        name: {v.name: read for v in chosen if (read := selection(name, v, axes)) is not None}
        for name in names
    }


def selection(name: str, variable: Variable, axes: Mapping[str, str]) -> Indices | None:
    """Return what a pattern reads of a variable, in its middle; None where it has no such."""
    rank = len(variable.shape)
    whole = set(range(rank))
    if name in _AXES:
        letters = axis_letters(variable.dims, variable.unlimited, axes)
        whole = {axis for axis, x in enumerate(letters) if x and x in _AXES[name]}
    elif name != "whole":
        whole = {rank - 1 if name == "row" else 0}
    absent = not whole or 0 in variable.shape or (name == "map" and len(whole) < 2)
    if absent or (name != "whole" and len(whole) == rank):
        return None
    lengths = enumerate(variable.shape)
    return tuple(slice(0, n, 1) if axis in whole else n // 2 for axis, n in lengths)


def usual(variables: Mapping[str, Variable], chosen: Sequence[Variable]) -> list[str]:
    """Return the patterns that are tried when none is named, as far as the variables have them."""
    able = [name for name, each in named(NAMED, variables, chosen).items() if each]
    fields = [name for name in able if name in ("time_series", "map")]
    lines = [name for name in able if name in ("row", "column")]
    return [*(fields or lines), *(name for name in able if name == "whole")]
