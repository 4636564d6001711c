"""Variables as netCDF shows them: their names, and their dimensions with names and lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from .errors import UnreadableError
from .file import File
from .listing import NON_COORDINATE
from .read.select import Key, wanted
from .variable_reader import VariableReader

Dimensions = Mapping[str, Mapping[str, tuple[int, bool]]]


@dataclass(frozen=True)
class Shown:
    group: str  # path of its group, "" for the root
    name: str  # in the group
    reader: VariableReader | PaddedReader
    dims: tuple[str, ...]  # a name for every dimension


@dataclass(frozen=True)
class Contents:
    dimensions: Dimensions  # by the paths of all groups: length, and whether it is unlimited
    variables: Mapping[str, Sequence[Shown]]  # by the paths of all groups: their own variables
    left_out: Mapping[str, str]  # why variables, groups and links are not there, by their paths


def contents(file: File) -> Contents:
    """Return what a file holds, filled up, without what cannot be read or contradicts the rest."""
    dimensions = {
        group: {name: (length, unlimited) for name, length, unlimited in listed}
        for group, listed in file.listing.dimensions.items()
    }
    left_out = {path: why for path, why in file.left_out.items() if path not in file}
    readable: dict[str, VariableReader] = {}
    for path, reader in sorted(file.items(), key=lambda item: item[0].rpartition("/")[0]):
        try:
            _ = reader.dtype
            lacks = reader.lacks
        except UnreadableError as error:
            lacks = str(error)
        if lacks:
            left_out[path] = lacks
        else:
            readable[path] = reader
    dims = _dims(readable)
    homes = {path: _homes(path, names, dimensions) for path, names in dims.items()}
    lengths = {(group, dim): n for group, own in dimensions.items() for dim, (n, _) in own.items()}
    for path, reader in readable.items():  # an unlimited one is as long as its longest variable
        for n, (group, dim) in zip(reader.shape, homes[path], strict=True):
            if dim and dimensions[group][dim][1]:
                lengths[group, dim] = max(lengths[group, dim], n)
    variables: dict[str, list[Shown]] = {group: [] for group in dimensions}
    used: dict[str, dict[str, int]] = {group: {} for group in dimensions}
    for path, reader in readable.items():
        group, names = path.rpartition("/")[0], dims[path]
        sizes = zip(reader.shape, homes[path], strict=True)
        shape = tuple(lengths.get(home, n) for n, home in sizes)
        for name, n, length in zip(names, reader.shape, shape, strict=True):
            if n > length or used[group].setdefault(name, length) != length:
                agreed = used[group].get(name, length)
                left_out[path] = f"its dimension {name} has {n} values, and {agreed} elsewhere"
        if path not in left_out:
            shown = reader if shape == reader.shape else PaddedReader(reader, shape)
            # Without what netCDF-4 sets before it, unless another one has this name.
            name = path.rpartition("/")[2]
            short = name.removeprefix(NON_COORDINATE)
            taken = path.removesuffix(name) + short in file
            variables[group].append(Shown(group, name if taken else short, shown, names))
    return Contents(dimensions, variables, left_out)


def _dims(readers: Mapping[str, VariableReader]) -> dict[str, tuple[str, ...]]:
    """Return names for all dimensions; h5netcdf numbers those that have none in the same way."""
    phony: dict[tuple[str, int, int], str] = {}
    dims = {}
    for path, reader in readers.items():
        group, shape = path.rpartition("/")[0], reader.shape
        names = []
        for axis, (length, name) in enumerate(zip(shape, reader.dims, strict=True)):
            key = (group, length, shape[:axis].count(length))
            names.append(name or phony.setdefault(key, f"phony_dim_{len(phony)}"))
        dims[path] = tuple(names)
    return dims


def _homes(path: str, dims: Sequence[str], dimensions: Dimensions) -> list[tuple[str, str]]:
    """Return group, the next above a variable, and name of each dimension; "" and "" of none."""
    homes = []
    for dim in dims:
        group = path.rpartition("/")[0]
        while group and dim not in dimensions.get(group, {}):
            group = group.rpartition("/")[0]
        homes.append((group, dim) if dim in dimensions.get(group, {}) else ("", ""))
    return homes


def texts(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "O" and h5py.check_string_dtype(dtype) is not None


class PaddedReader:
    """A variable, filled up to the length of its dimensions."""

    def __init__(self, reader: VariableReader, shape: tuple[int, ...]) -> None:
        self._reader, self.shape = reader, shape
        self.variable, self.dtype, self.chunks = reader.variable, reader.dtype, reader.chunks
        self.attrs = reader.attrs

    def __getitem__(self, key: Key | tuple[Key, ...]) -> NDArray[Any]:
        selection = wanted(key, self.shape)
        fill = b"" if self.dtype.kind in "SO" else np.zeros((), self.dtype)[()]
        if self.variable.dtype:
            fill = self.variable.fill_value
        values = np.full(selection.shape, fill, self.dtype)
        inside: list[slice | NDArray[np.int64]] = []
        for axis, n in zip(selection.axes, self._reader.shape, strict=True):
            indices = axis.indices
            if isinstance(indices, range):
                stop = max(indices.start, min(indices.stop, n))
                inside.append(slice(indices.start, stop, indices.step))
            else:
                inside.append(indices[indices < n])
        stored = self._reader[tuple(inside)]
        values[tuple(slice(n) for n in stored.shape)] = stored
        return selection.arrange(values)
