"""What a file holds that an index must know, read once through HDF5, and what tells a change."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import h5py
import numpy as np

from ..chunk_table import Chunks, chunk_table
from ..errors import UnfitFileError, reason
from ..hdf5 import DIMENSIONS, Variable, elsewhere, stored
from ..listing import Listing, listing

_EVERYWHERE = {1, 2, 3, 5, 6, 32000}  # filters that are always there with h5py
UNLISTED = "its chunks cannot be listed: "
SMALL = 2**16  # bytes of a plain variable that goes into the index


@dataclass(frozen=True)
class Survey:
    listing: Listing  # with attributes
    tables: Mapping[str, Chunks]  # chunk tables of the variables that are indexed, by name
    small: Mapping[str, bytes]  # values of small variables that cannot be indexed, by name

    @property
    def groups(self) -> dict[str, dict[str, Any]]:
        """Attributes of groups by their paths, with their dimensions, as an index has them."""
        dimensions = self.listing.dimensions
        return {
            path: ({DIMENSIONS: list(dimensions[path])} if dimensions[path] else {}) | dict(attrs)
            for path, attrs in self.listing.attrs.items()
        }

    def digest(self) -> str:
        """Return a hash of all that an index takes from a file; it decides when times differ."""
        total = hashlib.sha256()
        total.update(json.dumps(self.groups, sort_keys=True).encode())
        for name, variable in sorted(self.listing.variables.items()):
            total.update(json.dumps(variable.described(), sort_keys=True).encode())
            total.update(self.small.get(name, b""))
            if table := self.tables.get(name):
                total.update(table.digest().encode())
        return total.hexdigest()[:32]


def look(file: h5py.File, requested: Sequence[str] | None, name: str) -> Survey:
    """Read what an open file holds, with the chunk tables of some variables, or of all."""
    listed = listing(file)
    variables, tables, small = dict(listed.variables), {}, {}
    for path in _chosen(variables, listed.left_out, requested, name):
        try:
            tables[path] = chunk_table(file[path])
        except Exception as error:  # it is read plainly, as far as HDF5 can
            variables[path] = replace(variables[path], plain=UNLISTED + reason(error))
    for path, variable in variables.items():
        if (values := _small(variable, file)) is not None:
            small[path] = values
    return Survey(replace(listed, variables=variables), tables, small)


def unchanged(indexed: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether time or tag, as well as size, are what they were."""
    comparable = any(name in indexed and name in now for name in ("mtime_ns", "tag"))
    return comparable and not difference(indexed, now)


def difference(indexed: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say in what a file differs from the one that was indexed, of what both know; empty if not."""
    if None not in (indexed.get("size"), now.get("size")) and indexed["size"] != now["size"]:
        return f"it had {indexed['size']} bytes and has {now['size']}"
    whys = {
        "mtime_ns": "it was written at another time",
        "tag": "the server gives it another tag",  # it has one where a file has a time
    }
    for name in whys.keys() & indexed.keys() & now.keys():
        if indexed[name] != now[name]:
            return whys[name]
    return ""


def _chosen(
    variables: Mapping[str, Variable],
    left_out: Mapping[str, str],
    requested: Sequence[str] | None,
    file: str,
) -> list[str]:
    if requested is None:
        return [name for name, variable in variables.items() if not variable.plain]
    for name in requested:
        why = variables[name].plain if name in variables else left_out.get(name)
        if why is None:
            names = ", ".join(sorted(variables)) or "none"
            raise UnfitFileError(f"{file} has no variable {name!r}: it has {names}")
        if why:
            raise UnfitFileError(f"{name} in {file} cannot be indexed: {why}")
    return [name for name in variables if name in requested]


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
