"""What libraries hold for each chunk beside its values, and how many chunks one call touches.

Small chunks cost more so than their values do: in one call HDF5 makes a selection for each chunk,
and zarr-python a task.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hyperslab.io.layout import NETCDF4

# Resident memory over the chunks of a call, of 4x4 and 5x5 float32, written and read: HDF5 6.5 to
# 6.8 kB, zarr-python 2.2 to 3.6 kB.
_HDF5_BYTES = 7_000
_ZARR_BYTES = 4_000
_INDEX_BYTES = 200  # of HDF5's index, for a chunk that was written
_MOST_INDEX_BYTES = 32 * 2**20  # HDF5's cache of its own structures grows no larger


def call_bytes(format: str) -> int:
    """Return what a library holds, in bytes, for each chunk that one call touches.

    Parameters
    ----------
    format
        One of `hyperslab.io.FORMATS`.

    Examples
    --------
    >>> call_bytes("netcdf3"), call_bytes("hdf5")
    (0, 7000)
    """
    if format in (*NETCDF4, "hdf5"):
        return _HDF5_BYTES
    return _ZARR_BYTES if format.startswith(("zarr", "nczarr")) else 0


def index_bytes(format: str, shape: Sequence[int], chunks: Sequence[int] | None) -> int:
    """Return what a library holds, in bytes, to know where the chunks are that it wrote.

    Parameters
    ----------
    format
        Of the copy.
    shape
        Of the array.
    chunks
        Lengths of a chunk; None for contiguous.

    Examples
    --------
    >>> index_bytes("netcdf4", (100, 100), (10, 10))
    20000
    """
    if chunks is None or call_bytes(format) != _HDF5_BYTES:
        return 0
    count = math.prod(-(-n // c) for n, c in zip(shape, chunks, strict=True))
    return min(count * _INDEX_BYTES, _MOST_INDEX_BYTES)


def touched(
    lengths: Sequence[int],
    chunks: Sequence[int] | None,
    shape: Sequence[int],
    steps: Sequence[int] | None = None,
    *,
    aligned: bool = False,
) -> int:
    """Return the most chunks that a block can touch, wherever it begins.

    Parameters
    ----------
    lengths
        Of the block, in elements that are taken.
    chunks
        Lengths of a chunk; None for contiguous, of which no chunk is touched.
    shape
        Of the array.
    steps
        From one element that is taken to the next, along each axis; 1 when not given.
    aligned
        Whether the block begins where a chunk does along axes on which it holds whole ones.

    Examples
    --------
    >>> touched((10, 10), (10, 5), (100, 100)), touched((10, 10), (10, 5), (100, 100), aligned=True)
    (6, 2)
    >>> touched((3, 1), (10, 5), (100, 100), (20, 1))
    3
    """
    if chunks is None:
        return 0
    total = 1
    for axis, (length, chunk, n) in enumerate(zip(lengths, chunks, shape, strict=True)):
        step = steps[axis] if steps else 1
        span = (length - 1) * step + 1
        whole = aligned and step == 1 and length % chunk == 0
        most = -(-span // chunk) if whole else (span - 2) // chunk + 2
        total *= max(min(most, length, -(-n // chunk)), 1)
    return total
