"""Whether variables, layouts and a format fit each other, before anything is created."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layout import CLASSIC, NETCDF4, Layout
from .variable import DTYPES, Variable

_CLASSIC_DTYPES = ("i1", "i2", "i4", "f4", "f8")
_DTYPES = {"netcdf3": _CLASSIC_DTYPES, "netcdf3-64bit": _CLASSIC_DTYPES}
_DTYPES["netcdf4-classic"] = _CLASSIC_DTYPES

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
    layouts = _layouts(variables, layout)
    file = layouts[variables[0].name]
    for name, other in layouts.items():
        for field in ("format", "page_bytes"):
            mine, known = getattr(other, field), getattr(file, field)
            if mine != known:
                raise ValueError(f"{name}: {field} {mine!r} beside {known!r}: the file has one")
    if chunk_cache_bytes is not None:
        if file.format not in CHUNK_CACHED:
            raise ValueError(
                f"chunk_cache_bytes={chunk_cache_bytes} with format {file.format!r}: "
                "only netcdf4, netcdf4-classic, hdf5, nczarr have a chunk cache; leave it out"
            )
        if chunk_cache_bytes < 0:
            raise ValueError(f"chunk_cache_bytes={chunk_cache_bytes}: give bytes, at least 0")
    _check_coordinates(coordinates)
    plain = Layout(**{field: getattr(file, field) for field in _OF_THE_FILE})
    placed = [] if file.format == "binary" else [(v, plain) for v, _ in coordinates.values()]
    placed += [(variable, layouts[variable.name]) for variable in variables]
    _check_dims([variable for variable, _ in placed], file.format)
    for variable, chosen in placed:
        _check_format(variable, chosen)
    for variable in variables:
        _check_chunks(variable, layouts[variable.name])
    return placed


def _layouts(
    variables: Sequence[Variable], layout: Layout | Mapping[str, Layout]
) -> dict[str, Layout]:
    names = [variable.name for variable in variables]
    if isinstance(layout, Layout):
        return dict.fromkeys(names, layout)
    if set(layout) != set(names):
        raise ValueError(
            f"layouts for {', '.join(layout)} with variables {', '.join(names)}; "
            "give one for each variable and no more"
        )
    return {name: layout[name] for name in names}


def _check_coordinates(coordinates: Mapping[str, tuple[Variable, NDArray[Any]]]) -> None:
    for name, (variable, values) in coordinates.items():
        if variable.name != name:
            raise ValueError(f"coordinate {name!r} holds the variable {variable.name!r}")
        if np.shape(values) != variable.shape:
            raise ValueError(
                f"coordinate {name!r}: values of shape {np.shape(values)} "
                f"for a variable of shape {variable.shape}"
            )


def _check_dims(variables: Sequence[Variable], format: str) -> None:
    names: set[str] = set()
    sizes: dict[str, tuple[int, str]] = {}
    for variable in variables:
        if variable.name in names:
            raise ValueError(f"{variable.name!r} is given twice; give each variable once")
        names.add(variable.name)
        for dim, size in zip(variable.dims, variable.shape, strict=True):
            known, first = sizes.setdefault(dim, (size, variable.name))
            if known != size:
                raise ValueError(
                    f"dimension {dim!r} is {known} in {first!r} and {size} in {variable.name!r}; "
                    "dimensions belong to the whole file"
                )
    unlimited = {dim for variable in variables for dim in variable.unlimited}
    for variable in variables:
        if unlimited & set(variable.dims) != set(variable.unlimited):
            raise ValueError(
                f"{variable.name}: {', '.join(sorted(unlimited))} is unlimited in another "
                "variable; dimensions belong to the whole file: name it here too"
            )
    if unlimited and format == "binary":
        raise ValueError(f"unlimited {', '.join(sorted(unlimited))}: binary files cannot grow")
    if len(unlimited) > 1 and format in (*CLASSIC, "netcdf4-classic"):
        raise ValueError(
            f"unlimited {', '.join(sorted(unlimited))}: {format!r} has one unlimited dimension"
        )


def _check_format(variable: Variable, layout: Layout) -> None:
    allowed = _DTYPES.get(layout.format, DTYPES)
    if variable.dtype not in allowed:
        raise ValueError(
            f"{variable.name}: dtype {variable.dtype!r} with format {layout.format!r}; "
            f"it stores {', '.join(allowed)}"
        )
    if layout.quantize is not None:
        mode, digits = layout.quantize
        most = {"f4": 23, "f8": 52} if mode == "bitround" else {"f4": 7, "f8": 15}
        if digits > most.get(variable.dtype, 0):
            takes = f"1 to {most[variable.dtype]}" if variable.dtype in most else "floats only"
            raise ValueError(
                f"{variable.name}: quantize={layout.quantize} with dtype {variable.dtype!r}; "
                f"{mode} takes {takes}"
            )
    if "/" in variable.name and layout.format in (*CLASSIC, "netcdf4-classic"):
        raise ValueError(f"{variable.name}: {layout.format!r} has no groups")
    if (
        layout.format in CLASSIC
        and variable.unlimited
        and variable.unlimited[0] != variable.dims[0]
    ):
        raise ValueError(
            f"{variable.name}: {variable.unlimited[0]!r} must be the first of {variable.dims}: "
            f"{layout.format!r} grows along the first dimension only"
        )


def _check_chunks(variable: Variable, layout: Layout) -> None:
    if not variable.dims:
        return
    if layout.chunks is None:
        if variable.unlimited and layout.format in (*NETCDF4, "hdf5", "nczarr"):
            raise ValueError(
                f"{variable.name}: shape {variable.shape}, unlimited "
                f"{', '.join(variable.unlimited)}, chunks None: only chunks can grow; give chunks"
            )
        return
    for field in ("chunks", "shards"):
        lengths = getattr(layout, field)
        if lengths is not None and len(lengths) != len(variable.shape):
            raise ValueError(
                f"{variable.name}: shape {variable.shape} with {field} {lengths}; "
                f"give one length for each of {', '.join(variable.dims)}"
            )
    for dim, size, chunk in zip(variable.dims, variable.shape, layout.chunks, strict=True):
        if chunk > max(size, 1) and dim not in variable.unlimited:
            raise ValueError(
                f"{variable.name}: shape {variable.shape} with chunks {layout.chunks}; "
                f"a chunk is longer than {dim!r}: give at most its length"
            )
    chunk_bytes = math.prod(layout.chunks) * np.dtype(variable.dtype).itemsize
    limit = 2**31 if (layout.codec or "").startswith("blosc") else 2**32
    if chunk_bytes >= limit and (limit == 2**31 or layout.format in (*NETCDF4, "hdf5")):
        raise ValueError(
            f"{variable.name}: shape {variable.shape} with chunks {layout.chunks} of "
            f"{chunk_bytes} bytes; {layout.format!r} takes chunks below {limit} bytes"
        )


_HEAD = 16  # bytes of Blosc's own, which it needs to have free in a chunk that just fits


def check_blosc(values: NDArray[Any], layout: Layout) -> None:
    """Refuse values that netCDF-C would fail on when it flushes them.

    Its Blosc filter takes no chunk that does not become smaller, says so on standard error for
    each chunk and each attempt until the process ends, and leaves a file without them. HDF5 by
    itself and Zarr keep such a chunk as it is: other layouts are let through, and rounded values.
    """
    name, _, inner = (layout.codec or "").partition("-")
    if name != "blosc" or layout.format not in NETCDF4 or layout.quantize or not layout.chunks:
        return
    from numcodecs import Blosc

    chunks = layout.chunks
    blosc = Blosc(inner, layout.effective_level, Blosc.SHUFFLE if layout.shuffle else 0)
    grid = [-(-n // chunk) for n, chunk in zip(values.shape, chunks, strict=True)]
    whole = np.empty(chunks, values.dtype)
    for place in np.ndindex(*grid):
        first = [i * chunk for i, chunk in zip(place, chunks, strict=True)]
        part = values[tuple(slice(i, i + n) for i, n in zip(first, chunks, strict=True))]
        whole[...] = 0  # the rest of a chunk at the edge
        whole[tuple(slice(n) for n in part.shape)] = part
        if len(blosc.encode(whole)) > whole.nbytes - _HEAD:
            raise OSError(
                "Blosc in netCDF-C fails on a chunk that it cannot make smaller: take "
                "shuffle=True, another codec, or hdf5 or zarr"
            )
