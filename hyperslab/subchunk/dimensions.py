"""What netCDF-4 writes into HDF5 about dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import h5py
import numpy as np

# Under this name the attributes of a group list its dimensions: name, length, whether unlimited.
DIMENSIONS = "_Netcdf4Dimensions"
NON_COORDINATE = (
    "_nc4_non_coord_"  # before the name of a variable named like a dimension not its own
)
_COORDINATES, _NUMBER = "_Netcdf4Coordinates", "_Netcdf4Dimid"


def dimension_only(dataset: h5py.Dataset) -> bool:
    """Return whether netCDF-4 made this dataset to hold the name of a dimension."""
    mark = dataset.attrs.get("NAME", b"")
    return isinstance(mark, bytes) and mark.startswith(
        b"This is a netCDF dimension but not a netCDF variable"
    )


def dimensions_of(dataset: h5py.Dataset) -> tuple[str, ...]:
    """Return the names of the dimensions of a variable, "" where the file gives none."""
    found = []
    for dim in dataset.dims:
        name = ""
        if len(dim):
            name = _last(dim[0])
        elif dataset.ndim == 1 and dataset.attrs.get("CLASS") == b"DIMENSION_SCALE":
            name = _last(dataset)
        found.append(name)
    if "" in found and _COORDINATES in dataset.attrs:
        # A coordinate of several dimensions cannot have them attached: it has their numbers.
        numbers = np.atleast_1d(dataset.attrs[_COORDINATES]).tolist()
        if len(numbers) == dataset.ndim:
            known = _numbered(dataset)
            found = [n or known.get(number, "") for n, number in zip(found, numbers, strict=True)]
    return tuple(found)


def group_dimensions(group: h5py.Group) -> list[list[Any]]:
    """Return name, length, and whether it is unlimited, of the dimensions of a group."""
    return [
        [name, int(item.shape[0]), item.maxshape[0] is None]
        for name, item in _scales(group)
        if item.ndim
    ]


def parted(attrs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[int, bool]]]:
    """Return the attributes of a group, and its dimensions with length and whether unlimited.

    Examples
    --------
    >>> parted({"title": "x", "_Netcdf4Dimensions": [["t", 3, True]]})
    ({'title': 'x'}, {'t': (3, True)})
    """
    kept = {name: value for name, value in attrs.items() if name != DIMENSIONS}
    found = attrs.get(DIMENSIONS, [])
    return kept, {name: (int(length), bool(unlimited)) for name, length, unlimited in found}


def _numbered(dataset: h5py.Dataset) -> dict[int, str]:
    """Return the names of the dimensions that a variable can have, by netCDF-4's numbers."""
    found: dict[int, str] = {}
    group = dataset.parent
    while True:
        for name, item in _scales(group):
            if _NUMBER in item.attrs:
                found.setdefault(int(np.ravel(item.attrs[_NUMBER])[0]), name)
        if group.name in (None, "/"):
            return found
        group = group.parent


def _scales(group: h5py.Group) -> Iterator[tuple[str, h5py.Dataset]]:
    for name in sorted(group):
        if isinstance(group.get(name, getlink=True), h5py.HardLink):
            item = group[name]
            if isinstance(item, h5py.Dataset) and item.attrs.get("CLASS") == b"DIMENSION_SCALE":
                yield name, item


def _last(dataset: h5py.Dataset) -> str:
    return str(dataset.name).rsplit("/", 1)[-1]
