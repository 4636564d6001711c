"""netCDF of every kind through netCDF4-python: classic, netCDF-4 with groups, NCZarr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..by_netcdf4 import opened, raw
from ..layout import CLASSIC, NETCDF4
from ..urls import Place
from ..writing import stored_bytes
from .base import (
    LISTS,
    NAMED,
    Dims,
    Indices,
    Source,
    SourceVariable,
    attributes,
    dtype_name,
    fill_of,
    layout_of,
    order,
    why_not,
)
from .hdf5 import how_stored

_FORMATS = {
    "NETCDF3_CLASSIC": "netcdf3",
    "NETCDF3_64BIT_OFFSET": "netcdf3-64bit",
    "NETCDF3_64BIT_DATA": "cdf5",
    "NETCDF4": "netcdf4",
    "NETCDF4_CLASSIC": "netcdf4-classic",
}
_LEAST_CACHE_BYTES = 4096


class NetCDFSource(Source):
    """A netCDF dataset that netCDF-C opens."""

    def __init__(self, address: str, place: Place, *, nczarr: bool = False) -> None:
        super().__init__(address, place if isinstance(place, Path) else None)
        self.threads = self._path is None
        self._file = opened(place, "nczarr" if nczarr else "")
        self.format = "nczarr" if nczarr else _FORMATS[self._file.data_model]
        self._ready: dict[str, Any] = {}

    def touch(self, name: str) -> None:
        """Fetch the attributes of a variable."""
        variable = self._variable(name)
        for key in variable.ncattrs():
            variable.getncattr(key)

    def cache(self, name: str, nbytes: int) -> None:
        """Give a variable a chunk cache; what it held is freed."""
        if self.format not in CLASSIC:
            self._variable(name).set_var_chunk_cache(size=max(nbytes, _LEAST_CACHE_BYTES))

    def close(self) -> None:
        """Close the dataset; closing again does nothing."""
        self._ready.clear()
        if self._file.isopen():
            self._file.close()

    def _read(self, name: str, selection: Indices) -> Any:
        return self._variable(name)[selection or ...]

    def _variable(self, name: str) -> Any:
        if name not in self._ready:
            self._ready[name] = raw(self._file[name])
        return self._ready[name]

    def _groups(self) -> Iterator[tuple[str, Any]]:
        return _groups(self._file, "")

    def _attributes(self, item: Any) -> tuple[dict[str, object], frozenset[str]]:
        return attributes(item.ncattrs(), item.getncattr)

    def _describe(self) -> list[SourceVariable]:
        hdf5 = self._path if self.format in NETCDF4 else None
        known = how_stored(hdf5, self.format) if hdf5 else {}
        dims, groups = Dims(), list(self._groups())
        for path, group in groups:
            for dim in group.dimensions.values():
                dims.name(dim.name, dim.size, dim.isunlimited(), path)
        return [
            self._described(path + name, variable, dims, known)
            for path, group in groups
            for name, variable in group.variables.items()
        ]

    def _described(
        self, name: str, variable: Any, dims: Dims, known: Mapping[str, dict[str, Any]]
    ) -> SourceVariable:
        own = variable.get_dims()
        names = dims.names((d.name, d.size, d.isunlimited(), d.group().path) for d in own)
        attrs, lost = self._attributes(variable)
        dtype = variable.dtype if isinstance(variable.dtype, np.dtype) else np.dtype("O")
        fill = fill_of(attrs, dtype)
        how = known.get(name) or self._reported(name, variable, dtype)
        reason = _why_not(variable, dtype) or how.get("reason", "")
        return SourceVariable(
            name,
            names,
            tuple(int(n) for n in variable.shape),
            dtype_name(dtype),
            attrs,
            None if reason else fill,
            tuple(n for n, dim in zip(names, own, strict=True) if dim.isunlimited()),
            lost=lost,
            **how | {"reason": reason},
        )

    def _reported(self, name: str, variable: Any, dtype: np.dtype[Any]) -> dict[str, Any]:
        """Return how a variable is stored, as far as netCDF-C says it."""
        if self.format in CLASSIC:
            nbytes = None if _why_not(variable, dtype) else int(variable.size) * dtype.itemsize
            return {"byteorder": "big", "stored_bytes": nbytes, "layout": layout_of(self.format)}
        lengths, filters = variable.chunking(), variable.filters() or {}
        level = f" {filters['complevel']}" if filters.get("complevel") else ""
        codec = ", ".join(
            {"zlib": "deflate"}.get(key, key) + level * (key not in ("shuffle", "fletcher32"))
            for key, value in filters.items()
            if value and key != "complevel"
        )
        chunks = None if lengths in (None, "contiguous") else tuple(int(n) for n in lengths)
        folder = self._path / name if self._path else None
        return {
            "chunks": chunks,
            "codec": codec,
            "byteorder": order(dtype),
            "stored_bytes": stored_bytes(folder) if folder and folder.is_dir() else None,
            "layout": None if codec else layout_of(self.format, chunks=chunks),
        }


def _groups(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    yield before, group
    for name, inner in group.groups.items():
        yield from _groups(inner, f"{before}{name}/")


def _why_not(variable: Any, dtype: np.dtype[Any]) -> str:
    if variable.dtype is str:
        return "holds text of any length"
    kinds = {"VLType": LISTS, "EnumType": NAMED}
    return kinds.get(type(variable.datatype).__name__) or why_not(dtype)
