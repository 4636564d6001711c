"""What an HDF5 or netCDF-4 file says of a variable, and attributes as an index keeps them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import h5py
import numpy as np
from h5py import h5d
from numpy.typing import NDArray

from .errors import UnreadableError, reason
from .process import cached

DEFLATE, SHUFFLE, FLETCHER32 = 1, 2, 3
MOST_VALUES = 2**62  # of a variable that is indexed
# x87's long double: ten bytes of sixteen are used.
_EXTENDED, _USED = (16, 10) if np.finfo(np.longdouble).nmant == 63 else (0, 0)
SAME = "it is another name of "
# Under this name the attributes of a group in an index list its dimensions: name, length,
# whether unlimited.
DIMENSIONS = "_Netcdf4Dimensions"
# netCDF-4's own bookkeeping, which is no attribute of the variable.
HIDDEN = {
    "CLASS", "DIMENSION_LIST", "NAME", "REFERENCE_LIST", "_NCProperties", "_Netcdf4Coordinates",
    "_Netcdf4Dimid", "_nc3_strict",
}  # fmt: skip


@dataclass(frozen=True)
class Variable:
    """A variable as the file describes it."""

    name: str  # path in the file, without the leading slash
    shape: tuple[int, ...]
    dtype: str  # as numpy writes it, such as "<f4"; empty for what it has no name for
    chunks: tuple[int, ...] = ()  # shape of a chunk; empty for contiguous and scalar variables
    filters: tuple[tuple[int, tuple[int, ...]], ...] = ()  # numbers and parameters, as written
    dims: tuple[str, ...] = ()  # names of the dimensions, "" where the file gives none
    fill: bytes = b""  # the value of what was never written, as it is stored; empty for zeros
    attrs: Mapping[str, Any] = field(default_factory=dict)  # attributes that JSON can hold
    plain: str = ""  # why it is read plainly, through HDF5; empty when it can be sub-chunked
    enum: Mapping[str, int] = field(default_factory=dict)  # names of values, where its type has any

    @cached
    def chunk_bytes(self) -> int:
        return math.prod(self.chunks) * self.width

    @cached
    def width(self) -> int:
        return np.dtype(self.dtype).itemsize

    @cached
    def guard_bytes(self) -> int:
        """Bytes of the checksum behind the compressed data of a chunk that skips no filter."""
        return 4 if any(number == FLETCHER32 for number, _ in self.filters) else 0

    @cached
    def shuffled(self) -> bool:
        """Whether the bytes of values lie in planes."""
        return self.width > 1 and any(number == SHUFFLE for number, _ in self.filters)

    @cached
    def fill_value(self) -> Any:
        return np.frombuffer(self.fill or bytes(self.width), self.dtype)[0]

    @property
    def same(self) -> str:
        """The path of the variable that this is another name of; empty for most."""
        return self.plain.removeprefix(SAME) if self.plain.startswith(SAME) else ""

    @property
    def grid(self) -> tuple[int, ...]:
        return tuple(-(-n // c) for n, c in zip(self.shape, self.chunks, strict=True))

    def described(self) -> dict[str, Any]:
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        if not self.enum:
            del named["enum"]
        return named | {"fill": self.fill.hex()}


def describe(name: str, dataset: h5py.Dataset) -> Variable:
    """Return what a file says of a variable, its attributes and names of dimensions left out."""
    if dataset.shape is None:
        raise UnreadableError("it has no dataspace, so it holds no values")
    try:
        whole = dataset.dtype
    except Exception as error:
        raise UnreadableError(f"numpy has no type for it: {reason(error)}") from error
    # The dimensions of a type of arrays are dimensions of the variable.
    base, inner = whole.subdtype or (whole, ())
    dtype, strange = _type(dataset, base, inner)
    created = dataset.id.get_create_plist()
    listed = map(created.get_filter, range(created.get_nfilters()))
    filters = tuple((number, tuple(map(int, values))) for number, _, values, _ in listed)
    fill = b""
    try:
        if dtype and created.fill_value_defined() != h5d.FILL_VALUE_UNDEFINED:
            fill = stored(np.asarray(dataset.fillvalue, base).reshape(-1)[:1])
    except Exception as error:
        strange = strange or f"its fill value cannot be read: {reason(error)}"
    shape = (*dataset.shape, *inner)
    return Variable(
        name=name,
        shape=shape,
        dtype=dtype,
        chunks=(*dataset.chunks, *inner) if dataset.chunks else (),
        filters=filters,
        dims=("",) * len(shape),
        fill=fill if any(fill) else b"",  # zeros are what h5py gives
        plain=strange or _plain(dataset, filters),
        enum=dict(h5py.check_enum_dtype(base) or {}) if dtype else {},
    )


def attributes(item: h5py.Dataset | h5py.Group) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what JSON can hold of attributes, as netCDF shows them, and why others are not."""
    attrs: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    try:
        names = [name for name in item.attrs if name not in HIDDEN]
    except Exception as error:
        return {}, {"": f"its attributes cannot be listed: {reason(error)}"}
    for name in names:
        try:
            if isinstance(name, bytes):
                raise UnreadableError("its name is no UTF-8")
            if name == DIMENSIONS:
                raise UnreadableError("under its name an index has the dimensions")
            attrs[name] = _portable(item.attrs[name])
        except Exception as error:
            shown = name if isinstance(name, str) else name.decode(errors="replace")
            left_out[shown] = reason(error)
    return attrs, left_out


def attribute(encoded: Any) -> Any:
    """Return an attribute as numpy or Python has it, from what `attributes` kept."""
    if isinstance(encoded, dict) and "texts" in encoded:
        return np.array(encoded["texts"], object).reshape(encoded["shape"])
    if isinstance(encoded, dict):
        values = np.frombuffer(bytes.fromhex(encoded["hex"]), encoded["dtype"])
        return values.reshape(encoded.get("shape", -1)) if encoded["array"] else values[0]
    if isinstance(encoded, list) and len(encoded) == 1:  # in indexes of earlier releases
        return encoded[0]
    return encoded


def stored(values: NDArray[Any]) -> bytes:
    """Return the bytes of numbers; those that a long double does not use are zero."""
    raw = np.frombuffer(values.tobytes(), np.uint8)
    if values.dtype.char in "gG" and _EXTENDED:
        raw = np.where(np.arange(raw.size) % _EXTENDED < _USED, raw, np.uint8(0))
    return raw.tobytes()


def _portable(value: Any) -> Any:
    if isinstance(value, h5py.Empty):
        if value.dtype.kind in "SUO":
            return ""
        value = np.empty(0, value.dtype)
    if isinstance(value, np.ndarray) and value.shape and len(value) == 1:
        value = value[0]
    if isinstance(value, str | bytes):
        return _text(value)
    if not isinstance(value, np.ndarray | np.generic):
        raise TypeError(f"{type(value).__name__} cannot be kept")
    if value.dtype.kind in "SUO":
        texts = [_text(item) for item in value.flat]
        plain = value.ndim == 1 and len(texts) != 1
        return texts if plain else {"texts": texts, "shape": value.shape}
    if value.dtype.kind not in "iufcb":
        raise TypeError(f"its type {value.dtype} cannot be kept")
    shape = {"shape": value.shape} if value.ndim > 1 else {}
    array = isinstance(value, np.ndarray)
    raw = stored(np.asarray(value)).hex()
    return {"dtype": value.dtype.str, "array": array, "hex": raw, **shape}


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")  # what is no UTF-8 can be had back
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} is no text")
    return str(value)


def _type(dataset: h5py.Dataset, dtype: np.dtype[Any], inner: tuple[int, ...]) -> tuple[str, str]:
    """Return numpy's name of a type, and why it cannot be read inside of chunks."""
    if dtype.kind not in "iufcb":
        # How numpy writes fields out depends on what else was read.
        return "", "its type has fields" if dtype.names else f"its type {dtype} is no number"
    if inner:
        return dtype.str, "its values are arrays"
    # Padded and odd-sized numbers are converted by HDF5: their bytes are not the values.
    if not dataset.id.get_type().equal(h5py.h5t.py_create(dtype, logical=True)):
        return dtype.str, f"its values are stored in another way than {dtype.name}"
    return dtype.str, ""


def _plain(dataset: h5py.Dataset, filters: tuple[tuple[int, tuple[int, ...]], ...]) -> str:
    numbers = [number for number, _ in filters]
    if not dataset.chunks:
        return "it is not chunked"
    if elsewhere(dataset):
        return "its data lie in other files"
    if DEFLATE not in numbers:
        return "it is not deflate-compressed"
    if numbers != [number for number in (SHUFFLE, DEFLATE, FLETCHER32) if number in numbers]:
        return f"its filters {numbers} are not shuffle, deflate and fletcher32 in this order"
    if dict(filters).get(SHUFFLE, ())[:1] not in ((), (dataset.dtype.itemsize,)):
        return "its shuffle is for values of another size"
    if math.prod(dataset.shape) >= MOST_VALUES:
        return "it has more values than an index can count"
    return ""


def elsewhere(dataset: h5py.Dataset) -> bool:
    return bool(dataset.is_virtual or dataset.external)
