"""Chunks at the edge of a variable that HDF5 stores without the filters, and does not say so."""

from __future__ import annotations

from math import prod

import h5py
import numpy as np
from numpy.typing import NDArray


def filter_masks(
    dataset: h5py.Dataset,
    places: NDArray[np.int64],
    sizes: NDArray[np.uint64],
    masks: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    """Return which filters chunks skip, partial ones that HDF5 left unfiltered included.

    A file can ask for that (``H5Pset_chunk_opts``). The mask of such a chunk is 0 all the same; it
    has the length of a chunk, and its bytes are the values that HDF5 reads.
    """
    filters = dataset.id.get_create_plist().get_nfilters()
    whole = prod(dataset.chunks) * dataset.id.get_type().get_size()
    room = np.array(dataset.shape, np.int64) - places * np.array(dataset.chunks, np.int64)
    partial = (room < np.array(dataset.chunks)).any(axis=1)
    found = masks.copy()
    for row in np.flatnonzero(partial & (sizes == whole) & (masks == 0)) if filters else ():
        if _as_stored(dataset, tuple(places[row].tolist())):
            found[row] = 2**filters - 1
    return found


def _as_stored(dataset: h5py.Dataset, place: tuple[int, ...]) -> bool:
    """Return whether the stored bytes of a chunk are the values that HDF5 reads."""
    corner = tuple(number * length for number, length in zip(place, dataset.chunks, strict=True))
    box = tuple(slice(at, at + n) for at, n in zip(corner, dataset.chunks, strict=True))
    try:
        values = dataset[box]
        stored = dataset.id.read_direct_chunk(corner)[1]
    except OSError:  # it is damaged, which is said where it is read
        return False
    if prod(dataset.chunks) * values.itemsize != len(stored):
        return False
    raw = np.frombuffer(stored, values.dtype).reshape(dataset.chunks)
    inside = raw[tuple(slice(n) for n in values.shape)]
    return bool(inside.tobytes() == values.tobytes())
