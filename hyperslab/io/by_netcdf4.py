"""netCDF4-python reads files, NCZarr directories and over HTTP, and writes netCDF and NCZarr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from .layout import CLASSIC, QUANTIZERS, Layout
from .reading import Indexed, Opened, Reader
from .urls import Place, Remote
from .variable import Variable
from .writing import Attrs, Placed, Writer, by_group, ordered

_MARKS = (".zgroup", ".zarray")


class NetCDF4Reader(Reader):
    """Reads stored values with netCDF4-python; `nczarr` reads directories of Zarr 2 and NCZarr."""

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        nczarr = self.name == "nczarr"
        if nczarr and isinstance(place, Path) and not any((place / m).exists() for m in _MARKS):
            # netCDF-C opens an empty folder as an empty dataset.
            raise ValueError("it is no Zarr 2 directory: there is no .zgroup in it")
        with ExitStack() as held:
            found = held.enter_context(opened(place, self.name))[variable]
            if isinstance(found, netCDF4.Variable):
                raw(found)
                if chunk_cache_bytes is not None and found.chunking() not in (None, "contiguous"):
                    set_cache(found, chunk_cache_bytes)
                if nczarr and not np.dtype(found.dtype).isnative:
                    # netCDF-C 4.9 gives missing chunks the fill value with its bytes swapped.
                    raise ValueError(
                        "it is big-endian: netCDF-C would swap the bytes of fill values"
                    )
            return Indexed(variable, found, held)


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


MODELS: dict[str, Any] = {
    "netcdf3": "NETCDF3_CLASSIC",
    "netcdf3-64bit": "NETCDF3_64BIT_OFFSET",
    "cdf5": "NETCDF3_64BIT_DATA",
    "netcdf4": "NETCDF4",
    "netcdf4-classic": "NETCDF4_CLASSIC",
    "nczarr": "NETCDF4",
}
_QUANTIZERS = dict(zip(QUANTIZERS, ("BitGroom", "GranularBitRound", "BitRound"), strict=True))


class NetCDFWriter(Writer):
    """Writes through netCDF4-python, with masking and scaling off."""

    def _make(self, variables: Placed, attrs: Attrs, cache_bytes: int | None) -> None:
        format = variables[-1][1].format
        self._file = netCDF4.Dataset(address(self.path, format), "w", format=MODELS[format])
        for path, given in by_group(attrs).items():
            if given:
                (self._file.createGroup(path) if path else self._file).setncatts(dict(given))
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


READER = NetCDF4Reader
