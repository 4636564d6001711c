"""zarr-python reads directories and, through fsspec or obstore, URLs, and writes Zarr 2 and 3."""

from __future__ import annotations

import asyncio
import base64
import struct
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import numcodecs
import numpy as np
import zarr
import zarr.codecs
from numpy.typing import NDArray
from zarr.core.sync import sync
from zarr.storage import FsspecStore, LocalStore, ObjectStore

from .layout import Layout
from .reading import Indexed, Opened, Reader
from .selection import Selection, region
from .urls import Place, Remote, system_in_zarr
from .variable import Variable
from .writing import Attrs, Placed, Writer, by_group, fitted, ordered

_CODECS: dict[int, dict[str, Any]] = {
    2: {"deflate": numcodecs.Zlib, "zstd": numcodecs.Zstd, "bzip2": numcodecs.BZ2},
    3: {"deflate": zarr.codecs.GzipCodec, "zstd": zarr.codecs.ZstdCodec},
}


class ZarrReader(Reader):
    """Reads Zarr 2, Zarr 3 and NCZarr directories; `zarr-obstore` reads URLs by obstore.

    What a server says is not there is a missing chunk, which holds fill values: so Zarr has it.
    """

    has_chunk_cache = False

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        # The array's own folder: nothing of the group is read, as a user would have it.
        inside = place / variable if isinstance(place, Path) else place.below(variable)
        with ExitStack() as held:
            if isinstance(inside, Remote) and self.name == "zarr-obstore":
                from obstore.store import from_url

                store: Any = ObjectStore(from_url(inside.url, **inside.obstore()), read_only=True)
            else:
                store = store_at(inside, held)
            return opened_array(store, variable, "", held)


def store_at(place: Place, held: ExitStack) -> LocalStore | FsspecStore:
    """Return the store in a folder, or by fsspec behind a URL, which `held` closes."""
    if isinstance(place, Path):
        # A store and no text, in which newer versions take # for the start of options.
        return LocalStore(place, read_only=True)
    system, path, close = system_in_zarr(place)
    held.callback(close)
    return FsspecStore(system, path=path, read_only=True)


def opened_array(store: Any, name: str, path: str, held: ExitStack, **options: Any) -> Opened:
    array = zarr.open_array(store=store, path=path, mode="r", **options)
    for codec in getattr(array.metadata, "filters", None) or ():
        if isinstance(getattr(codec, "elementsize", 0), str):
            raise ValueError("NCZarr's shuffle has its size as text: read it with nczarr")
    return Indexed(name, array, held)


class ZarrWriter(Writer):
    """Writes a Zarr directory with the dimension names xarray looks for."""

    def _make(self, variables: Placed, attrs: Attrs, cache_bytes: int | None) -> None:
        version: Literal[2, 3] = 2 if variables[-1][1].format == "zarr2" else 3
        store = LocalStore(self.path)
        root, *groups = by_group(attrs).items()
        group = zarr.create_group(store=store, zarr_format=version, attributes=_plain(root[1]))
        for path, own in groups:
            group.require_group(path).attrs.update(_plain(own))
        for variable, layout in variables:
            whole = tuple(max(n, 1) for n in variable.shape)
            options: dict[str, Any] = {
                "dtype": np.dtype(variable.dtype),
                "shape": variable.shape,
                "chunks": layout.chunks if layout.chunks and variable.dims else whole,
                "compressors": _compressor(layout, version),
                "attributes": _plain(variable.attrs),
                "fill_value": variable.fill_value,
            }
            options |= _options2(variable, layout) if version == 2 else _options3(variable, layout)
            self._handles[variable.name] = group.create_array(variable.name, **options)
        if version == 2:
            # Over a network one request then tells all; Zarr 3 has no agreed form of it.
            zarr.consolidate_metadata(store, zarr_format=2)

    def write(self, name: str, selection: Selection, values: NDArray[Any]) -> None:
        handle = self._handles[name]
        # zarr takes the pieces of a selection from values of another shape wrongly.
        handle[selection] = fitted(values, region(selection, handle.shape, name).shape)

    def discard(self) -> None:
        sync(_others_end())
        super().discard()


async def _others_end(timeout_s: float = 60.0) -> None:
    """Wait for whatever else zarr's event loop does; a write that fails leaves its others alone."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=timeout_s)


def _compressor(layout: Layout, version: int) -> Any:
    name, _, library = (layout.codec or "").partition("-")
    level = layout.effective_level
    if name == "blosc" and version == 2:
        return numcodecs.Blosc(library, level, int(layout.shuffle))
    if name == "blosc":
        shuffle = "shuffle" if layout.shuffle else "noshuffle"
        how: dict[str, Any] = {"cname": library, "clevel": level, "shuffle": shuffle}
        return zarr.codecs.BloscCodec(**how)
    return _CODECS[version][name](level=level) if name else None


def _options2(variable: Variable, layout: Layout) -> dict[str, Any]:
    dtype = ordered(variable.dtype, layout.byteorder)
    shuffled = layout.shuffle and not (layout.codec or "").startswith("blosc")
    return {
        "dtype": dtype,
        "filters": [numcodecs.Shuffle(dtype.itemsize)] if shuffled else None,
        "attributes": {**_plain(variable.attrs), "_ARRAY_DIMENSIONS": list(variable.dims)},
    }


def _options3(variable: Variable, layout: Layout) -> dict[str, Any]:
    dtype, fill = np.dtype(variable.dtype), variable.fill_value
    options: dict[str, Any] = {
        "filters": None,
        "fill_value": 0 if fill is None else fill,
        "dimension_names": variable.dims or None,
    }
    if layout.shards and variable.dims:
        options["shards"] = layout.shards
    if layout.byteorder != "native" and dtype.itemsize > 1:
        options["serializer"] = zarr.codecs.BytesCodec(endian=layout.byteorder)
    if fill is not None:
        # As xarray has it in Zarr 3: base64 of a double, or an integer.
        double = base64.standard_b64encode(struct.pack("<d", fill)).decode()
        filled = {"_FillValue": double if dtype.kind == "f" else int(fill)}
        options["attributes"] = _plain(variable.attrs) | filled
    return options


def _plain(attrs: Mapping[str, object]) -> dict[str, Any]:
    return {
        key: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for key, value in attrs.items()
    }


READER = ZarrReader
