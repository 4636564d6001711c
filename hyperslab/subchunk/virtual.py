"""Variables of a file as Zarr v3 arrays with a grid of chunks of one's own."""

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numcodecs.vlen import VLenUTF8
from numpy.typing import NDArray

from .errors import UnreadableError, reason
from .names import Contents, PaddedReader, texts
from .process import cached
from .variable_reader import VariableReader

Grid = int | Sequence[int] | Mapping[str, int]

_CHUNK_BYTES = 2**24  # of variables that have no chunks in the file
_TEXT_BYTES = 16  # what a text is taken to need, when a grid is chosen


@dataclass(frozen=True)
class Array:
    reader: VariableReader | PaddedReader
    dims: tuple[str, ...]  # a name for every dimension
    chunks: tuple[int, ...]  # shape of a chunk; no length is 0

    @property
    def grid(self) -> tuple[int, ...]:
        return tuple(-(-n // c) for n, c in zip(self.reader.shape, self.chunks, strict=True))

    @cached
    def text(self) -> bool:
        return texts(self.reader.dtype)

    @cached
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(object) if self.text else self.reader.dtype.newbyteorder("<")

    @property
    def fill(self) -> Any:
        if self.reader.variable.dtype:
            return self.reader.variable.fill_value
        return "" if self.text else b""

    def read(self, corner: tuple[int, ...]) -> bytes:
        """Return a chunk, uncompressed; what of it lies outside of the variable is filled."""
        begins = [index * length for index, length in zip(corner, self.chunks, strict=True)]
        selection = tuple(
            slice(begin, min(begin + length, n))
            for begin, length, n in zip(begins, self.chunks, self.reader.shape, strict=True)
        )
        values: NDArray[Any] = np.asarray(self.reader[selection], self.dtype)
        if values.shape != self.chunks:
            whole = np.full(self.chunks, self.fill, self.dtype)
            whole[tuple(slice(n) for n in values.shape)] = values
            values = whole
        if not self.text:
            return values.tobytes()
        try:
            decoded = [v.decode() if isinstance(v, bytes) else v for v in values.flat]
            return bytes(VLenUTF8().encode(np.array(decoded, object)))
        except UnicodeDecodeError:
            what = f"{self.reader.variable.name} has texts that are no UTF-8"
            raise UnreadableError(
                f"{what}, which Zarr cannot hold: hyperslab.subchunk.open reads them"
            ) from None

    def metadata(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        codec: dict[str, Any] = {"name": "vlen-utf8" if self.text else "bytes"}
        if self.dtype.itemsize > 1 and self.dtype.kind not in "SO":
            codec["configuration"] = {"endian": "little"}
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": list(self.reader.shape),
            "data_type": self._type(),
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(self.chunks)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": _number(self.fill),
            "codecs": [codec],
            "attributes": attrs,
            "dimension_names": list(self.dims),
            "storage_transformers": [],
        }

    def _type(self) -> Any:
        if self.text:
            return "string"
        if self.dtype.kind == "S":
            width = {"length_bytes": self.dtype.itemsize}
            return {"name": "null_terminated_bytes", "configuration": width}
        return self.dtype.name


def arrays(held: Contents, chunks: Mapping[str, Grid]) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the variables of a file in grids of chunks, and why others are left out."""
    if not isinstance(chunks, Mapping):
        raise ValueError(
            f"chunks are {chunks!r}: give numbers by the names of dimensions or variables, such "
            'as {"time": -1, "lat": 100}'
        )
    by_name: dict[str, Array] = {}
    left_out = dict(held.left_out)
    names = set(left_out)
    for shown in (shown for group in held.variables.values() for shown in group):
        name = f"{shown.group}/{shown.name}" if shown.group else shown.name
        names.update([name, *shown.dims])
        dtype = shown.reader.dtype
        number = dtype.kind in "biufc" and dtype.itemsize <= (16 if dtype.kind == "c" else 8)
        if "\\" in name:
            left_out[name] = "Zarr takes \\ for /"
        elif number or texts(dtype) or (dtype.kind == "S" and dtype.itemsize):
            lengths = _chunks(name, shown.reader, shown.dims, chunks)
            by_name[name] = Array(shown.reader, shown.dims, lengths)
        else:
            left_out[name] = f"Zarr has no type for {dtype}"
    if unknown := [name for name in chunks if name not in names]:
        has = ", ".join(sorted(names))
        raise ValueError(
            f"chunks name {unknown[0]!r}, which is no variable and no dimension of the file: {has}"
        )
    return by_name, left_out


def _chunks(
    name: str,
    reader: VariableReader | PaddedReader,
    dims: tuple[str, ...],
    chunks: Mapping[str, Any],
) -> tuple[int, ...]:
    own, requested = chunks.get(name), [chunks.get(dim) for dim in dims]
    if isinstance(own, Mapping):
        if strange := [dim for dim in own if dim not in dims]:
            raise ValueError(f"chunks of {name} name {strange[0]!r}: its dimensions are {dims}")
        requested = [own.get(dim, length) for dim, length in zip(dims, requested, strict=True)]
    elif own is not None and not (isinstance(own, Integral) and name in dims):  # a coordinate's
        requested = list(own) if isinstance(own, Iterable) else []
        if not isinstance(own, Iterable) or len(requested) != len(dims):
            raise ValueError(
                f"chunks of {name} are {own}: give a shape, or lengths by names, of {dims}"
            )
    lengths = []
    default = reader.chunks or _default(reader)
    for dim, length, fallback, n in zip(dims, requested, default, reader.shape, strict=True):
        chosen = fallback if length is None else n if length == -1 else length
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
    below = [math.prod(reader.shape[axis + 1 :]) for axis in range(len(reader.shape))]
    fit = [left // max(1, size) for size in below]
    return tuple(max(1, min(n, most)) for n, most in zip(reader.shape, fit, strict=True))


def _number(value: Any) -> Any:
    """Return a fill value as Zarr writes it: JSON has no word for what is not finite."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return _base64(value)
    if isinstance(value, complex):
        return [_number(value.real), _number(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _base64(value: bytes) -> str:
    return base64.standard_b64encode(value).decode()


def json_attributes(
    attrs: Mapping[str, Any],
    left_out: dict[str, str],
    path: str,
    dtype: np.dtype[Any] | None = None,
) -> dict[str, Any]:
    """Return attributes as JSON has them; `_FillValue` as xarray writes it for Zarr v3."""
    encoded = {}
    for name, value in attrs.items():
        kind = dtype.kind if dtype is not None and name == "_FillValue" else ""
        try:
            if kind == "f":
                value = _base64(np.array(float(value), "<f8").tobytes())
            elif kind == "S":
                value = _base64(value if isinstance(value, bytes) else str(value).encode())
            elif isinstance(value, np.ndarray | np.generic):
                wide = value.dtype.kind == "f" and value.dtype.itemsize > 8
                value = (value.astype("f8") if wide else value).tolist()
            json.dumps(value)
            encoded[name] = value
        except Exception as error:
            left_out[f"{path}:{name}"] = f"JSON cannot hold it: {reason(error)}"
    return encoded
