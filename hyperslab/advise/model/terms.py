"""What the time of a read is made of: counts, each with a cost that calibration finds."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

from .geometry import Geometry, cache_bytes, geometry, kind
from .read import Read

LANES = max(os.cpu_count() or 1, 1)
HUGE_BYTES = 4 * 2**20  # from here on numpy asks for huge pages, which cost far fewer faults

THREADED = ("zarr", "xarray-zarr", "kerchunk", "subchunk")
"""Readers that decode chunks on all cores."""

ENGINES = {
    "netcdf4": "netCDF4",
    "netcdf-c": "netCDF4",
    "xarray-netcdf4": "netCDF4",
    "h5py": "h5py",
    "h5netcdf": "h5py",
    "xarray-h5netcdf": "h5py",
    "zarr": "zarr",
    "xarray-zarr": "zarr",
    "kerchunk": "zarr",
    "subchunk": "subchunk",
    "plain": "plain",
}
"""What decodes chunks for a library: those of one engine share the cost of it."""


ALIKE = {"h5py-none": "h5py", "h5py-64k": "h5py", "h5py-blocks": "h5py", "kerchunk": "zarr"}
"""Readers that do the same work as another, and differ in what they fetch."""

BELOW = {
    "h5netcdf": "h5py",
    "xarray-h5netcdf": "h5py",
    "xarray-netcdf4": "netcdf4",
    "xarray-zarr": "zarr",
}
"""Readers that read through another: a call costs them more, all else the same."""


def path(read: Read) -> str:
    """Return which library reads which way: a call of it has a cost of its own.

    References (kerchunk's) are read by zarr-python.
    """
    kinds = "zarr" if read.library == "kerchunk" else kind(read)
    if read.library == "subchunk" and read.layout.codec is not None:
        kinds = "inside"  # of chunks: a way of its own
    return f"{ALIKE.get(read.library, read.library)}/{kinds}"


def worker(read: Read) -> str:
    """Return which library does the work, and which way."""
    library, _, way = path(read).partition("/")
    return f"{BELOW.get(library, library)}/{way}"


def codec(read: Read) -> str:
    """Return the engine and codec that decode, with the shuffle; "" where nothing is decoded."""
    layout = read.layout
    if layout.codec is None:
        return ""
    shuffled = "+shuffle" if layout.shuffle else ""
    engine = ENGINES.get(ALIKE.get(read.library, read.library), read.library)
    return f"{engine}/{layout.codec}{shuffled}"


def terms(read: Read, counts: Geometry | None = None) -> dict[str, float]:
    """Return the counts that make up the time of a read, by the name of their cost.

    Names are `path:count` for what the library does, and `codec:count` for decoding.
    """
    found = geometry(read) if counts is None else counts
    way, own, decoder = worker(read), path(read), codec(read)
    small = found.useful_bytes / found.calls < HUGE_BYTES
    result = {
        f"{own}:first": 1.0,
        f"{own}:again": found.calls - 1.0,
        f"{way}:run": float(found.runs),
        f"{way}:step": float(found.steps),
        f"{way}:{'small' if small else 'large'}": float(found.useful_bytes),
        f"{way}:chunk": float(found.chunks),
    }
    if read.library == "subchunk" or not found.chunks:
        result[f"{way}:request"] = float(found.requests)
    else:
        held = cache_bytes(read)
        result[f"{way}:new"] = float(min(found.decoded_bytes, held or found.decoded_bytes))
    if not decoder:
        result[f"{way}:raw"] = float(found.stored_bytes)
    else:
        share = shared(read, found)
        result[f"{way}, {decoder.partition('/')[2].partition('+')[0]}:load"] = 1.0
        result[f"{decoder}:each"] = share * found.fetched
        result[f"{decoder}:out"] = share * found.decoded_bytes
        result[f"{decoder}:in"] = share * found.stored_bytes
    return {name: value for name, value in result.items() if value}


def summed(counts: Mapping[str, float], costs: Mapping[str, float]) -> float:
    """Return the seconds of counts.

    Examples
    --------
    >>> summed({"a:run": 3.0, "a:large": 1e6}, {"a:run": 1.0, "a:small": 1e-6})
    4.0
    """
    return sum(number * cost_of(name, costs) for name, number in counts.items())


def cost_of(name: str, costs: Mapping[str, float]) -> float:
    """Return one cost: where no large result was timed, large ones cost what small ones do."""
    if name not in costs and name.endswith(":large"):
        name = name.removesuffix("large") + "small"
    return costs.get(name, 0.0)


def shared(read: Read, found: Geometry) -> float:
    """Return the share of the decoding that one core does, of libraries that use all of them."""
    if read.library not in THREADED or not found.fetched:
        return 1.0
    each = max(found.fetched // found.calls, 1)
    return math.ceil(each / LANES) / each


def disk_terms(read: Read, counts: Geometry | None = None) -> dict[str, float]:
    """Return the counts that make up what a cold read takes beyond a warm one.

    What is read bit by bit comes ahead of being asked for, beside the work, and beyond the end.
    """
    found = geometry(read) if counts is None else counts
    store = "disk, files" if kind(read) == "zarr" else "disk"
    streamed = found.requests >= 2 * found.extents
    return {
        f"{store}:extent": float(found.extents),
        f"{store}:{'stream' if streamed else 'byte'}": float(found.span_bytes),
        f"{store}:tail": float(found.extents) if streamed else 0.0,
    }


def regimes(read: Read) -> tuple[str, ...]:
    """Return the names of the regimes that a read belongs to, the narrowest first.

    Examples
    --------
    >>> from hyperslab.io import Layout
    >>> regimes(Read((9,), "f4", Layout("netcdf3"), (...,), "netcdf4", cache="cold"))
    ('netcdf4/classic, cold', 'netcdf4/classic', '')
    """
    way = f"{path(read)}{', ' + codec(read).partition('/')[2] if codec(read) else ''}"
    return (f"{way}, {read.cache}", way, "")
