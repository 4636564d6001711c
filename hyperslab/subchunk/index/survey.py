"""What a file holds that an index must know, read once through HDF5."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..dimensions import DIMENSIONS
from ..errors import SubchunkError, reason
from ..hdf5 import Chunks, Variable, chunk_table, elsewhere, stored
from ..listing import Listing, listing

_EVERYWHERE = {1, 2, 3, 5, 6, 32000}  # filters that are always there with h5py
SMALL = 2**16  # bytes of a plain variable that goes into the index


@dataclass(frozen=True)
class Survey:
    """Contents and chunk tables of a file."""

    listing: Listing  # with attributes
    tables: Mapping[str, Chunks]  # chunk tables of the variables that are indexed, by name
    small: Mapping[str, bytes]  # values of small variables that cannot be indexed, by name

    @property
    def variables(self) -> list[Variable]:
        """All variables."""
        return list(self.listing.variables.values())

    @property
    def groups(self) -> dict[str, dict[str, Any]]:
        """Attributes of groups by their paths, with their dimensions, as an index has them."""
        dimensions = self.listing.dimensions
        return {
            path: ({DIMENSIONS: list(dimensions[path])} if dimensions[path] else {}) | dict(attrs)
            for path, attrs in self.listing.attrs.items()
        }


def survey(path: Path, asked: Sequence[str] | None = None) -> Survey:
    """Read what a file holds."""
    with opened(path) as file:
        return look(file, asked, path.name)


def look(file: h5py.File, asked: Sequence[str] | None, name: str) -> Survey:
    """Read what an open file holds; see `survey`."""
    found = listing(file, attrs=True)
    variables, tables = dict(found.variables), {}
    for path in _chosen(variables, found.left_out, asked, name):
        try:
            tables[path] = chunk_table(file[path])
        except Exception as error:  # it is read plainly, as far as HDF5 can
            why = f"its chunks cannot be listed: {reason(error)}"
            variables[path] = replace(variables[path], plain=why)
    small = {path: _small(variable, file) for path, variable in variables.items()}
    return Survey(
        replace(found, variables=variables),
        tables,
        {path: values for path, values in small.items() if values is not None},
    )


def opened(path: Path) -> h5py.File:
    """Open a file of this machine with h5py, or say why not."""
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
    variables: Mapping[str, Variable],
    left_out: Mapping[str, str],
    asked: Sequence[str] | None,
    file: str,
) -> list[str]:
    if asked is None:
        return [name for name, variable in variables.items() if not variable.plain]
    for name in asked:
        why = variables[name].plain if name in variables else left_out.get(name)
        if why is None:
            known = ", ".join(sorted(variables)) or "none"
            raise SubchunkError(f"{file} has no variable {name!r}: it has {known}")
        if why:
            raise SubchunkError(f"{name} in {file} cannot be indexed: {why}")
    return [name for name in variables if name in asked]


def _small(variable: Variable, file: h5py.File) -> bytes | None:
    """Return the values of a small variable, if they are in the file and any machine reads them."""
    size = math.prod(variable.shape) * variable.width if variable.dtype else SMALL + 1
    filters = {number for number, _ in variable.filters}
    if variable.same or size > SMALL or not filters <= _EVERYWHERE:
        return None
    try:
        dataset = file[variable.name]
        return None if elsewhere(dataset) else stored(np.asarray(dataset[...]))
    except Exception:  # reading it says why it cannot be read
        return None
