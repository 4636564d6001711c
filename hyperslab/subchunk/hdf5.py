"""What an HDF5 or netCDF-4 file says of its variables and where it keeps their chunks."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from .corners import true_corners
from .dimensions import DIMENSIONS, dimension_only, dimensions_of, group_dimensions
from .unfiltered import filter_masks

DEFLATE, SHUFFLE, FLETCHER32 = 1, 2, 3
_SAME = "it is another name of "
# netCDF-4's own bookkeeping, which is no attribute of the variable.
_HIDDEN = (
    "CLASS",
    "DIMENSION_LIST",
    "NAME",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_nc3_strict",
)


@dataclass(frozen=True)
class Variable:
    """A variable as the file describes it.

    Parameters
    ----------
    name : str
        Path in the file, without the leading slash.
    shape : tuple of int
    dtype : str
        numpy's name with the byte order, such as "<f4"; empty for what numpy has no name for.
    chunks : tuple of int
        Shape of a chunk; empty for contiguous and scalar variables.
    filters : tuple of tuple
        HDF5 filter numbers with their parameters, in the order of writing.
    dims : tuple of str
        Names of the dimensions, "" where the file gives none.
    fill : bytes
        The value of what was never written, as it is stored; empty for zeros.
    attrs : mapping
        Attributes that JSON can hold.
    plain : str
        Why it is read plainly, through HDF5; empty when it can be sub-chunked.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    chunks: tuple[int, ...] = ()
    filters: tuple[tuple[int, tuple[int, ...]], ...] = ()
    dims: tuple[str, ...] = ()
    fill: bytes = b""
    attrs: Mapping[str, Any] = field(default_factory=dict)
    plain: str = ""

    @cached_property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk, decompressed."""
        return math.prod(self.chunks) * self.width

    @cached_property
    def width(self) -> int:
        """Bytes of a value."""
        return np.dtype(self.dtype).itemsize

    @cached_property
    def guard_bytes(self) -> int:
        """Bytes of the checksum behind the compressed data of a chunk that skips no filter."""
        return 4 if any(number == FLETCHER32 for number, _ in self.filters) else 0

    @cached_property
    def shuffled(self) -> bool:
        """Whether the bytes of values lie in planes."""
        return self.width > 1 and any(number == SHUFFLE for number, _ in self.filters)

    @cached_property
    def fill_value(self) -> Any:
        """The value of what was never written."""
        return np.frombuffer(self.fill or bytes(self.width), self.dtype)[0]

    @property
    def same(self) -> str:
        """The path of the variable that this is another name of; empty for most."""
        return self.plain.removeprefix(_SAME) if self.plain.startswith(_SAME) else ""

    @property
    def grid(self) -> tuple[int, ...]:
        """Chunks along each axis."""
        return tuple(-(-n // c) for n, c in zip(self.shape, self.chunks, strict=True))


@dataclass(frozen=True)
class Chunks:
    """Where the chunks of one variable lie, in the order of the grid.

    Parameters
    ----------
    number : numpy.ndarray
        int64, place in the grid of chunks, counted in C order; ascending. Chunks that were never
        written are left out.
    offset, size : numpy.ndarray
        uint64, first byte in the file and compressed bytes.
    mask : numpy.ndarray
        uint32, a bit for each filter that the chunk skips.
    """

    number: NDArray[np.int64]
    offset: NDArray[np.uint64]
    size: NDArray[np.uint64]
    mask: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.number)

    def digest(self) -> str:
        """Return a hash of the table: it changes when chunks are added, moved or resized."""
        found = hashlib.sha256()
        for column in (self.number, self.offset, self.size, self.mask):
            found.update(np.ascontiguousarray(column).tobytes())
        return found.hexdigest()[:32]


def datasets(file: h5py.File) -> Iterator[tuple[str, h5py.Dataset]]:
    """Give the datasets of a file with their paths, groups in the order of their names.

    What has several names, by hard or soft links, comes under each of them; links into other
    files are left out.
    """
    found: dict[str, h5py.Dataset] = {}
    groups: dict[str, h5py.Group] = {"": file}

    def keep(name: str, item: object) -> None:
        if isinstance(item, h5py.Group):
            groups[name] = item
        elif isinstance(item, h5py.Dataset) and not dimension_only(item):
            found[name] = item

    file.visititems(keep)
    first = {item: name for name, item in found.items()}
    for path, group in groups.items():
        for link in group:
            name = f"{path}/{link}" if path else link
            if name not in found and (real := _linked(group, link)) in first:
                found[name] = file[first[real]]
    for name in sorted(found, key=lambda name: name.split("/")):
        yield name, found[name]


def _linked(group: h5py.Group, name: str) -> h5py.Dataset | None:
    """Return the dataset that a link of a group leads to in its own file."""
    if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
        return None
    item = group.get(name)
    return item if isinstance(item, h5py.Dataset) else None


def describe(name: str, dataset: h5py.Dataset) -> Variable:
    """Return what a file says of a variable."""
    filters = tuple(_filters(dataset))
    dtype, strange = _type(dataset)
    real = str(dataset.name or name).strip("/")
    if real != name.strip("/"):
        strange = f"{_SAME}{real}"
    return Variable(
        name=name,
        shape=tuple(dataset.shape or ()),
        dtype=dtype,
        chunks=tuple(dataset.chunks or ()),
        filters=filters,
        dims=dimensions_of(dataset),
        fill=_fill(dataset) if dtype else b"",
        attrs=attributes(dataset),
        plain=strange or _plain(dataset, dtype, filters),
    )


def chunk_table(dataset: h5py.Dataset) -> Chunks:
    """Return where the chunks of a dataset lie; only those that were written."""
    grid = tuple(-(-n // c) for n, c in zip(dataset.shape, dataset.chunks, strict=True))
    steps = np.cumprod((1, *grid[:0:-1]), dtype=np.int64)[::-1]
    infos: list[Any] = []
    if hasattr(dataset.id, "chunk_iter"):
        dataset.id.chunk_iter(infos.append)
    else:
        infos = [dataset.id.get_chunk_info(i) for i in range(dataset.id.get_num_chunks())]
    infos = [info for info in infos if info.byte_offset is not None]
    corners = np.array([info.chunk_offset for info in infos], np.int64).reshape(-1, len(grid))
    places = true_corners(dataset, corners // np.array(dataset.chunks, np.int64))
    number = (places * steps).sum(axis=1, dtype=np.int64)
    sizes = np.array([info.size for info in infos], np.uint64)
    masks = np.array([info.filter_mask for info in infos], np.uint32)
    masks = filter_masks(dataset, places, sizes, masks)
    order = np.argsort(number, kind="stable")
    return Chunks(
        number[order],
        np.array([info.byte_offset for info in infos], np.uint64)[order],
        sizes[order],
        masks[order],
    )


def attributes(item: h5py.Dataset | h5py.Group) -> dict[str, Any]:
    """Return the attributes that JSON can hold, numbers with their type.

    Those of a group list its dimensions too, if it has any.
    """
    found: dict[str, Any] = {}
    if isinstance(item, h5py.Group) and (dimensions := group_dimensions(item)):
        found[DIMENSIONS] = dimensions
    for name in item.attrs:
        if name in _HIDDEN:
            continue
        try:
            value = item.attrs[name]
        except (OSError, TypeError, KeyError, ValueError):
            continue
        kept = _portable(value)
        if kept is not None:
            found[name] = kept
    return found


def attribute(kept: Any) -> Any:
    """Return an attribute as numpy or Python has it, from what `attributes` kept."""
    if isinstance(kept, dict):
        values = np.frombuffer(bytes.fromhex(kept["hex"]), kept["dtype"])
        return values if kept["array"] else values[0]
    return kept


def _portable(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "SUO":
        texts = [v.decode(errors="replace") if isinstance(v, bytes) else v for v in value.flat]
        return texts if all(isinstance(text, str) for text in texts) else None
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "iufb":
        return {
            "dtype": value.dtype.str,
            "array": isinstance(value, np.ndarray) and value.size != 1,
            "hex": value.tobytes().hex(),
        }
    return None


def _type(dataset: h5py.Dataset) -> tuple[str, str]:
    """Return numpy's name of a type, and why it cannot be read inside of chunks."""
    try:
        dtype = dataset.dtype
    except (TypeError, ValueError) as error:
        return "", f"numpy has no type for it: {error}"
    if dtype.kind not in "iufcb":
        return "", f"its type {dtype} is no number"
    # Padded and odd-sized numbers are converted by HDF5: their bytes are not the values.
    if not dataset.id.get_type().equal(h5py.h5t.py_create(dtype, logical=True)):
        return dtype.str, f"its values are stored in another way than {dtype.name}"
    return dtype.str, ""


def _filters(dataset: h5py.Dataset) -> Iterator[tuple[int, tuple[int, ...]]]:
    created = dataset.id.get_create_plist()
    for place in range(created.get_nfilters()):
        number, _, parameters, _ = created.get_filter(place)
        yield number, tuple(int(value) for value in parameters)


def _fill(dataset: h5py.Dataset) -> bytes:
    value = np.asarray(dataset.fillvalue, dataset.dtype)
    return b"" if not value.tobytes().strip(b"\0") else value.tobytes()


def _plain(
    dataset: h5py.Dataset, dtype: str, filters: tuple[tuple[int, tuple[int, ...]], ...]
) -> str:
    numbers = [number for number, _ in filters]
    if not dataset.chunks:
        return "it is not chunked"
    if dataset.is_virtual or dataset.external:
        return "its data lie in other files"
    if DEFLATE not in numbers:
        return "it is not deflate-compressed"
    if numbers not in (
        [DEFLATE],
        [SHUFFLE, DEFLATE],
        [DEFLATE, FLETCHER32],
        [SHUFFLE, DEFLATE, FLETCHER32],
    ):
        return f"its filters {numbers} are not shuffle, deflate and fletcher32 in this order"
    if dict(filters).get(SHUFFLE, ())[:1] not in ((), (dataset.dtype.itemsize,)):
        return "its shuffle is for values of another size"
    return ""
