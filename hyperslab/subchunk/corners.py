"""Where in the grid the chunks lie that HDF5 lists wrongly."""

from __future__ import annotations

import math

import h5py
import numpy as np
from numpy.typing import NDArray


def true_corners(dataset: h5py.Dataset, listed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of chunks in the grid, from those that HDF5 lists.

    Where exactly one dimension is unlimited, new files number the chunks with it as the slowest.
    HDF5 (1.10 to 1.14) reads by these numbers, but lists the chunks as if the dimensions were in
    their own order; so all that comes before the unlimited one is 0 in such a list.
    """
    axis = _unlimited(dataset)
    if axis <= 0 or not len(listed) or listed[:, :axis].any():
        return listed
    most = [
        1 if n is None else -(-n // c)
        for n, c in zip(dataset.maxshape, dataset.chunks, strict=True)
    ]
    if math.prod(most[:axis]) == 1:
        return listed
    later = math.prod(most[axis + 1 :])
    number = listed[:, axis] * later
    if most[axis + 1 :]:
        number += np.ravel_multi_index(tuple(listed[:, axis + 1 :].T), most[axis + 1 :])
    others = math.prod(most)
    turned = np.stack(np.unravel_index(number % others, most), axis=1).astype(np.int64)
    turned[:, axis] = number // others
    # The two agree on all chunks or differ in which there are: one place tells.
    strange = set(map(tuple, listed.tolist())) - set(map(tuple, turned.tolist()))
    return listed if not strange or _written(dataset, min(strange)) else turned


def _unlimited(dataset: h5py.Dataset) -> int:
    """Return the only unlimited dimension; -1 where there are none or more."""
    found = [axis for axis, n in enumerate(dataset.maxshape) if n is None]
    return found[0] if len(found) == 1 else -1


def _written(dataset: h5py.Dataset, place: tuple[int, ...]) -> bool:
    """Return whether there is a chunk, found as HDF5 finds it for reading."""
    corner = tuple(number * c for number, c in zip(place, dataset.chunks, strict=True))
    if any(begin >= n for begin, n in zip(corner, dataset.shape, strict=True)):
        return False
    try:
        dataset.id.read_direct_chunk(corner)
    except (OSError, ValueError, RuntimeError):
        return False
    return True
