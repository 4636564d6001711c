"""Zarr 2 and 3, with shards, through zarr-python: local folders and stores of fsspec."""

from __future__ import annotations

import base64
import struct
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from ..by_zarr import store_at
from ..urls import Place
from ..writing import stored_bytes
from .base import Dims, Source, SourceVariable, Step, attributes, described, storage

_NAMES = {"zlib": "deflate", "gzip": "deflate", "bz2": "bzip2"}


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
        given = getattr(array.metadata, "dimension_names", None)
        wanted = array.attrs.get("_ARRAY_DIMENSIONS") or given
        if not isinstance(wanted, list | tuple) or len(wanted) != len(array.shape):
            wanted = [None] * len(array.shape)
        _read_fill(array, attrs, dtype)
        # In Zarr 3 the byte order is the serializer's and not the type's.
        endian = getattr(getattr(array, "serializer", None), "endian", None)
        order, shards = str(getattr(endian, "value", endian or "")), getattr(array, "shards", None)
        how = storage(self.format, dtype, list(_steps(array)), array.chunks, shards, order)
        how["stored_bytes"] = stored_bytes(folder) if folder and folder.is_dir() else None
        group = name.rpartition("/")[0]
        axes = [(dim, n, False, group) for dim, n in zip(wanted, array.shape, strict=True)]
        return described(dims, name, dtype, axes, (attrs, lost), **how)


def _read_fill(array: Any, attrs: dict[str, object], dtype: np.dtype[Any]) -> None:
    """Give attributes the fill value by xarray's convention."""
    # In Zarr 2 it is the array's own. There 0 may as well be zarr's default, which would make zeros
    # missing in other formats: it is left out. In Zarr 3 it is an attribute, floats in base64.
    given = attrs.get("_FillValue")
    if isinstance(given, str) and dtype.kind == "f":
        try:
            attrs["_FillValue"] = struct.unpack("<d", base64.standard_b64decode(given))[0]
        except (ValueError, struct.error):
            attrs["_FillValue"] = float(given) if given.lower() in ("nan", "inf", "-inf") else None
    if given is None and array.metadata.zarr_format == 2 and array.metadata.fill_value:
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
    told = codec.to_dict()
    return str(told["name"]).removeprefix("numcodecs."), dict(told.get("configuration", {}))
