"""Metadata of Zarr v3 arrays and groups."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from .arrays import Array

_TYPES = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def group_metadata(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a group.

    Examples
    --------
    >>> group_metadata({"title": "x"})["attributes"]
    {'title': 'x'}
    """
    return {"zarr_format": 3, "node_type": "group", "attributes": _attributes(attrs)}


def array_metadata(array: Array) -> dict[str, Any]:
    """Return the metadata of an array: chunks are uncompressed, little-endian."""
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(array.shape),
        "data_type": _type(array),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(array.chunks)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": _fill(array),
        "codecs": [_codec(array)],
        "attributes": _attributes(array.reader.attrs, array.dtype),
        "dimension_names": list(array.dims),
        "storage_transformers": [],
    }


def _type(array: Array) -> Any:
    if array.text:
        return "string"
    if array.dtype.kind == "S":
        return {"name": "null_terminated_bytes", "configuration": {"length_bytes": array.width}}
    name = _TYPES[array.dtype.kind]
    return name if name == "bool" else f"{name}{array.width * 8}"


def _codec(array: Array) -> dict[str, Any]:
    if array.text:
        return {"name": "vlen-utf8"}
    if array.width == 1 or array.dtype.kind == "S":
        return {"name": "bytes"}
    return {"name": "bytes", "configuration": {"endian": "little"}}


def _fill(array: Array) -> Any:
    value = array.fill
    if array.text:
        return ""
    if isinstance(value, bytes):
        return base64.standard_b64encode(value).decode()
    if array.dtype.kind == "c":
        return [_number(float(value.real)), _number(float(value.imag))]
    return _number(value.item())


def _number(value: Any) -> Any:
    """Return a number as Zarr writes it: JSON has no word for what is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _attributes(attrs: Mapping[str, Any], dtype: np.dtype[Any] | None = None) -> dict[str, Any]:
    """Return attributes as JSON has them; numbers lose their types there.

    `_FillValue` of an array is written as xarray does for Zarr v3: a float as base64 of its bits.
    """
    found = {name: _plain(value) for name, value in attrs.items()}
    if dtype is not None and "_FillValue" in attrs:
        value = attrs["_FillValue"]
        if dtype.kind == "f":
            bits = struct.pack("<d", float(value))
            found["_FillValue"] = base64.standard_b64encode(bits).decode()
        elif dtype.kind == "S":
            text = value if isinstance(value, bytes) else str(value).encode()
            found["_FillValue"] = base64.standard_b64encode(text).decode()
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value
