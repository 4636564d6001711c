"""An index as bytes, as the book's page on the format has it: head, tables, kept bytes."""

import json
import math
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import inflate_from, inflater, unshuffled
from ..errors import CorruptIndexError, NoIndexError, SubchunkError, UnknownVersionError
from ..hdf5 import DIMENSIONS, MOST_VALUES, SHUFFLE, Variable, attribute

MAGIC = b"\x89SUBCHNK"
_HDF5 = b"\x89HDF\r\n\x1a\n"
VERSION = 1
_FIXED = struct.Struct("<8sIII")
PREAMBLE = _FIXED.size
# What JSON that is no index raises when it is taken for one.
MISTAKEN = (
    KeyError, TypeError, ValueError, AttributeError, OverflowError, SyntaxError, IndexError,
    RecursionError,
)  # fmt: skip
_KINDS = "iufcb"
_MOST_DTYPE = 8  # letters
_MOST_HEAD = 2**28
_MOST = 2**62  # bytes of a file, or a chunk
_TYPES = {"|u1": "|u1", "<u1": "|u1", "<u2": "<u2", "<u4": "<u4", "<u8": "<u8"}
_WORTH = 0.4  # packed over unpacked bytes: unpacking takes as long as reading points
_ZLIB_HEAD = 2
_RATIO = 1032  # deflate packs no tighter


@dataclass(frozen=True)
class Table:
    """Where a table lies, counted from the end of the head, and its type, length and bytes."""

    at: int
    dtype: str
    length: int
    crc: int
    size: int

    def decode(self, data: bytes | memoryview) -> NDArray[Any]:
        if len(data) != self.size or inflater().crc32(data) != self.crc:
            raise CorruptIndexError("a table of the index is damaged or cut off: build it again")
        whole = self.length * np.dtype(self.dtype).itemsize
        if whole > _RATIO * self.size:
            raise CorruptIndexError("a table of the index cannot hold what it says: it is damaged")
        try:
            if self.size < whole:
                return _unpacked(data, self.dtype, whole)
            return np.frombuffer(data, self.dtype, self.length)
        except (ValueError, inflater().error) as error:
            raise CorruptIndexError(f"a table of the index is damaged: {error}") from error


@dataclass(frozen=True)
class Head:
    content: Mapping[str, Any]  # what the JSON says beside the tables
    tables: Mapping[str, Table]  # by names such as "air_temperature/out"
    begin: int  # byte at which the tables begin
    kept_begin: int  # byte at which the kept bytes begin
    size: int  # bytes of the whole index


def encode(content: Mapping[str, Any], tables: Mapping[str, NDArray[Any]], kept: bytes) -> bytes:
    body = bytearray()
    listed = {}
    for name, values in tables.items():
        most = int(values.max()) if len(values) else 0
        small = np.ascontiguousarray(values, np.min_scalar_type(most).newbyteorder("<"))
        stored = _packed(small)
        listed[name] = [len(body), small.dtype.str, len(small), zlib.crc32(stored), len(stored)]
        body += stored + b"\0" * (-len(stored) % 8)
    head = dict(content) | {"tables": listed, "table_bytes": len(body), "kept_bytes": len(kept)}
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + PREAMBLE) % 8)
    if len(text) > _MOST_HEAD:
        raise SubchunkError(
            f"the file's names, shapes and attributes take {len(text):,} bytes, and an index may "
            f"hold {_MOST_HEAD:,}: it has none, and is read without"
        )
    fixed = _FIXED.pack(MAGIC, VERSION, len(text), zlib.crc32(text))
    return b"".join((fixed, text, bytes(body), kept))


def is_index(path: Path) -> bool:
    """Whether a file begins as an index does, or is empty."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) in (MAGIC, b"")


def head_bytes(preamble: bytes) -> int:
    if preamble.startswith(_HDF5):
        raise NoIndexError(
            "this is no sub-chunk index but an HDF5 file, perhaps an index of the package "
            "chunkindex: build one with `hyperslab index`"
        )
    if len(preamble) < PREAMBLE or preamble[:8] != MAGIC:
        raise NoIndexError("this is no sub-chunk index, or only the beginning of one")
    _, version, length, _ = _FIXED.unpack_from(preamble)
    if version != VERSION:
        raise UnknownVersionError(
            f"the index has format version {version}, and this release reads version {VERSION}: "
            "upgrade hyperslab, or build the index again"
        )
    if length > _MOST_HEAD:
        raise CorruptIndexError(f"the index says its head has {length} bytes: it is damaged")
    return PREAMBLE + int(length)


def decode_head(data: bytes) -> Head:
    begin = head_bytes(data[:PREAMBLE])
    text = data[PREAMBLE:begin]
    if len(text) != begin - PREAMBLE or zlib.crc32(text) != _FIXED.unpack_from(data)[3]:
        raise CorruptIndexError("the head of the index is damaged or cut off: build it again")
    try:
        content = json.loads(text)
        tables = {
            name: Table(int(at), _TYPES[dtype], int(length), int(crc), int(size))
            for name, (at, dtype, length, crc, size) in content.pop("tables").items()
        }
        kept_begin = begin + int(content.pop("table_bytes"))
        size = kept_begin + int(content.pop("kept_bytes"))
    except MISTAKEN as error:
        raise CorruptIndexError(f"the head of the index cannot be understood: {error}") from error
    if not begin <= kept_begin <= size <= _MOST or any(
        min(t.at, t.size, t.length, _MOST - t.length) < 0 or t.at + t.size > kept_begin - begin
        for t in tables.values()
    ):
        raise CorruptIndexError("the head of the index names tables outside of it")
    return Head(content, tables, begin, kept_begin, size)


def _packed(values: NDArray[Any]) -> bytes:
    """Return a table's bytes, packed if that makes them fewer by enough to be worth it."""
    raw = values.tobytes()
    steps = np.diff(values, prepend=values.dtype.type(0))  # modulo the type's range
    planes = np.ascontiguousarray(steps.view(np.uint8).reshape(len(values), values.itemsize).T)
    packed = zlib.compress(planes.tobytes(), 9)
    return packed if len(packed) < _WORTH * len(raw) else raw


def _unpacked(data: bytes | memoryview, dtype: str, size: int) -> NDArray[Any]:
    planes = inflate_from(memoryview(data)[_ZLIB_HEAD:], 0, (0, 0), b"", size)
    if len(planes) != size:
        raise ValueError("it is too short")
    steps = unshuffled(np.frombuffer(planes, np.uint8), np.dtype(dtype).itemsize)
    return np.cumsum(steps.view(dtype), dtype=dtype)


@dataclass(frozen=True)
class Entry:
    variable: Variable
    place: int  # of the variable in the index
    spacing: int  # bytes of output between points; 0 where it has none
    values: bytes | None  # the values themselves, of small variables that are read plainly


def entries(content: Mapping[str, Any]) -> dict[str, Entry]:
    try:
        items = enumerate(content["variables"])
        by_name = {item["name"]: _entry(item, position) for position, item in items}
        if any(name.rpartition("/")[0] not in content["groups"] for name in by_name):
            raise ValueError("a variable of no group")
        links = [entry.variable.same for entry in by_name.values() if entry.variable.same]
        if any(by_name[name].variable.same for name in links):
            raise ValueError("a link to a link")
    except MISTAKEN as error:
        raise CorruptIndexError(f"the index cannot be understood: {error!r}") from error
    return by_name


def check_head(content: Mapping[str, Any]) -> None:
    data, groups = content.get("data"), content.get("groups")
    left_out = [content.get(name, {}) for name in ("left_out", "left_out_attrs")]
    good = (
        isinstance(data, dict)
        and isinstance(data.get("size"), int | None)
        and isinstance(data.get("mtime_ns"), int | None)
        and isinstance(data.get("tag"), str | None)
        and isinstance(content.get("variables"), list)
        and isinstance(groups, dict)
        and "" in groups
        and all(path.rpartition("/")[0] in groups for path in groups)
        and all(isinstance(attrs, dict) for attrs in groups.values())
        and all(_dimensions(attrs.get(DIMENSIONS, [])) for attrs in groups.values())
        and all(isinstance(item, dict) for item in left_out)
        and all(isinstance(why, str) for item in left_out for why in item.values())
    )
    if not good:
        raise CorruptIndexError("the head of the index is damaged: build it again")


def decoded(attrs: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {name: attribute(value) for name, value in attrs.items()}
    except MISTAKEN as error:
        raise CorruptIndexError(f"an attribute in the index is damaged: {error!r}") from error


def _entry(item: Mapping[str, Any], position: int) -> Entry:
    named: dict[str, Any] = {name: item[name] for name in ("name", "dtype", "attrs", "plain")}
    named |= {name: tuple(item[name]) for name in ("shape", "chunks", "dims")}
    named["filters"] = tuple((number, tuple(values)) for number, values in item["filters"])
    fill, enum = bytes.fromhex(item["fill"]), item.get("enum", {})
    variable = Variable(**named, fill=fill, enum=enum)
    values = bytes.fromhex(item["values"]) if item.get("values") is not None else None
    spacing = item["spacing"]
    if not _good(variable, spacing, values):
        raise ValueError(f"what it says of variable {position} contradicts itself")
    return Entry(variable, position, spacing, values)


def _dimensions(listed: Any) -> bool:
    return isinstance(listed, list) and all(
        isinstance(item, list) and [type(value) for value in item] == [str, int, bool]
        for item in listed
    )


def _good(variable: Variable, spacing: int, values: bytes | None) -> bool:
    width = 0
    if variable.dtype:
        if len(variable.dtype) > _MOST_DTYPE:
            return False
        dtype = np.dtype(variable.dtype)
        if dtype.kind not in _KINDS or dtype.str != variable.dtype:
            return False
        width = dtype.itemsize
    return bool(
        all(type(text) is str for text in (variable.name, variable.plain, *variable.dims))
        and len(variable.dims) == len(variable.shape)
        and len(variable.chunks) in (0, len(variable.shape))
        and variable.name == variable.name.strip("/")
        and all(type(n) is int and 0 <= n < 2**63 for n in (*variable.shape, spacing))
        and all(type(n) is int and n > 0 for n in variable.chunks)
        and not (spacing and math.prod(variable.shape) >= MOST_VALUES)
        and math.prod(variable.chunks) * width < _MOST
        and all(type(n) is int for number, more in variable.filters for n in (number, *more))
        and all(0 <= number < 2**16 for number, _ in variable.filters)
        and all(
            more[:1] == (width,)
            for number, more in variable.filters
            if spacing and number == SHUFFLE
        )
        and type(variable.attrs) is dict
        and type(variable.enum) is dict
        and all(type(value) is int for value in variable.enum.values())
        and (not variable.enum or (width and dtype.kind in "iu"))
        and len(variable.fill) in (0, width)
        and (values is None or (width and len(values) == math.prod(variable.shape) * width))
        and (not spacing or bool(variable.chunks and width and variable.filters))
        and not (spacing and variable.plain)
    )
