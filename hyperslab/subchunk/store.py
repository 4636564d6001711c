"""A Zarr v3 store, read only, over a netCDF-4 or HDF5 file, with any grid of chunks."""

import asyncio
import json
import math
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from zarr.abc.store import (
    ByteRequest,
    OffsetByteRequest,
    RangeByteRequest,
    Store,
    SuffixByteRequest,
)
from zarr.core.buffer import Buffer, BufferPrototype

from .errors import reason
from .file import File
from .names import Contents, contents
from .virtual import Array, Grid, arrays, json_attributes

_METADATA = "zarr.json"


class SubchunkStore(Store):
    """A netCDF-4 or HDF5 file as a Zarr v3 store that can only be read.

    Each chunk is cut out of the file when it is asked for, so the grid need not be the file's.

    Parameters
    ----------
    chunks : mapping, optional
        Values of a chunk: by the name of a variable its shape, one number a dimension, or
        numbers by names of dimensions; by the name of a dimension a number for all variables
        that have it. -1 stands for the whole dimension. What is not named keeps the file's own
        chunks; a variable without any gets chunks of at most 16 MiB.
    path, index, storage_options, threads, memory_bytes
        As `hyperslab.subchunk.File` takes them; one thread, as Zarr reads several chunks at a time.

    Raises
    ------
    ValueError
        For chunks that name what the file does not have, or do not fit it.

    Examples
    --------
    >>> import h5py, numpy as np, tempfile, zarr
    >>> path = Path(tempfile.mkdtemp()) / "x.h5"
    >>> with h5py.File(path, "w") as file:
    ...     _ = file.create_dataset("x", data=np.arange(100.0), chunks=(50,), compression=4)
    >>> group = zarr.open_group(SubchunkStore(path, {"x": (10,)}), mode="r")
    >>> group["x"].chunks, float(group["x"][42])
    ((10,), 42.0)
    """

    supports_writes = supports_deletes = False
    supports_listing = True

    def __init__(
        self,
        path: str | Path,
        chunks: Mapping[str, Grid] | None = None,
        *,
        index: str | Path | None = None,
        storage_options: Mapping[str, Any] | None = None,
        threads: int = 1,
        memory_bytes: int | None = None,
    ) -> None:
        super().__init__(read_only=True)
        self.path = os.fspath(path)
        self._file = File(
            path, index, storage_options=storage_options, threads=threads, memory_bytes=memory_bytes
        )
        held = contents(self._file)
        self._arrays, self.left_out = arrays(held, {} if chunks is None else chunks)
        self.chunks = dict(chunks or {})
        self._nodes = self._described(held)
        self._documents = {f"{name}/{_METADATA}".lstrip("/"): name for name in self._nodes}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SubchunkStore) and (
            (self.path, self._nodes) == (other.path, other._nodes)
        )

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"SubchunkStore({self.path!r}, {self.chunks!r})"

    def __str__(self) -> str:
        return f"subchunk://{self.path}"

    def close(self) -> None:
        self._file.close()
        super().close()

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        if key in self._documents:
            data = self._document(key)
        elif chunk := self._chunk(key):
            data = await asyncio.to_thread(chunk[0].read, chunk[1])
        else:
            return None
        return prototype.buffer.from_bytes(_cut(data, byte_range))

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        return await asyncio.gather(
            *(self.get(key, prototype, byte_range) for key, byte_range in key_ranges)
        )

    async def exists(self, key: str) -> bool:
        return key in self._documents or self._chunk(key) is not None

    async def getsize(self, key: str) -> int:
        if (chunk := self._chunk(key)) and not chunk[0].text:
            return math.prod(chunk[0].chunks) * chunk[0].dtype.itemsize
        return await super().getsize(key)

    async def set(self, key: str, value: Buffer) -> None:
        self._check_writable()

    async def delete(self, key: str) -> None:
        self._check_writable()

    def list(self) -> AsyncIterator[str]:
        return self.list_prefix("")

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for key in self._keys():
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        front = prefix.strip("/") + "/" if prefix.strip("/") else ""
        seen = set()
        folders = [f"{name}/c" for name in self._arrays]
        # Below an array only the folder of its chunks matters: its keys can be millions.
        inside = any(front.startswith(f"{name}/c/") for name in self._arrays)
        for key in self._keys() if inside else (*self._documents, *folders):
            child = key[len(front) :].split("/")[0]
            if key.startswith(front) and child not in seen:
                seen.add(child)
                yield child

    def _keys(self) -> Iterator[str]:
        yield from self._documents
        for name, array in self._arrays.items():
            for corner in product(*(range(count) for count in array.grid)):
                yield "/".join([name, "c", *map(str, corner)])

    def _described(self, held: Contents) -> dict[str, dict[str, Any]]:
        """Return the metadata of groups and arrays, by their paths; what has none is left out."""
        nodes: dict[str, dict[str, Any]] = {}
        for name, array in list(self._arrays.items()):
            attrs = json_attributes(array.reader.attrs, self.left_out, name, array.dtype)
            try:
                nodes[name] = array.metadata(attrs)
            except Exception as error:
                self.left_out[name] = f"Zarr cannot describe it: {reason(error)}"
                del self._arrays[name]
        for group in held.dimensions:
            if "\\" not in group:
                attrs = json_attributes(self._file.attributes(group), self.left_out, group)
                nodes[group] = {"zarr_format": 3, "node_type": "group", "attributes": attrs}
        # What lies below a group stands behind it, side by side, as Zarr wants it.
        return dict(sorted(nodes.items(), key=lambda node: node[0].split("/")))

    def _document(self, key: str) -> bytes:
        """Return the metadata of a node, of a group with all below it: opening it takes one key."""
        name = self._documents[key]
        node = self._nodes[name]
        if node["node_type"] == "group":
            front = f"{name}/" if name else ""
            below = {
                path.removeprefix(front): other
                for path, other in self._nodes.items()
                if path.startswith(front) and path
            }
            consolidated = {"kind": "inline", "must_understand": False, "metadata": below}
            node = node | {"consolidated_metadata": consolidated}
        return json.dumps(node).encode()

    def _chunk(self, key: str) -> tuple[Array, tuple[int, ...]] | None:
        """Return the array of a chunk's key, and where in the grid it lies."""
        name, _, below = f"{key}/".rpartition("/c/")
        array, numbers = self._arrays.get(name), below.split("/")[:-1]
        if array is None or not all(number.isdecimal() for number in numbers):
            return None
        corner = tuple(map(int, numbers))
        inside = all(number < count for number, count in zip(corner, array.grid, strict=False))
        return (array, corner) if inside and len(corner) == len(array.grid) else None


def _cut(data: bytes, byte_range: ByteRequest | None) -> bytes:
    if isinstance(byte_range, RangeByteRequest):
        return data[byte_range.start : byte_range.end]
    if isinstance(byte_range, OffsetByteRequest):
        return data[byte_range.offset :]
    if isinstance(byte_range, SuffixByteRequest):
        return data[max(0, len(data) - byte_range.suffix) :]
    return data
