"""Names for dimensions that have none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Shaped(Protocol):
    """What has a shape and, perhaps, names of dimensions."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length along each dimension."""

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions; "" where there is none."""


def dimension_names(variables: Iterable[Shaped]) -> list[tuple[str, ...]]:
    """Return a name for every dimension of the variables of a group.

    Those without a name get one for each length, as in h5netcdf.

    Examples
    --------
    >>> from types import SimpleNamespace as Bare
    >>> dimension_names([Bare(shape=(3, 3), dims=("", "")), Bare(shape=(3,), dims=("",))])
    [('phony_dim_0', 'phony_dim_1'), ('phony_dim_0',)]
    """
    made: dict[tuple[int, int], str] = {}
    found = []
    for variable in variables:
        names = []
        for axis, length in enumerate(variable.shape):
            key = (length, variable.shape[:axis].count(length))
            named = variable.dims[axis]
            names.append(named or made.setdefault(key, f"phony_dim_{len(made)}"))
        found.append(tuple(names))
    return found
