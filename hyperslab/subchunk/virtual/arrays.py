"""Variables of a file as arrays with a grid of chunks of one's own."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..errors import UnreadableError
from ..names import Contents
from ..padded import PaddedReader
from ..variable import VariableReader

Grid = int | Sequence[int] | Mapping[str, int]

_CHUNK_BYTES = 2**24  # of variables that have no chunks in the file
_TEXT_BYTES = 16  # what a text is taken to need, when a grid is chosen


@dataclass(frozen=True)
class Array:
    """A variable with the grid it is given out in."""

    reader: VariableReader | PaddedReader
    dims: tuple[str, ...]  # a name for every dimension
    chunks: tuple[int, ...]  # shape of a chunk; no length is 0
    text: bool  # whether its values are texts of any length

    @property
    def shape(self) -> tuple[int, ...]:
        """Length along each dimension."""
        return self.reader.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of what is given out, little-endian."""
        return np.dtype(object) if self.text else self.reader.dtype.newbyteorder("<")

    @property
    def width(self) -> int:
        """Bytes of a value."""
        return self.dtype.itemsize

    @property
    def fill(self) -> Any:
        """The value of what was never written."""
        if self.text:
            return ""
        return self.reader.variable.fill_value if self.reader.variable.dtype else b""

    @property
    def grid(self) -> tuple[int, ...]:
        """Chunks along each dimension."""
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
            return _texts(found)
        except UnicodeDecodeError:
            what = f"{self.reader.variable.name} has texts that are no UTF-8"
            raise UnreadableError(
                f"{what}, which Zarr cannot hold: hyperslab.subchunk.open reads them"
            ) from None


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
        reader, dims = shown.reader, shown.dims
        if why := _unfit(name, reader.dtype):
            left_out[name] = why
            continue
        text = h5py.check_string_dtype(reader.dtype) is not None and reader.dtype.kind == "O"
        found[name] = Array(reader, dims, _chunks(name, reader, dims, chunks), text)
    if unknown := [name for name in chunks if name not in known]:
        raise ValueError(
            f"chunks name {unknown[0]!r}, which is no variable and no dimension of the file: it "
            f"has {', '.join(sorted(known))}"
        )
    return found, left_out


def _unfit(name: str, dtype: np.dtype[Any]) -> str:
    if "\\" in name:
        return "Zarr takes \\ for /"
    if dtype.kind == "O" and h5py.check_string_dtype(dtype) is not None:
        return ""
    if dtype.kind == "S" and dtype.itemsize:
        return ""
    if dtype.kind in "biufc" and dtype.itemsize in (1, 2, 4, 8, *([16] * (dtype.kind == "c"))):
        return ""
    return f"Zarr has no type for {dtype}"


def _chunks(
    name: str,
    reader: VariableReader | PaddedReader,
    dims: tuple[str, ...],
    asked: Mapping[str, Grid],
) -> tuple[int, ...]:
    own = asked.get(name)
    if isinstance(own, int) and name in dims:  # a coordinate: its name is the dimension's too
        own = None
    if own is not None and not isinstance(own, int | Mapping):
        if len(own) != len(dims):
            raise ValueError(
                f"chunks of {name} are {tuple(own)}: it has {len(dims)} dimensions, {dims}"
            )
        given: Iterable[int | None] = own
    else:
        if isinstance(own, int):
            raise ValueError(
                f"chunks of {name} are {own}: give a shape, or lengths by names of dimensions"
            )
        by_name: dict[str, Any] = {key: value for key, value in asked.items() if key in dims}
        if own is not None:
            if strange := [dim for dim in own if dim not in dims]:
                raise ValueError(f"chunks of {name} name {strange[0]!r}: its dimensions are {dims}")
            by_name |= own
        given = [by_name.get(dim) for dim in dims]
    lengths = []
    default = reader.chunks or _default(reader)
    for dim, length, kept, n in zip(dims, given, default, reader.shape, strict=True):
        chosen = kept if length is None else n if length == -1 else length
        if isinstance(chosen, bool) or not isinstance(chosen, int | np.integer) or chosen < 0:
            raise ValueError(
                f"chunks of {name} along {dim} are {chosen!r}: give 1 to {n}, or -1 for all"
            )
        if chosen == 0 and n:
            raise ValueError(f"chunks of {name} along {dim} are 0: give 1 to {n}, or -1 for all")
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


def _texts(values: NDArray[Any]) -> bytes:
    """Return texts in Zarr's vlen-utf8 encoding: how many, then each with its length."""
    found = [v if isinstance(v, bytes) else str(v).encode() for v in values.reshape(-1)]
    parts = [struct.pack("<I", len(found))]
    for text in found:
        text.decode()
        parts += [struct.pack("<I", len(text)), text]
    return b"".join(parts)
