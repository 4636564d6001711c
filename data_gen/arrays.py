"""Integer arrays whose every element is its own number: cheap to make, and to check anywhere."""

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

# Lee et al. (2008), Table 1: shapes of the small and of the large arrays, by dimensions.
SMALL: Mapping[int, tuple[int, ...]] = MappingProxyType(
    {1: (262144,), 2: (512,) * 2, 3: (64,) * 3, 4: (22,) * 4, 5: (12,) * 5, 6: (8,) * 6}
)
LARGE: Mapping[int, tuple[int, ...]] = MappingProxyType(
    {1: (10_000_000,), 2: (3162,) * 2, 3: (215,) * 3, 4: (56,) * 4, 5: (25,) * 5, 6: (14,) * 6}
)
SQUARE = (3162, 3162)  # section 5.1, chunk sizes
COLUMNS = (16384, 512)  # section 4.1, access to a column


def values(
    shape: tuple[int, ...],
    selection: tuple[slice | int, ...] = (),
    dtype: str = "i4",
) -> np.ndarray:
    """Return part of the array whose element at flat index i is i.

    Parameters
    ----------
    shape : tuple of int
        Shape of the whole array.
    selection : tuple of slices and whole numbers
        The part wanted; axes left out are taken whole.
    dtype : str
        Type of the values; integers wrap at its largest value plus one.

    Returns
    -------
    array of the selection's shape

    Raises
    ------
    IndexError
        When an index lies outside the shape.

    Source
    ------
    Lee et al. (2008), Table 1.

    Examples
    --------
    >>> values((3, 4), (slice(1, 3), 2)).tolist()
    [6, 10]
    >>> int(values(LARGE[6], (13,) * 6)) == 14**6 - 1
    True
    """
    kind = np.dtype(dtype)
    if not selection and (kind.kind == "f" or math.prod(shape) <= np.iinfo(kind).max):
        return np.arange(math.prod(shape), dtype=kind).reshape(shape)
    total = np.zeros((), "i8")
    chosen = (*selection, *[slice(None)] * (len(shape) - len(selection)))
    for axis, (length, part) in enumerate(zip(shape, chosen, strict=True)):
        step = math.prod(shape[axis + 1 :])
        total = np.add.outer(total, np.arange(length, dtype="i8")[part] * step)
    if kind.kind in "iu" and math.prod(shape) > np.iinfo(kind).max:
        total %= int(np.iinfo(kind).max) + 1
    return total.astype(kind)
