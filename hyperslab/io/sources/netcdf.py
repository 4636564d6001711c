"""netCDF of every kind through netCDF4-python: classic, netCDF-4 with groups, NCZarr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from ..creation import stored_bytes
from ..layout import CLASSIC, NETCDF4
from .base import (
    LISTS,
    NAMED,
    Dims,
    Indices,
    Source,
    SourceVariable,
    dtype_name,
    fill_of,
    layout_of,
    order,
    plain,
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
    """A netCDF dataset: what netCDF-C opens, and the file or folder (None for a URL)."""

    def __init__(
        self, address: str, opened: str, path: Path | None, *, nczarr: bool = False
    ) -> None:
        super().__init__(address)
        self._file = netCDF4.Dataset(opened, "r")
        self._path, self._nczarr = path, nczarr
        self._ready: dict[str, Any] = {}

    @property
    def format(self) -> str:
        """The format, as the file says."""
        return "nczarr" if self._nczarr else _FORMATS[self._file.data_model]

    @property
    def stat_bytes(self) -> int:
        """Bytes of the file, or of all files of the folder."""
        return -1 if self._path is None else stored_bytes(self._path)

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
            variable = self._file[name]
            variable.set_auto_maskandscale(False)
            # Without it a strided selection is one call of the C library for each element.
            variable.use_nc_get_vars(True)
            self._ready[name] = variable
        return self._ready[name]

    def _attributes(self) -> dict[str, object]:
        return _attrs(self._file)

    def _attributes_left(self) -> Iterator[tuple[str, set[str]]]:
        for path, group in _groups(self._file, ""):
            own = set(group.ncattrs())
            yield (f"group {path[:-1]}", own) if path else ("the file", own - set(self.attrs))
            for name, variable in group.variables.items():
                if (known := self.variables[path + name]).copyable:
                    yield known.name, set(variable.ncattrs()) - {"_FillValue"} - set(known.attrs)

    def _describe(self) -> list[SourceVariable]:
        hdf5 = self._path is not None and self.format in NETCDF4
        known = how_stored(self._path, self.format) if hdf5 and self._path else {}
        dims, groups = Dims(), list(_groups(self._file, ""))
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
        attrs = _attrs(variable)
        dtype = variable.dtype if isinstance(variable.dtype, np.dtype) else np.dtype("O")
        fill = fill_of(attrs, dtype_name(dtype))
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


def _attrs(item: Any) -> dict[str, object]:
    """Return the attributes that are no types of the user's own."""
    found: dict[str, object] = {}
    for name in item.ncattrs():
        with suppress(KeyError, RuntimeError, TypeError, AttributeError):
            if (value := plain(item.getncattr(name))) is not None:
                found[name] = value
    return found
