"""zarr-python describes and reads folders and, by fsspec or obstore, URLs, and writes Zarr."""

from __future__ import annotations

import asyncio
import base64
import struct
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from itertools import chain
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
from .source import Dims, Source, SourceVariable, Step, attributes, described, storage
from .urls import Place, Remote, system_in_zarr
from .variable import Variable
from .writing import Attrs, Placed, Writer, by_group, fitted, ordered, stored_bytes

__all__ = ["ZarrReader", "ZarrSource", "ZarrWriter"]

_CODECS: dict[int, dict[str, Any]] = {
    2: {"deflate": numcodecs.Zlib, "zstd": numcodecs.Zstd, "bzip2": numcodecs.BZ2},
    3: {"deflate": zarr.codecs.GzipCodec, "zstd": zarr.codecs.ZstdCodec},
}
_NAMES = {"zlib": "deflate", "gzip": "deflate", "bz2": "bzip2"}


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


class ZarrSource(Source):
    threads = True

    def __init__(self, address: str, place: Place) -> None:
        super().__init__(address, place if isinstance(place, Path) else None)
        # Of types that Zarr 3 does not specify: those are not copied.
        with warnings.catch_warnings(action="ignore"):
            self._root: Any = zarr.open(store=store_at(place, ExitStack()), mode="r")
        self.format = f"zarr{self._root.metadata.zarr_format}"

    def _open(self, name: str) -> Any:
        return self._root if isinstance(self._root, zarr.Array) else self._root[name]

    @cached_property
    def _members(self) -> list[tuple[str, Any]]:
        with warnings.catch_warnings(action="ignore"):
            return list(self._root.members(max_depth=None))

    def _groups(self) -> Iterator[tuple[str, Any]]:
        if isinstance(self._root, zarr.Group):
            yield "", self._root
            yield from (pair for pair in self._members if isinstance(pair[1], zarr.Group))

    def _attributes(self, item: Any) -> tuple[dict[str, object], frozenset[str]]:
        attrs = dict(item.attrs)
        own = ("_nczarr", "_NCProperties", "_ARRAY_DIMENSIONS")
        return attributes([name for name in attrs if not name.startswith(own)], attrs.__getitem__)

    def _describe(self) -> Iterator[SourceVariable]:
        dims, lone = Dims(self._grouped), self._root
        if isinstance(lone, zarr.Array):
            name = lone.basename or (self._path.stem if self._path else "data")
            yield self._described(name, lone, dims, self._path)
            return
        arrays = [(name, item) for name, item in self._members if isinstance(item, zarr.Array)]
        for name, array in sorted(arrays, key=lambda pair: (pair[0].count("/"), pair[0])):
            yield self._described(name, array, dims, self._path / name if self._path else None)

    def _described(self, name: str, array: Any, dims: Dims, folder: Path | None) -> SourceVariable:
        (attrs, lost), dtype = self._attributes(array), np.dtype(array.dtype)
        native = getattr(array.metadata, "dimension_names", None)
        names = array.attrs.get("_ARRAY_DIMENSIONS") or native
        if not isinstance(names, list | tuple) or len(names) != len(array.shape):
            names = [None] * len(array.shape)
        _read_fill(array, attrs, dtype)
        # In Zarr 3 the byte order is the serializer's and not the type's.
        endian = getattr(getattr(array, "serializer", None), "endian", None)
        order, shards = str(getattr(endian, "value", endian or "")), getattr(array, "shards", None)
        how = storage(self.format, dtype, list(_steps(array)), array.chunks, shards, order)
        how["stored_bytes"] = stored_bytes(folder) if folder and folder.is_dir() else None
        group = name.rpartition("/")[0]
        axes = [(dim, n, False, group) for dim, n in zip(names, array.shape, strict=True)]
        return described(dims, name, dtype, axes, (attrs, lost), **how)


def _read_fill(array: Any, attrs: dict[str, object], dtype: np.dtype[Any]) -> None:
    """Give attributes the fill value by xarray's convention."""
    # In Zarr 2 it is the array's own. There 0 may as well be zarr's default, which would make zeros
    # missing in other formats: it is left out. In Zarr 3 it is an attribute, floats in base64.
    fill = attrs.get("_FillValue")
    if isinstance(fill, str) and dtype.kind == "f":
        try:
            attrs["_FillValue"] = struct.unpack("<d", base64.standard_b64decode(fill))[0]
        except (ValueError, struct.error):
            attrs["_FillValue"] = float(fill) if fill.lower() in ("nan", "inf", "-inf") else None
    if fill is None and array.metadata.zarr_format == 2 and array.metadata.fill_value:
        attrs["_FillValue"] = array.metadata.fill_value


def _steps(array: Any) -> Iterator[Step]:
    every = (getattr(array, name, ()) or () for name in ("filters", "compressors"))
    for name, config in map(_config, chain(*every)):
        level = config.get("level", config.get("clevel"))
        if name != "blosc":
            yield _NAMES.get(name, name), level, False
            continue
        kind, shuffle = (getattr(config[key], "value", config[key]) for key in ("cname", "shuffle"))
        yield f"blosc-{kind}", level, str(shuffle).lower() in ("1", "-1", "shuffle")
        if str(shuffle).lower() in ("2", "bitshuffle"):
            yield "bitshuffle", None, False


def _config(codec: Any) -> tuple[str, dict[str, Any]]:
    if hasattr(codec, "codec_id"):
        return str(codec.codec_id), dict(codec.get_config())
    fields = codec.to_dict()
    return str(fields["name"]).removeprefix("numcodecs."), dict(fields.get("configuration", {}))


READER = ZarrReader
