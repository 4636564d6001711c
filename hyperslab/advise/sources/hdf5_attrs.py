"""Attributes of HDF5 as plain numbers and texts, without those of netCDF-C's own."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np

OWN_ATTRIBUTES = {
    "_NCProperties", "_Netcdf4Coordinates", "_Netcdf4Dimid", "_nc3_strict", "CLASS", "NAME",
    "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS", "_NCCOPY",
}  # fmt: skip


def plain_attrs(item: Any) -> dict[str, object]:
    """Return attributes as numbers, text, or arrays and lists of them; others are left out."""
    found: dict[str, object] = {}
    for name in item.attrs:
        if name in OWN_ATTRIBUTES:
            continue
        try:
            value = item.attrs[name]
        except (OSError, TypeError, RuntimeError):
            continue  # of a type that has no counterpart here
        if (plain := _plain(value)) is not None:
            found[name] = plain
    return found


def _plain(value: object) -> object:
    if isinstance(value, h5py.Empty):
        return ""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, str) or np.isscalar(value):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "iuf":
            return value.reshape(-1)[0] if value.size == 1 else value
        if value.dtype.kind in "SUO":
            texts = [v.decode(errors="replace") if isinstance(v, bytes) else v for v in value.flat]
            if all(isinstance(text, str) for text in texts):
                return texts[0] if len(texts) == 1 else texts
        if value.dtype.kind == "b":
            return value.astype("i1")
    return None
