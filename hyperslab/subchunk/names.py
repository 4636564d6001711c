"""Variables as netCDF shows them: their names, and their dimensions with names and lengths."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from .dimensions import NON_COORDINATE
from .errors import UnreadableError
from .file import File
from .padded import PaddedReader
from .variable import VariableReader

Dimensions = Mapping[str, Mapping[str, tuple[int, bool]]]


@dataclass(frozen=True)
class Shown:
    """A variable as netCDF shows it."""

    group: str  # path of its group, "" for the root
    name: str  # in the group
    reader: VariableReader | PaddedReader
    dims: tuple[str, ...]  # a name for every dimension


@dataclass(frozen=True)
class Contents:
    """What a file holds, as netCDF shows it."""

    dimensions: Dimensions  # by the paths of all groups: length, and whether it is unlimited
    variables: Mapping[str, Sequence[Shown]]  # by the paths of all groups: their own variables
    left_out: Mapping[str, str]  # why variables, groups and links are not there, by their paths


def contents(file: File) -> Contents:
    """Return what a file holds, as netCDF shows it.

    Dimensions without a name get one for each length in a group, counted through the file, as in
    h5netcdf. What is shorter along an unlimited dimension than others is filled up. What cannot be
    read on this machine is left out.
    """
    dimensions = {
        group: {name: (length, unlimited) for name, length, unlimited in listed}
        for group, listed in file.listing.dimensions.items()
    }
    left_out = file.left_out
    kept: dict[str, VariableReader] = {}
    for path, reader in sorted(file.items(), key=lambda item: item[0].rpartition("/")[0]):
        try:
            _ = reader.dtype
            lacks = reader.lacks
        except UnreadableError as error:
            lacks = str(error)
        if lacks:
            left_out[path] = lacks
        else:
            kept[path] = reader
    dims = _dims(kept)
    lengths = _unlimited(kept, dims, dimensions)
    found: dict[str, list[Shown]] = {group: [] for group in dimensions}
    for path, reader in kept.items():
        group = path.rpartition("/")[0]
        shape = tuple(
            max(n, lengths.get(_home(group, dim, dimensions) or ("", ""), 0))
            for n, dim in zip(reader.shape, dims[path], strict=True)
        )
        shown = reader if shape == reader.shape else PaddedReader(reader, shape)
        found[group].append(Shown(group, _name(path, file), shown, dims[path]))
    return Contents(dimensions, found, left_out)


def _name(path: str, readers: Container[str]) -> str:
    """Return a variable's name without what netCDF-4 sets before it."""
    group, _, name = path.rpartition("/")
    short = name.removeprefix(NON_COORDINATE)
    return name if (f"{group}/{short}" if group else short) in readers else short


def _dims(readers: Mapping[str, VariableReader]) -> dict[str, tuple[str, ...]]:
    made: dict[tuple[str, int, int], str] = {}
    found = {}
    for path, reader in readers.items():
        group, shape = path.rpartition("/")[0], reader.shape
        names = []
        for axis, (length, name) in enumerate(zip(shape, reader.dims, strict=True)):
            key = (group, length, shape[:axis].count(length))
            names.append(name or made.setdefault(key, f"phony_dim_{len(made)}"))
        found[path] = tuple(names)
    return found


def _home(group: str, dim: str, dimensions: Dimensions) -> tuple[str, str] | None:
    """Return the group, itself or above, that has a dimension."""
    while dim not in dimensions.get(group, {}):
        if not group:
            return None
        group = group.rpartition("/")[0]
    return group, dim


def _unlimited(
    readers: Mapping[str, VariableReader],
    dims: Mapping[str, tuple[str, ...]],
    dimensions: Dimensions,
) -> dict[tuple[str, str], int]:
    """Return the lengths of unlimited dimensions: those of the longest variables."""
    found = {
        (group, dim): length
        for group, known in dimensions.items()
        for dim, (length, unlimited) in known.items()
        if unlimited
    }
    for path, reader in readers.items():
        for length, dim in zip(reader.shape, dims[path], strict=True):
            home = _home(path.rpartition("/")[0], dim, dimensions)
            if home in found:
                found[home] = max(found[home], length)
    return found
