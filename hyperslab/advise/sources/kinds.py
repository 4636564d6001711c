"""Which types of values can be copied, and what the others are in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperslab.io.variable import DTYPES


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return a type's name as storage has it ("f4"), or numpy's own.

    Examples
    --------
    >>> dtype_name(np.dtype(">f4")), dtype_name(np.dtype("S3"))
    ('f4', 'S3')
    """
    return dtype.newbyteorder("=").str[1:]


def why_not(dtype: np.dtype[Any]) -> str:
    """Say why values of a type cannot be copied; "" when they can.

    Examples
    --------
    >>> why_not(np.dtype("i2"))
    ''
    >>> why_not(np.dtype([("a", "f4"), ("b", "i4")]))
    'holds records (compound values of a, b)'
    """
    if dtype.names:
        return f"holds records (compound values of {', '.join(dtype.names)})"
    if dtype.subdtype:
        return f"holds small arrays as values ({dtype})"
    if dtype.kind in "iuf" and dtype_name(dtype) in DTYPES:
        return ""
    if dtype.kind == "f":
        return f"holds {8 * dtype.itemsize}-bit floats"
    return _KINDS.get(dtype.kind, f"holds {dtype}")


TEXT = "holds text"
_KINDS = {
    "S": TEXT, "U": TEXT, "T": TEXT, "O": "holds text or lists of any length",
    "b": "holds truth values", "c": "holds complex numbers", "V": "holds opaque bytes",
    "M": "holds dates", "m": "holds spans of time",
}  # fmt: skip


def order(dtype: np.dtype[Any]) -> str:
    """Return the byte order of a type.

    Examples
    --------
    >>> order(np.dtype(">i4")), order(np.dtype("<i4"))
    ('big', 'little')
    """
    return "big" if dtype.str.startswith(">") else "little"
