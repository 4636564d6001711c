"""What netCDF-4 writes into HDF5 about dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5o, h5r

DimensionList = Sequence[Sequence[Any]]

# Under this name the attributes of a group in an index list its dimensions: name, length,
# whether unlimited.
DIMENSIONS = "_Netcdf4Dimensions"
NON_COORDINATE = (
    "_nc4_non_coord_"  # before the name of a variable named like a dimension not its own
)
_COORDINATES, _NUMBER = "_Netcdf4Coordinates", "_Netcdf4Dimid"
_ONLY = b"This is a netCDF dimension but not a netCDF variable"


@dataclass(frozen=True)
class Scale:
    """A dataset that gives a dimension its name."""

    dimension: Sequence[Any]  # its name, length, and whether it is unlimited; [] for a scalar
    number: int  # netCDF-4's number of the dimension; -1 where it has none
    only: bool  # whether netCDF-4 made it to hold the name, and it is no variable


@dataclass(frozen=True)
class Axes:
    """What a dataset says of its dimensions."""

    scales: tuple[int, ...]  # addresses of the datasets that give their names; -1 for none
    numbers: tuple[int, ...]  # netCDF-4's numbers of the dimensions; empty where there are none


def scale_of(dataset: h5py.Dataset, path: str) -> Scale | None:
    """Return the dimension that a dataset gives its name to; None for most."""
    mark = _attribute(dataset, "NAME")
    only = isinstance(mark, bytes) and mark.startswith(_ONLY)
    if not only and _attribute(dataset, "CLASS") != b"DIMENSION_SCALE":
        return None
    if not dataset.shape:
        return Scale([], -1, only)
    number = _attribute(dataset, _NUMBER)
    dimension = [path.rpartition("/")[2], int(dataset.shape[0]), dataset.maxshape[0] is None]
    return Scale(dimension, -1 if number is None else _whole(number)[0], only)


def axes_of(dataset: h5py.Dataset) -> Axes:
    """Return what a dataset says of its dimensions."""
    scales = [-1] * dataset.ndim
    listed = _attribute(dataset, "DIMENSION_LIST")
    with suppress(Exception):  # a list of something else names nothing
        for axis, references in enumerate(() if listed is None else listed):
            if len(references):
                scales[axis] = h5o.get_info(h5r.dereference(references[0], dataset.id)).addr
    if scales == [-1] and _attribute(dataset, "CLASS") == b"DIMENSION_SCALE":
        scales = [h5o.get_info(dataset.id).addr]
    # A coordinate of several dimensions cannot have them attached: it has their numbers.
    numbers = _attribute(dataset, _COORDINATES) if -1 in scales else None
    return Axes(tuple(scales), () if numbers is None else _whole(numbers))


def dimension_names(
    path: str, axes: Axes, names: Mapping[int, str], scales: Mapping[str, Sequence[Scale]]
) -> tuple[str, ...]:
    """Return the names of the dimensions of a variable, "" where the file gives none."""
    found = [names.get(address, "") for address in axes.scales]
    if len(axes.numbers) == len(found):
        known: dict[int, str] = {}
        group = path
        while group and "" in found:
            group = group.rpartition("/")[0]
            for scale in scales[group]:
                if scale.number >= 0:
                    known.setdefault(scale.number, scale.dimension[0])
        found = [
            name or known.get(number, "") for name, number in zip(found, axes.numbers, strict=True)
        ]
    return tuple(found)


def parted(attrs: Mapping[str, Any]) -> tuple[dict[str, Any], DimensionList]:
    """Return the attributes of a group as an index has them, and its dimensions.

    Examples
    --------
    >>> parted({"title": "x", "_Netcdf4Dimensions": [["t", 3, True]]})
    ({'title': 'x'}, [['t', 3, True]])
    """
    kept = {name: value for name, value in attrs.items() if name != DIMENSIONS}
    return kept, attrs.get(DIMENSIONS, [])


def _attribute(dataset: h5py.Dataset, name: str) -> Any:
    """Return an attribute; None where there is none, or none that can be read."""
    try:
        return dataset.attrs[name] if h5a.exists(dataset.id, name.encode()) else None
    except Exception:  # what it would say of dimensions is then not known
        return None


def _whole(values: Any) -> tuple[int, ...]:
    found = np.ravel(values)
    return tuple(found.tolist()) if found.dtype.kind in "iu" and found.size else (-1,)
