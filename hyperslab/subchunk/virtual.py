"""Variables of a file as Zarr v3 arrays with a grid of chunks of one's own."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numcodecs.vlen import VLenUTF8
from numpy.typing import NDArray

from .errors import UnreadableError, reason
from .names import Contents, PaddedReader, texts
from .variable import VariableReader

Grid = int | Sequence[int] | Mapping[str, int]

_CHUNK_BYTES = 2**24  # of variables that have no chunks in the file
_TEXT_BYTES = 16  # what a text is taken to need, when a grid is chosen
_TYPES = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


@dataclass(frozen=True)
class Array:
    """A variable with the grid it is given out in."""

    reader: VariableReader | PaddedReader
    dims: tuple[str, ...]  # a name for every dimension
    chunks: tuple[int, ...]  # shape of a chunk; no length is 0
    text: bool  # whether its values are texts of any length

    @property
    def shape(self) -> tuple[int, ...]:
        return self.reader.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of what is given out, little-endian."""
        return np.dtype(object) if self.text else self.reader.dtype.newbyteorder("<")

    @property
    def fill(self) -> Any:
        """The value of what was never written."""
        if self.text:
            return ""
        return self.reader.variable.fill_value if self.reader.variable.dtype else b""

    @property
    def grid(self) -> tuple[int, ...]:
        return tuple(-(-n // c) for n, c in zip(self.shape, self.chunks, strict=True))

    def read(self, corner: tuple[int, ...]) -> bytes:
        """Return a chunk, uncompressed; what of it lies outside of the variable is filled."""
        begins = [place * length for place, length in zip(corner, self.chunks, strict=True)]
        wanted = tuple(
            slice(begin, min(begin + length, n))
            for begin, length, n in zip(begins, self.chunks, self.shape, strict=True)
        )
        found: NDArray[Any] = np.asarray(self.reader[wanted], self.dtype)
        if found.shape != self.chunks:
            whole = np.full(self.chunks, self.fill, self.dtype)
            whole[tuple(slice(n) for n in found.shape)] = found
            found = whole
        if not self.text:
            return found.tobytes()
        try:
            decoded = [v.decode() if isinstance(v, bytes) else v for v in found.flat]
            return bytes(VLenUTF8().encode(np.array(decoded, object)))
        except UnicodeDecodeError:
            what = f"{self.reader.variable.name} has texts that are no UTF-8"
            raise UnreadableError(
                f"{what}, which Zarr cannot hold: hyperslab.subchunk.open reads them"
            ) from None

    def metadata(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        """Return what Zarr says of it: chunks are uncompressed, little-endian."""
        codec: dict[str, Any] = {"name": "vlen-utf8" if self.text else "bytes"}
        if not self.text and self.dtype.itemsize > 1 and self.dtype.kind != "S":
            codec["configuration"] = {"endian": "little"}
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": list(self.shape),
            "data_type": self._type(),
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(self.chunks)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": self._fill(),
            "codecs": [codec],
            "attributes": attrs,
            "dimension_names": list(self.dims),
            "storage_transformers": [],
        }

    def _type(self) -> Any:
        if self.text:
            return "string"
        width = self.dtype.itemsize
        if self.dtype.kind == "S":
            return {"name": "null_terminated_bytes", "configuration": {"length_bytes": width}}
        name = _TYPES[self.dtype.kind]
        return name if name == "bool" else f"{name}{width * 8}"

    def _fill(self) -> Any:
        value = self.fill
        if self.text:
            return ""
        if isinstance(value, bytes):
            return base64.standard_b64encode(value).decode()
        if self.dtype.kind == "c":
            return [_number(float(value.real)), _number(float(value.imag))]
        return _number(value.item())


def arrays(held: Contents, chunks: Mapping[str, Grid]) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the variables of a file in grids of chunks, and why others are left out."""
    if not isinstance(chunks, Mapping):
        raise ValueError(
            f"chunks are {chunks!r}: give numbers by the names of dimensions or variables, such "
            'as {"time": -1, "lat": 100}'
        )
    found: dict[str, Array] = {}
    left_out = dict(held.left_out)
    known = set(left_out)
    for shown in (shown for group in held.variables.values() for shown in group):
        name = f"{shown.group}/{shown.name}" if shown.group else shown.name
        known.update([name, *shown.dims])
        reader, dims, dtype = shown.reader, shown.dims, shown.reader.dtype
        text = texts(dtype)
        sizes = (1, 2, 4, 8, 16) if dtype.kind == "c" else (1, 2, 4, 8)
        fits = dtype.itemsize in sizes if dtype.kind in "biufc" else dtype.kind == "S"
        if "\\" in name:
            left_out[name] = "Zarr takes \\ for /"
        elif text or (fits and dtype.itemsize):
            found[name] = Array(reader, dims, _chunks(name, reader, dims, chunks), text)
        else:
            left_out[name] = f"Zarr has no type for {dtype}"
    if unknown := [name for name in chunks if name not in known]:
        raise ValueError(
            f"chunks name {unknown[0]!r}, which is no variable and no dimension of the file: it "
            f"has {', '.join(sorted(known))}"
        )
    return found, left_out


def _chunks(
    name: str,
    reader: VariableReader | PaddedReader,
    dims: tuple[str, ...],
    asked: Mapping[str, Any],
) -> tuple[int, ...]:
    own, given = asked.get(name), [asked.get(dim) for dim in dims]
    if isinstance(own, Mapping):
        if strange := [dim for dim in own if dim not in dims]:
            raise ValueError(f"chunks of {name} name {strange[0]!r}: its dimensions are {dims}")
        given = [own.get(dim, length) for dim, length in zip(dims, given, strict=True)]
    elif isinstance(own, int):
        if name not in dims:  # else it is a coordinate: its name is the dimension's too
            raise ValueError(
                f"chunks of {name} are {own}: give a shape, or lengths by names of dimensions"
            )
    elif own is not None:
        given = list(own)
        if len(given) != len(dims):
            raise ValueError(
                f"chunks of {name} are {tuple(own)}: it has {len(dims)} dimensions, {dims}"
            )
    lengths = []
    default = reader.chunks or _default(reader)
    for dim, length, kept, n in zip(dims, given, default, reader.shape, strict=True):
        chosen = kept if length is None else n if length == -1 else length
        whole = isinstance(chosen, int | np.integer) and not isinstance(chosen, bool)
        if not whole or chosen < min(n, 1):
            raise ValueError(
                f"chunks of {name} along {dim} are {chosen!r}: give 1 to {n}, or -1 for all"
            )
        lengths.append(max(1, min(int(chosen), n)))
    return tuple(lengths)


def _default(reader: VariableReader | PaddedReader) -> tuple[int, ...]:
    """Return chunks for a variable that has none: whole rows, as many as fit."""
    left = _CHUNK_BYTES // (_TEXT_BYTES if reader.dtype.kind == "O" else reader.dtype.itemsize)
    lengths = []
    for place, n in enumerate(reader.shape):
        below = math.prod(reader.shape[place + 1 :])
        lengths.append(max(1, min(n, left // max(1, below))))
    return tuple(lengths)


def _number(value: Any) -> Any:
    """Return a number as Zarr writes it: JSON has no word for what is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def json_attributes(
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
            kind = dtype.kind if dtype is not None and name == "_FillValue" else ""
            kept = _plain(value)
            if kind == "f":
                kept = base64.standard_b64encode(struct.pack("<d", float(value))).decode()
            elif kind == "S":
                text = value if isinstance(value, bytes) else str(value).encode()
                kept = base64.standard_b64encode(text).decode()
            json.dumps(kept)
            found[name] = kept
        except Exception as error:
            left_out[f"{path}:{name}"] = f"JSON cannot hold it: {reason(error)}"
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind == "f" and value.dtype.itemsize > 8:
            value = value.astype("f8")
        return value.tolist()
    return value
