"""netCDF of every kind through netCDF4-python: classic, netCDF-4 with groups, NCZarr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..by_netcdf4 import MODELS, opened, raw, set_cache
from ..layout import CLASSIC, NETCDF4
from ..urls import Place
from ..writing import stored_bytes
from .base import (
    LISTS,
    NAMED,
    Dims,
    Source,
    SourceVariable,
    attributes,
    described,
    layout_of,
    storage,
    why_not,
)
from .hdf5_source import how_stored

_FORMATS = {model: format for format, model in MODELS.items() if format != "nczarr"}
_LEAST_CACHE_BYTES = 4096
_LEVELLESS = ("shuffle", "fletcher32")


class NetCDFSource(Source):
    def __init__(self, address: str, place: Place, *, nczarr: bool = False) -> None:
        super().__init__(address, place if isinstance(place, Path) else None)
        self.threads = self._path is None
        self._file = opened(place, "nczarr" if nczarr else "")
        self.format = "nczarr" if nczarr else _FORMATS[self._file.data_model]

    def touch(self, name: str) -> None:
        variable = self._variable(name)
        for key in variable.ncattrs():
            variable.getncattr(key)

    def cache(self, name: str, nbytes: int) -> None:
        if self.format not in CLASSIC:
            set_cache(self._variable(name), max(nbytes, _LEAST_CACHE_BYTES))

    def close(self) -> None:
        super().close()
        if self._file.isopen():
            self._file.close()

    def _open(self, name: str) -> Any:
        return raw(self._file[name])

    def _groups(self) -> Iterator[tuple[str, Any]]:
        return _groups(self._file, "")

    def _attributes(self, item: Any) -> tuple[dict[str, object], frozenset[str]]:
        return attributes(item.ncattrs(), item.getncattr)

    def _describe(self) -> Iterator[SourceVariable]:
        hdf5 = self._path if self.format in NETCDF4 else None
        known = how_stored(hdf5, self.format) if hdf5 else {}
        dims, groups = Dims(self._grouped), self._grouped
        for path, group in groups:
            for dim in group.dimensions.values():
                dims.name(dim.name, dim.size, dim.isunlimited(), path)
        for path, group in groups:
            for name, variable in group.variables.items():
                yield self._described(path + name, variable, dims, known)

    def _described(
        self, name: str, variable: Any, dims: Dims, known: Mapping[str, dict[str, Any]]
    ) -> SourceVariable:
        own = variable.get_dims()
        axes = [(d.name, d.size, d.isunlimited(), d.group().path) for d in own]
        dtype = variable.dtype if isinstance(variable.dtype, np.dtype) else np.dtype("O")
        how = known.get(name) or self._reported(name, variable, dtype)
        how["reason"] = _special(variable) or how.get("reason", "")
        return described(dims, name, dtype, axes, self._attributes(variable), **how)

    def _reported(self, name: str, variable: Any, dtype: np.dtype[Any]) -> dict[str, Any]:
        """Return how a variable is stored, as far as netCDF-C says it."""
        if self.format in CLASSIC:
            nbytes = None if why_not(dtype) else int(variable.size) * dtype.itemsize
            return {"byteorder": "big", "stored_bytes": nbytes, "layout": layout_of(self.format)}
        lengths, filters = variable.chunking(), variable.filters() or {}
        level = filters.pop("complevel", None) or None
        steps = [
            ({"zlib": "deflate"}.get(key, key), None if key in _LEVELLESS else level, False)
            for key, value in filters.items()
            if value
        ]
        chunks = None if lengths in (None, "contiguous") else tuple(lengths)
        folder = self._path / name if self._path else None
        return {
            **storage(self.format, dtype, steps, chunks),
            "stored_bytes": stored_bytes(folder) if folder and folder.is_dir() else None,
            "layout": None if steps else layout_of(self.format, chunks=chunks),
        }


def _groups(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    yield before, group
    for name, inner in group.groups.items():
        yield from _groups(inner, f"{before}{name}/")


def _special(variable: Any) -> str:
    """Say why values of one of netCDF's own types cannot be copied."""
    if variable.dtype is str:
        return "holds text of any length"
    return {"VLType": LISTS, "EnumType": NAMED}.get(type(variable.datatype).__name__, "")
