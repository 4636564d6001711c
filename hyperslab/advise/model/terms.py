"""What the time of a read is made of: counts, each with a cost that calibration finds."""

from __future__ import annotations

from .geometry import Geometry, cache_bytes, geometry, kind
from .read import Read

HUGE_BYTES = 4 * 2**20  # from here on numpy asks for huge pages, which cost far fewer faults

ENGINES = {
    "netcdf4": "netCDF4",
    "netcdf-c": "netCDF4",
    "xarray-netcdf4": "netCDF4",
    "h5py": "h5py",
    "h5netcdf": "h5py",
    "xarray-h5netcdf": "h5py",
    "zarr": "zarr",
    "xarray-zarr": "zarr",
    "subchunk": "subchunk",
    "plain": "plain",
}
"""What decodes chunks for a library: those of one engine share the cost of it."""


def path(read: Read) -> str:
    """Return which library reads which way: these have costs of their own."""
    return f"{read.library}/{kind(read)}"


def codec(read: Read) -> str:
    """Return the engine and codec that decode, with the shuffle; "" where nothing is decoded."""
    layout = read.layout
    if layout.codec is None:
        return ""
    shuffled = "+shuffle" if layout.shuffle else ""
    return f"{ENGINES[read.library]}/{layout.codec}{shuffled}"


def terms(read: Read, counts: Geometry | None = None) -> dict[str, float]:
    """Return the counts that make up the time of a read, by the name of their cost.

    Names are `path:count` for what the library does, and `codec:count` for decoding.
    """
    found = geometry(read) if counts is None else counts
    way, decoder = path(read), codec(read)
    small = found.useful_bytes / found.calls < HUGE_BYTES
    result = {
        f"{way}:first": 1.0,
        f"{way}:again": found.calls - 1.0,
        f"{way}:run": float(found.runs),
        f"{way}:{'small' if small else 'large'}": float(found.useful_bytes),
    }
    if kind(read) in ("chunked", "zarr"):
        held = cache_bytes(read)
        new = min(found.decoded_bytes, held) if held else found.decoded_bytes
        result[f"{way}:chunk"] = float(found.chunks)
        result[f"{way}:new"] = float(new)
        if not decoder:
            result[f"{way}:raw"] = float(found.stored_bytes)
    else:
        result[f"{way}:request"] = float(found.requests)
        result[f"{way}:raw"] = float(found.stored_bytes)
    if decoder:
        result[f"{decoder}:load"] = 1.0
        result[f"{decoder}:out"] = float(found.decoded_bytes)
        result[f"{decoder}:in"] = float(found.stored_bytes)
    return {name: value for name, value in result.items() if value}
