"""netCDF4-python describes, reads and writes netCDF and NCZarr, and reads over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from .layout import CLASSIC, NETCDF4, QUANTIZERS, Layout
from .reading import Indexed, Opened, Reader
from .source import (
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
from .urls import Place, Remote
from .variable import Variable
from .writing import Attrs, Placed, Writer, by_group, ordered, stored_bytes

__all__ = ["NetCDF4Reader", "NetCDFSource", "NetCDFWriter"]

_MARKS = (".zgroup", ".zarray")
_MODELS: dict[str, Any] = {
    "netcdf3": "NETCDF3_CLASSIC",
    "netcdf3-64bit": "NETCDF3_64BIT_OFFSET",
    "cdf5": "NETCDF3_64BIT_DATA",
    "netcdf4": "NETCDF4",
    "netcdf4-classic": "NETCDF4_CLASSIC",
    "nczarr": "NETCDF4",
}
_QUANTIZERS = dict(zip(QUANTIZERS, ("BitGroom", "GranularBitRound", "BitRound"), strict=True))
_FORMATS = {model: format for format, model in _MODELS.items() if format != "nczarr"}
_LEAST_CACHE_BYTES = 4096
_LEVELLESS = ("shuffle", "fletcher32")


class NetCDF4Reader(Reader):
    """Reads stored values with netCDF4-python; `nczarr` reads directories of Zarr 2 and NCZarr."""

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        nczarr = self.name == "nczarr"
        if nczarr and isinstance(place, Path) and not any((place / m).exists() for m in _MARKS):
            # netCDF-C opens an empty folder as an empty dataset.
            raise ValueError("it is no Zarr 2 directory: there is no .zgroup in it")
        with ExitStack() as held:
            item = held.enter_context(opened(place, self.name))[variable]
            if isinstance(item, netCDF4.Variable):
                raw(item)
                if chunk_cache_bytes is not None and item.chunking() not in (None, "contiguous"):
                    set_cache(item, chunk_cache_bytes)
                if nczarr and not np.dtype(item.dtype).isnative:
                    # netCDF-C 4.9 gives missing chunks the fill value with its bytes swapped.
                    raise ValueError(
                        "it is big-endian: netCDF-C would swap the bytes of fill values"
                    )
            return Indexed(variable, item, held)


def opened(place: Place, format: str) -> netCDF4.Dataset:
    if isinstance(place, Remote):
        return netCDF4.Dataset(f"{place.url}#mode=bytes", "r")
    return netCDF4.Dataset(address(place, format), "r")


def raw(variable: Any) -> Any:
    variable.set_auto_maskandscale(False)
    variable.set_auto_chartostring(False)
    # Without it a strided selection is one call of the C library for each element.
    variable.use_nc_get_vars(True)
    return variable


def set_cache(variable: Any, nbytes: int) -> None:
    """Give a variable a chunk cache, unless netCDF-C would then read another dataset."""
    # It opens the variable anew by its name, which one that is named as a dimension, and is not
    # its coordinate, does not have in the file: the dimension's scale does.
    name = variable.name
    if name not in variable.group().dimensions or variable.dimensions[:1] == (name,):
        variable.set_var_chunk_cache(size=nbytes)


@contextmanager
def default_cache(nbytes: int | None) -> Iterator[None]:
    """Give files that netCDF-C opens meanwhile another default cache; None changes nothing."""
    before = netCDF4.get_chunk_cache()
    if nbytes is not None:
        netCDF4.set_chunk_cache(nbytes, *before[1:])
    try:
        yield
    finally:
        netCDF4.set_chunk_cache(*before)


def address(path: Path, format: str) -> str:
    if format != "nczarr":
        return str(path)
    absolute = str(path.absolute())
    if any(mark in absolute for mark in "#?%"):
        raise ValueError(f"{absolute}: netCDF-C takes no #, ? or % in it; choose another folder")
    return f"file://{absolute}#mode=nczarr,file"


class NetCDFWriter(Writer):
    """Writes through netCDF4-python, with masking and scaling off."""

    def _make(self, variables: Placed, attrs: Attrs, cache_bytes: int | None) -> None:
        format = variables[-1][1].format
        self._file = netCDF4.Dataset(address(self.path, format), "w", format=_MODELS[format])
        for path, own in by_group(attrs).items():
            if own:
                (self._file.createGroup(path) if path else self._file).setncatts(dict(own))
        unlimited = {dim for variable, _ in variables for dim in variable.unlimited}
        sizes = {d: n for v, _ in variables for d, n in zip(v.dims, v.shape, strict=True)}
        for dim, size in sizes.items():
            self._file.createDimension(dim, None if dim in unlimited else size)
        for variable, layout in variables:
            handle = self._create(variable, layout)
            handle.set_auto_maskandscale(False)
            handle.set_auto_chartostring(False)
            if variable.attrs:
                handle.setncatts(dict(variable.attrs))
            if cache_bytes is not None and format not in CLASSIC and layout.chunks:
                set_cache(handle, cache_bytes)
            self._handles[variable.name] = handle

    def _create(self, variable: Variable, layout: Layout) -> Any:
        options: dict[str, Any] = {}
        dtype = np.dtype(variable.dtype)
        if layout.format not in CLASSIC:
            dtype = ordered(variable.dtype, layout.byteorder)
            options["endian"] = layout.byteorder
            if variable.dims and layout.chunks:
                options |= {"chunksizes": layout.chunks, "fletcher32": layout.fletcher32}
                options |= _codec(layout)
            elif not variable.unlimited and layout.format != "nczarr":
                options["contiguous"] = True
            elif not variable.unlimited and variable.dims:
                options["chunksizes"] = tuple(max(n, 1) for n in variable.shape)
                options |= _codec(layout)
        if layout.quantize is not None:
            mode, digits = layout.quantize
            options |= {"quantize_mode": _QUANTIZERS[mode], "significant_digits": digits}
        # Beside fill_value=…, only the file's switch keeps netCDF-C from filling.
        if layout.prefill:
            self._file.set_fill_on()
        else:
            self._file.set_fill_off()
        return self._file.createVariable(
            variable.name, dtype, variable.dims, fill_value=variable.fill_value, **options
        )

    def finish(self, name: str) -> None:
        handle = self._handles[name]
        if handle.chunking() not in (None, "contiguous"):
            with _explained():
                set_cache(handle, 1)

    def _flush(self) -> None:
        with _explained():
            self._file.sync()

    def _close(self) -> None:
        with _explained():
            self._file.close()


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        error.add_note(
            "Chunks are compressed when they are flushed. Blosc in netCDF-C fails on a chunk it "
            "cannot make smaller: take shuffle=True, another codec, or hdf5 or zarr."
        )
        raise


def _codec(layout: Layout) -> dict[str, Any]:
    if layout.codec is None:
        return {}
    options: dict[str, Any] = {
        "compression": "zlib" if layout.codec == "deflate" else layout.codec.replace("-", "_"),
        "shuffle": layout.shuffle,
        "blosc_shuffle": int(layout.shuffle),
    }
    if layout.effective_level is not None:
        options["complevel"] = layout.effective_level
    return options


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
        stored: dict[str, dict[str, Any]] = {}
        if self._path and self.format in NETCDF4:
            from .by_h5py import how_stored  # netCDF-C does not say all of it

            stored = how_stored(self._path, self.format)
        dims, groups = Dims(self._grouped), self._grouped
        for path, group in groups:
            for dim in group.dimensions.values():
                dims.name(dim.name, dim.size, dim.isunlimited(), path)
        for path, group in groups:
            for name, variable in group.variables.items():
                yield self._described(path + name, variable, dims, stored)

    def _described(
        self, name: str, variable: Any, dims: Dims, stored: Mapping[str, dict[str, Any]]
    ) -> SourceVariable:
        own = variable.get_dims()
        axes = [(d.name, d.size, d.isunlimited(), d.group().path) for d in own]
        dtype = variable.dtype if isinstance(variable.dtype, np.dtype) else np.dtype("O")
        how = stored.get(name) or self._reported(name, variable, dtype)
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


READER = NetCDF4Reader
