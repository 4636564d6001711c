"""What a variable needs beside itself (coordinates, bounds, grid), and which needs no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath

from hyperslab.io.sources.base import Source, SourceVariable
from hyperslab.io.variable import Variable

_NAMING = ("coordinates", "bounds", "climatology", "grid_mapping", "formula_terms")


def coordinates_of(variables: Mapping[str, Variable], names: Sequence[str]) -> tuple[str, ...]:
    """Return the variables that some variables cannot be understood without.

    These are the coordinate variables of their dimensions, what their attributes name, and what
    those need in turn (CF conventions 1.11, chapters 4, 5 and 7).
    """
    found, todo = set(names), list(names)
    while todo:
        for name in _needed(variables, todo.pop()):
            if name not in found:
                found.add(name)
                todo.append(name)
    return tuple(name for name in variables if name in found and name not in names)


def largest(source: Source) -> SourceVariable:
    """Return the variable that is meant where none is named: the largest that serves no other."""
    able = source.choose()
    filled = [v for v in able if v.shape and 0 not in v.shape] or able
    serving = {name for v in filled for name in coordinates_of(source.variables, [v.name])}
    main = [v for v in filled if v.name not in serving] or filled
    fields = [v for v in main if len(v.shape) > 1] or main
    return max(fields, key=lambda variable: variable.nbytes)


def _needed(variables: Mapping[str, Variable], name: str) -> Iterator[str]:
    variable = variables[name]
    for other, candidate in variables.items():
        own = other.rpartition("/")[2]
        # One name means one dimension in a source: those of groups may have a longer one.
        if any(candidate.dims == (dim,) and dim.endswith(own) for dim in variable.dims):
            yield other
    for key in _NAMING:
        text = variable.attrs.get(key)
        for word in text.split() if isinstance(text, str) else ():
            groups = PurePosixPath(name).parents  # the nearest has it
            paths = (str(group / word.strip(":")).lstrip("/") for group in groups)
            yield from islice((path for path in paths if path in variables), 1)
