"""Whether variables, layouts and a format fit each other, before anything is created."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .chunk_shapes import cut
from .layout import CLASSIC, NETCDF4, ONE_GROWS, Layout
from .variable import CHAR, DTYPES, Variable

CLASSIC_DTYPES = ("i1", "i2", "i4", "f4", "f8")
_DTYPES: dict[str, tuple[str, ...]]
_DTYPES = dict.fromkeys(("cdf5", "netcdf4", "hdf5"), (*DTYPES, CHAR))
_DTYPES |= dict.fromkeys(("netcdf3", "netcdf3-64bit", "netcdf4-classic"), (*CLASSIC_DTYPES, CHAR))

_OF_THE_FILE = ("format", "byteorder", "page_bytes")
CHUNK_CACHED = (*NETCDF4, "hdf5", "nczarr")


def plan(
    variables: Sequence[Variable],
    layout: Layout | Mapping[str, Layout],
    coordinates: Mapping[str, tuple[Variable, NDArray[Any]]],
    chunk_cache_bytes: int | None,
) -> list[tuple[Variable, Layout]]:
    """Give each variable its layout, the coordinates first, or say what does not fit."""
    if not variables:
        raise ValueError("no variables: give at least one")
    names = [variable.name for variable in variables]
    layouts = dict.fromkeys(names, layout) if isinstance(layout, Layout) else dict(layout)
    if set(layouts) != set(names):
        problem = f"layouts for {', '.join(layouts)} with variables {', '.join(names)}"
        raise ValueError(f"{problem}; give one for each variable and no more")
    file = layouts[names[0]]
    for name, other in layouts.items():
        for field in ("format", "page_bytes"):
            mine, shared = getattr(other, field), getattr(file, field)
            if mine != shared:
                raise ValueError(f"{name}: {field} {mine!r} beside {shared!r}: the file has one")
    if chunk_cache_bytes is not None and file.format not in CHUNK_CACHED:
        problem = f"chunk_cache_bytes={chunk_cache_bytes} with format {file.format!r}"
        takes = ", ".join(CHUNK_CACHED)
        raise ValueError(f"{problem}: only {takes} have a chunk cache; leave it out")
    plain = Layout(**{field: getattr(file, field) for field in _OF_THE_FILE})
    placed = [] if file.format == "binary" else [(v, plain) for v, _ in coordinates.values()]
    placed += [(variable, layouts[variable.name]) for variable in variables]
    _check_dims([variable for variable, _ in placed], file.format)
    for variable, chosen in placed:
        _check_format(variable, chosen)
    for variable in variables:
        _check_chunks(variable, layouts[variable.name])
    return placed


def _refuse(variable: Variable, layout: Layout, why: str, *fields: str) -> NoReturn:
    both = vars(layout) | vars(variable)
    choices = " with ".join(f"{name} {both[name]!r}" for name in fields)
    raise ValueError(f"{variable.name}: {choices}: {why}")


def _check_dims(variables: Sequence[Variable], format: str) -> None:
    names: set[str] = set()
    sizes: dict[str, tuple[int, str]] = {}
    for variable in variables:
        if variable.name in names:
            raise ValueError(f"{variable.name!r} is given twice; give each variable once")
        names.add(variable.name)
        for dim, size in zip(variable.dims, variable.shape, strict=True):
            length, first = sizes.setdefault(dim, (size, variable.name))
            if length != size:
                raise ValueError(
                    f"dimension {dim!r} is {length} in {first!r} and {size} in {variable.name!r}; "
                    "dimensions belong to the whole file"
                )
    unlimited = {dim for variable in variables for dim in variable.unlimited}
    netcdf = format in (*CLASSIC, *NETCDF4, "nczarr")
    if empty := [dim for dim, (n, _) in sizes.items() if netcdf and not n and dim not in unlimited]:
        raise ValueError(f"dimension {empty[0]!r} is empty and cannot grow: {format!r} has no "
                         "such dimension: take hdf5 or zarr3")  # fmt: skip
    grow = ", ".join(sorted(unlimited))
    for variable in variables:
        if unlimited & set(variable.dims) != set(variable.unlimited):
            raise ValueError(
                f"{variable.name}: {grow} is unlimited in another "
                "variable; dimensions belong to the whole file: name it here too"
            )
    if unlimited and format == "binary":
        raise ValueError(f"unlimited {grow}: binary files cannot grow")
    if len(unlimited) > 1 and format in ONE_GROWS:
        raise ValueError(f"unlimited {grow}: {format!r} has one unlimited dimension")


def _check_format(variable: Variable, layout: Layout) -> None:
    allowed = _DTYPES.get(layout.format, DTYPES)
    if variable.dtype not in allowed:
        _refuse(variable, layout, f"it stores {', '.join(allowed)}", "dtype", "format")
    if layout.quantize is not None:
        mode, digits = layout.quantize
        most = {"f4": 23, "f8": 52} if mode == "bitround" else {"f4": 7, "f8": 15}
        if digits > most.get(variable.dtype, 0):
            takes = f"1 to {most[variable.dtype]}" if variable.dtype in most else "floats only"
            _refuse(variable, layout, f"{mode} takes {takes}", "quantize", "dtype")
    if "/" in variable.name and layout.format in ONE_GROWS:
        raise ValueError(f"{variable.name}: {layout.format!r} has no groups")
    grow = variable.unlimited[:1]
    if layout.format in CLASSIC and grow and grow != variable.dims[:1]:
        why = f"{grow[0]!r} must be the first: it grows along the first dimension only"
        _refuse(variable, layout, why, "dims", "format")


def _check_chunks(variable: Variable, layout: Layout) -> None:
    if not variable.dims:
        return
    if layout.chunks is None:
        if variable.unlimited and layout.format in CHUNK_CACHED:
            _refuse(variable, layout, "only chunks can grow; give chunks", "unlimited", "chunks")
        return
    for field in ("chunks", "shards"):
        lengths = getattr(layout, field)
        if lengths is not None and len(lengths) != len(variable.shape):
            why = f"give one length for each of {', '.join(variable.dims)}"
            _refuse(variable, layout, why, "shape", field)
    for dim, size, chunk in zip(variable.dims, variable.shape, layout.chunks, strict=True):
        if chunk > max(size, 1) and dim not in variable.unlimited:
            why = f"a chunk is longer than {dim!r}: give at most its length"
            _refuse(variable, layout, why, "shape", "chunks")
    chunk_bytes = math.prod(layout.chunks) * np.dtype(variable.dtype).itemsize
    limit = 2**31 if (layout.codec or "").startswith("blosc") else 2**32
    if chunk_bytes >= limit and (limit == 2**31 or layout.format in (*NETCDF4, "hdf5")):
        why = f"a chunk has {chunk_bytes} bytes; {layout.format!r} takes chunks below {limit} bytes"
        _refuse(variable, layout, why, "shape", "chunks")


_HEAD = 16  # bytes of Blosc's own, which it needs to have free in a chunk that just fits


def check_blosc(values: NDArray[Any], layout: Layout) -> None:
    """Refuse values that netCDF-C's Blosc, which must make chunks smaller, would fail on."""
    # It says so on standard error for each chunk and each attempt, and leaves a file without them.
    # HDF5 by itself and Zarr keep such a chunk as it is.
    name, _, inner = (layout.codec or "").partition("-")
    if name != "blosc" or layout.format not in NETCDF4 or layout.quantize or not layout.chunks:
        return
    from numcodecs import Blosc

    blosc = Blosc(inner, layout.effective_level, Blosc.SHUFFLE if layout.shuffle else 0)
    chunk = np.empty(layout.chunks, values.dtype)
    for box in cut([slice(0, n) for n in values.shape], layout.chunks):
        piece = values[box]
        chunk[...] = 0  # the rest of a chunk at the edge
        chunk[tuple(slice(n) for n in piece.shape)] = piece
        if len(blosc.encode(chunk)) > chunk.nbytes - _HEAD:
            raise OSError(
                "Blosc in netCDF-C fails on a chunk that it cannot make smaller: take "
                "shuffle=True, another codec, or hdf5 or zarr"
            )
