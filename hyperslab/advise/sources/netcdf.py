"""netCDF of every kind through netCDF4-python: classic, netCDF-4 with groups, NCZarr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from hyperslab.io.creation import stored_bytes
from hyperslab.io.layout import CLASSIC

from .base import Dims, Indices, Source, SourceVariable, fill_of, layout_of
from .filters import Stored
from .hdf5 import how_stored
from .kinds import dtype_name, order, why_not

_FORMATS = {
    "NETCDF3_CLASSIC": "netcdf3",
    "NETCDF3_64BIT_OFFSET": "netcdf3-64bit",
    "NETCDF3_64BIT_DATA": "cdf5",
    "NETCDF4": "netcdf4",
    "NETCDF4_CLASSIC": "netcdf4-classic",
}
_LEAST_CACHE_BYTES = 4096


class NetCDFSource(Source):
    """A netCDF dataset.

    Parameters
    ----------
    address
        As it was given.
    opened
        What netCDF-C opens.
    path
        The file or folder; None for a URL.
    nczarr
        Whether it is an NCZarr folder.
    """

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
        hdf5 = self._path is not None and self.format in ("netcdf4", "netcdf4-classic")
        known = how_stored(self._path) if hdf5 and self._path else {}
        dims = Dims()
        groups = list(_groups(self._file, ""))
        for path, group in groups:
            for dim in group.dimensions.values():
                dims.name(dim.name, dim.size, dim.isunlimited(), path)
        return [
            self._described(path + name, variable, dims, known)
            for path, group in groups
            for name, variable in group.variables.items()
        ]

    def _described(
        self, name: str, variable: Any, dims: Dims, known: Mapping[str, Stored]
    ) -> SourceVariable:
        own = variable.get_dims()
        grows = [dim.isunlimited() for dim in own]
        names: list[str] = []
        for dim, grow in zip(own, grows, strict=True):
            found = dims.name(dim.name, dim.size, grow, dim.group().path)
            names.append(found if found not in names else dims.name(f"{found}_2", dim.size, grow))
        attrs = _attrs(variable)
        dtype = variable.dtype if isinstance(variable.dtype, np.dtype) else np.dtype("O")
        reason = _why_not(variable, dtype)
        fill = fill_of(attrs, dtype_name(dtype)) if not reason else None
        attrs.pop("_FillValue", None)
        group, _, last = name.rpartition("/")
        how = known.get(name) or known.get(f"{group}/" * bool(group) + f"_nc4_non_coord_{last}")
        if how and how.missing and not reason:
            reason = f"is compressed with {how.missing}, which is not installed here"
        chunks = None if how is None else how.chunks
        codec = "" if how is None else how.codec
        if how is None and self.format not in CLASSIC:
            chunks, codec = _reported(variable)
        layout = how.layout(self.format) if how else None
        if how is None and not codec:
            layout = layout_of(self.format, chunks=chunks)
        shape = tuple(int(n) for n in variable.shape)
        classic = self.format in CLASSIC and not reason
        size = int(np.prod(shape)) * dtype.itemsize if classic else self._folder_bytes(name)
        return SourceVariable(
            name,
            tuple(names),
            shape,
            dtype_name(dtype),
            tuple(dim for dim, grow in zip(names, grows, strict=True) if grow),
            attrs,
            fill,
            chunks,
            None,
            codec,
            "big" if self.format in CLASSIC else order(dtype),
            how.nbytes if how else size,
            layout,
            reason,
        )

    def _folder_bytes(self, name: str) -> int | None:
        """Return the bytes of an array of NCZarr; None where they are unknown."""
        folder = None if self._path is None else self._path / name
        return stored_bytes(folder) if folder is not None and folder.is_dir() else None


def _groups(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    yield before, group
    for name, inner in group.groups.items():
        yield from _groups(inner, f"{before}{name}/")


def _why_not(variable: Any, dtype: np.dtype[Any]) -> str:
    kind = type(variable.datatype).__name__
    if variable.dtype is str:
        return "holds text of any length"
    if kind == "VLType":
        return "holds lists of any length"
    if kind == "EnumType":
        return "holds named values (an enumeration)"
    return why_not(dtype)


def _reported(variable: Any) -> tuple[tuple[int, ...] | None, str]:
    """Return chunks and filters as netCDF-C reports them."""
    chunks = variable.chunking()
    said = variable.filters() or {}
    names = {"zlib": "deflate"}
    level = f" {said['complevel']}" if said.get("complevel") else ""
    words = [
        names.get(key, key) + (level if key not in ("shuffle", "fletcher32") else "")
        for key, value in said.items()
        if value and key != "complevel"
    ]
    found = None if chunks in (None, "contiguous") else tuple(int(n) for n in chunks)
    return found, ", ".join(words)


def _attrs(item: Any) -> dict[str, object]:
    """Return attributes that are numbers, text, or arrays and lists of them."""
    found: dict[str, object] = {}
    for name in item.ncattrs():
        try:
            value = item.getncattr(name)
        except (KeyError, RuntimeError, TypeError, AttributeError):
            continue  # of a type of the user's own
        dtype = getattr(value, "dtype", None)
        if dtype is None or dtype.kind in "iufU":
            found[name] = value
    return found
