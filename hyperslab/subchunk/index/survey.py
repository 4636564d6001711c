"""What a file holds that an index must know, read once through HDF5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..errors import SubchunkError
from ..hdf5 import Chunks, Variable, attributes, chunk_table, datasets, describe

SMALL = 2**16  # bytes of a plain variable that goes into the index


@dataclass(frozen=True)
class Survey:
    """Variables, groups and chunk tables of a file.

    Parameters
    ----------
    variables : sequence of Variable
    groups : mapping
        Attributes by the paths of groups; "" is the root.
    tables : mapping
        Chunk tables of the variables that are indexed, by name.
    small : mapping
        Values of small variables that cannot be indexed, by name.
    """

    variables: Sequence[Variable]
    groups: Mapping[str, Mapping[str, Any]]
    tables: Mapping[str, Chunks]
    small: Mapping[str, bytes]


def survey(path: Path, asked: Sequence[str] | None = None) -> Survey:
    """Read what a file holds.

    Parameters
    ----------
    path : Path
    asked : sequence of str, optional
        Variables to index; all that can be if not given.

    Raises
    ------
    SubchunkError
        When it is no HDF5 file, or a variable is unknown or cannot be indexed.
    """
    with _opened(path) as file:
        return look(file, asked, path.name)


def look(file: h5py.File, asked: Sequence[str] | None, name: str) -> Survey:
    """Read what an open file holds; see `survey`.

    Parameters
    ----------
    file : h5py.File
    asked : sequence of str, optional
    name : str
        Of the file, for messages.
    """
    found = [(describe(name, item), item) for name, item in datasets(file)]
    chosen = _chosen([variable for variable, _ in found], asked, name)
    small = {variable.name: _small(variable, item) for variable, item in found}
    return Survey(
        [variable for variable, _ in found],
        _groups(file),
        {v.name: chunk_table(item) for v, item in found if v.name in chosen},
        {name: values for name, values in small.items() if values is not None},
    )


def _opened(path: Path) -> h5py.File:
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise SubchunkError(
            f"{path.name} cannot be opened as HDF5 or netCDF-4, the formats that can be indexed: "
            f"{error}"
        ) from error


def _chosen(
    variables: Sequence[Variable], asked: Sequence[str] | None, file: str
) -> frozenset[str]:
    able = {variable.name for variable in variables if not variable.plain}
    if asked is None:
        return frozenset(able)
    reasons = {variable.name: variable.plain for variable in variables}
    for name in asked:
        if name not in reasons:
            known = ", ".join(sorted(reasons)) or "none"
            raise SubchunkError(f"{file} has no variable {name!r}: it has {known}")
        if name not in able:
            raise SubchunkError(f"{name} in {file} cannot be indexed: {reasons[name]}")
    return frozenset(asked)


def _groups(file: h5py.File) -> dict[str, dict[str, Any]]:
    found = {"": attributes(file)}

    def keep(name: str, item: object) -> None:
        if isinstance(item, h5py.Group):
            found[name] = attributes(item)

    file.visititems(keep)
    return found


def _small(variable: Variable, item: h5py.Dataset) -> bytes | None:
    if not variable.dtype or variable.same or item.size is None:
        return None
    if item.size * item.dtype.itemsize > SMALL:
        return None
    return np.asarray(item[()]).tobytes()
