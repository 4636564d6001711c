"""Arrays whose elements are numbered one after another."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_PIECE = 2**16  # elements that stay in the processor's cache


def counts_from(first: int, array: NDArray[Any]) -> bool:
    """Return whether an array's elements are numbered from one on, compared in pieces.

    Examples
    --------
    >>> counts_from(3, np.array([[3, 4], [5, 6]])), counts_from(3, np.array([3, 5]))
    (True, False)
    """
    flat = array.ravel()
    return all(
        np.array_equal(part, np.arange(first + at, first + at + part.size, dtype=part.dtype))
        for at in range(0, flat.size, _PIECE)
        for part in [flat[at : at + _PIECE]]
    )
