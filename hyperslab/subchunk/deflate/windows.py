"""Keep of a window only what the data behind it refers to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .inflate import WINDOW, inflate_from

_PLACES = np.arange(WINDOW)
_LOW = (_PLACES & 255).astype(np.uint8).tobytes()
_HIGH = (_PLACES >> 8).astype(np.uint8).tobytes()
_TWINS = np.arange(128) * 257  # places whose two bytes are equal


def referred(
    data: memoryview,
    shift: int,
    header: tuple[int, int],
    window: NDArray[np.uint8],
    truth: NDArray[np.uint8],
) -> NDArray[np.bool_]:
    """Return which bytes of a window decompression looks at.

    The data is decompressed twice with dictionaries that hold their own positions, so that the
    output tells which of them it was copied from.

    Parameters
    ----------
    data, shift, header
        As for `inflate_from`.
    window : numpy.ndarray
        uint8 of shape (32768,): the output before the place, zeros in front where there is less.
    truth : numpy.ndarray
        uint8, at most 32768 bytes of output behind the place; nothing beyond refers back so far.

    Returns
    -------
    numpy.ndarray
        bool of shape (32768,).
    """
    low, high = (
        np.frombuffer(inflate_from(data, shift, header, marks, truth.size), np.uint8)
        for marks in (_LOW, _HIGH)
    )
    used = np.zeros(WINDOW, bool)
    copied = (low != truth) | (high != truth)
    places = low[copied].astype(np.intp) | (high[copied].astype(np.intp) << 8)
    used[places] = True
    # A byte copied from a place whose number is the byte twice over looks like no copy at all.
    used[_TWINS[window[_TWINS] == _TWINS & 255]] = True
    return used
