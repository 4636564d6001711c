"""Metadata of Zarr v3 arrays and groups."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import reason
from .arrays import Array

_TYPES = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def group_metadata(attrs: Mapping[str, Any], left_out: dict[str, str], path: str) -> dict[str, Any]:
    """Return the metadata of a group.

    Examples
    --------
    >>> group_metadata({"title": "x"}, {}, "")["attributes"]
    {'title': 'x'}
    """
    kept = _attributes(attrs, left_out, path)
    return {"zarr_format": 3, "node_type": "group", "attributes": kept}


def array_metadata(array: Array, left_out: dict[str, str], path: str) -> dict[str, Any]:
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
        "attributes": _attributes(array.reader.attrs, left_out, path, array.dtype),
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


def _attributes(
    attrs: Mapping[str, Any],
    left_out: dict[str, str],
    path: str,
    dtype: np.dtype[Any] | None = None,
) -> dict[str, Any]:
    """Return attributes as JSON has them; numbers lose their types there.

    `_FillValue` of an array is written as xarray does for Zarr v3: a float as base64 of its bits.
    """
    found = {}
    for name, value in attrs.items():
        try:
            fill = name == "_FillValue" and dtype is not None
            kept = _fill_value(value, dtype.kind) if fill and dtype else _plain(value)
            json.dumps(kept)
            found[name] = kept
        except Exception as error:
            left_out[f"{path}:{name}"] = f"JSON cannot hold it: {reason(error)}"
    return found


def _fill_value(value: Any, kind: str) -> Any:
    if kind == "f":
        return base64.standard_b64encode(struct.pack("<d", float(value))).decode()
    if kind == "S":
        text = value if isinstance(value, bytes) else str(value).encode()
        return base64.standard_b64encode(text).decode()
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind == "f" and value.dtype.itemsize > 8:
            value = value.astype("f8")
        return value.tolist()
    return value
