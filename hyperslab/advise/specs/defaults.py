"""The chunks that the libraries pick by themselves, as they themselves say."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np

from hyperslab.io.layout import ZARR


def default_chunks(
    format: str, shape: Sequence[int], dtype: str, unlimited: Collection[int] = ()
) -> tuple[int, ...]:
    """Return the chunks that the library of a format picks when it must chunk.

    Asked of the library itself, in memory: netCDF-C for netCDF-4 (with deflate, so that it chunks
    arrays that could be contiguous), h5py for HDF5, zarr for Zarr.

    Parameters
    ----------
    format
        A format with chunks.
    shape
        Shape of the variable, in elements.
    dtype
        Its type, such as "f4".
    unlimited
        Which axes can grow.

    Source: netCDF-C 4.6.2, "The Default Chunking Scheme".

    Examples
    --------
    >>> default_chunks("netcdf4", (3162, 3162), "i4")
    (1581, 1581)
    >>> default_chunks("netcdf4", (7, 50, 80), "f4", unlimited=[1])
    (7, 1, 80)
    """
    # What is copied into Zarr has dimensions of fixed length.
    grows = frozenset() if format in ZARR else frozenset(unlimited)
    return _ask(format, tuple(int(n) for n in shape), dtype, grows)


@lru_cache(maxsize=256)
def _ask(format: str, shape: tuple[int, ...], dtype: str, grows: frozenset[int]) -> tuple[int, ...]:
    if not shape or 0 in shape:
        return tuple(max(n, 1) for n in shape)
    if format in ZARR and format != "nczarr":
        return _zarr(shape, dtype)
    return _hdf5(shape, dtype) if format == "hdf5" else _netcdf(shape, dtype, grows)


def _netcdf(shape: tuple[int, ...], dtype: str, grows: frozenset[int]) -> tuple[int, ...]:
    import netCDF4

    with netCDF4.Dataset("chunks", "w", diskless=True, persist=False) as file:
        dims = [f"d{axis}" for axis in range(len(shape))]
        for axis, (dim, n) in enumerate(zip(dims, shape, strict=True)):
            file.createDimension(dim, None if axis in grows else n)
        picked = file.createVariable("v", np.dtype(dtype), dims, zlib=True).chunking()
    return tuple(int(n) for n in picked)


def _hdf5(shape: tuple[int, ...], dtype: str) -> tuple[int, ...]:
    import h5py

    with h5py.File("chunks", "w", driver="core", backing_store=False) as file:
        picked = file.create_dataset("v", shape, dtype, chunks=True).chunks
    return tuple(int(n) for n in picked)


def _zarr(shape: tuple[int, ...], dtype: str) -> tuple[int, ...]:
    import zarr

    array = zarr.create_array({}, shape=shape, dtype=dtype, chunks="auto")
    return tuple(int(n) for n in array.chunks)
