"""What Blosc cannot make smaller, which netCDF-C then cannot write."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.storage.layout import Layout

_FORMATS = ("netcdf4", "netcdf4-classic")
_HEAD = 16  # bytes of Blosc's own, which it needs to have free in a chunk that just fits


def check_blosc(values: NDArray[Any], layout: Layout) -> None:
    """Refuse values that netCDF-C would fail on when it flushes them.

    Its Blosc filter takes no chunk that does not become smaller, says so on standard error for
    each chunk and each attempt until the process ends, and leaves a file without them. HDF5 by
    itself and Zarr keep such a chunk as it is: other layouts are let through, and rounded values.

    Raises
    ------
    OSError
        When there is such a chunk.

    Examples
    --------
    >>> layout = Layout("netcdf4", chunks=(100,), codec="blosc-lz4")
    >>> check_blosc(np.arange(200), layout)
    >>> check_blosc(np.random.default_rng(0).random(200), layout)
    Traceback (most recent call last):
    OSError: Blosc in netCDF-C fails on a chunk that it cannot make smaller: take shuffle=True, ...
    """
    name, _, inner = (layout.codec or "").partition("-")
    if name != "blosc" or layout.format not in _FORMATS or layout.quantize or not layout.chunks:
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
