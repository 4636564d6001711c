"""Zarr 2 and 3, with shards, through zarr-python: local folders and stores of fsspec."""

from __future__ import annotations

import base64
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from ..writing import stored_bytes
from .base import (
    Dims,
    Indices,
    Source,
    SourceVariable,
    Step,
    attributes,
    compression,
    dtype_name,
    fill_of,
    layout_of,
    order,
    why_not,
)

_NAMES = {"zlib": "deflate", "gzip": "deflate", "bz2": "bzip2"}


class ZarrSource(Source):
    """A Zarr group or array of a store of zarr-python, and its folder (None for a URL)."""

    threads = True

    def __init__(self, address: str, store: Any, path: Path | None) -> None:
        super().__init__(address, path)
        with _quiet():
            self._root: Any = zarr.open(store=store, mode="r")
        self.format = f"zarr{self._root.metadata.zarr_format}"
        self._arrays: dict[str, Any] = {}

    def touch(self, name: str) -> None:
        """Fetch the metadata of an array."""
        self._array(name)

    def _read(self, name: str, selection: Indices) -> Any:
        return self._array(name)[selection]

    def _array(self, name: str) -> Any:
        if name not in self._arrays:
            lone = isinstance(self._root, zarr.Array)
            self._arrays[name] = self._root if lone else self._root[name]
        return self._arrays[name]

    @cached_property
    def _members(self) -> list[tuple[str, Any]]:
        with _quiet():
            return list(self._root.members(max_depth=None))

    def _groups(self) -> Iterator[tuple[str, Any]]:
        if isinstance(self._root, zarr.Group):
            yield "", self._root
            yield from (
                (name, item) for name, item in self._members if isinstance(item, zarr.Group)
            )

    def _attributes(self, item: Any) -> tuple[dict[str, object], frozenset[str]]:
        attrs = dict(item.attrs)
        own = ("_nczarr", "_NCProperties", "_ARRAY_DIMENSIONS")
        return attributes([name for name in attrs if not name.startswith(own)], attrs.__getitem__)

    def _describe(self) -> list[SourceVariable]:
        if isinstance(self._root, zarr.Array):
            name = self._root.basename or (self._path.stem if self._path else "data")
            return [self._described(name, self._root, Dims(), self._path)]
        arrays = [(name, item) for name, item in self._members if isinstance(item, zarr.Array)]
        arrays.sort(key=lambda pair: (pair[0].count("/"), pair[0]))
        dims = Dims()
        return [
            self._described(name, array, dims, self._path / name if self._path else None)
            for name, array in arrays
        ]

    def _described(self, name: str, array: Any, dims: Dims, folder: Path | None) -> SourceVariable:
        (attrs, lost), rank = self._attributes(array), len(array.shape)
        dtype, given = np.dtype(array.dtype), getattr(array.metadata, "dimension_names", None)
        wanted = array.attrs.get("_ARRAY_DIMENSIONS") or given
        if not isinstance(wanted, list | tuple) or len(wanted) != rank:
            wanted = [None] * rank
        reason, order = why_not(dtype), _order(array, dtype)
        fill, group = _fill(array, attrs, dtype), name.rpartition("/")[0]
        codec, fields = compression(list(_steps(array)))
        if fields is not None:
            fields |= {"chunks": array.chunks, "shards": getattr(array, "shards", None)}
            fields |= {"byteorder": order} if dtype.itemsize > 1 else {}
        return SourceVariable(
            name,
            dims.names((dim, n, False, group) for dim, n in zip(wanted, array.shape, strict=True)),
            tuple(int(n) for n in array.shape),
            dtype_name(dtype),
            attrs,
            None if reason else fill,
            chunks=tuple(array.chunks) if rank else None,
            codec=codec,
            byteorder=order,
            stored_bytes=stored_bytes(folder) if folder and folder.is_dir() else None,
            layout=layout_of(self.format, **fields) if fields else None,
            reason=reason,
            lost=lost,
        )


def _order(array: Any, dtype: np.dtype[Any]) -> str:
    """Return the byte order; in Zarr 3 it is the serializer's and not the type's."""
    endian = getattr(getattr(array, "serializer", None), "endian", None)
    return str(getattr(endian, "value", endian)) if endian else order(dtype)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings of types that Zarr 3 does not specify: those are not copied."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _fill(array: Any, attrs: dict[str, object], dtype: np.dtype[Any]) -> float | int | None:
    """Return the fill value by xarray's convention.

    In Zarr 2 it is the array's own. There 0 may as well be zarr's default, which would make zeros
    missing in other formats: it is left out. In Zarr 3 it is an attribute, floats in base64.
    """
    given = attrs.get("_FillValue")
    if isinstance(given, str) and dtype.kind == "f":
        try:
            attrs["_FillValue"] = struct.unpack("<d", base64.standard_b64decode(given))[0]
        except (ValueError, struct.error):
            attrs["_FillValue"] = float(given) if given.lower() in ("nan", "inf", "-inf") else None
    if given is None and array.metadata.zarr_format == 2 and array.metadata.fill_value:
        attrs["_FillValue"] = array.metadata.fill_value
    return fill_of(attrs, dtype)


def _steps(array: Any) -> Iterator[Step]:
    """Yield the filters and codecs of an array."""
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
    described = codec.to_dict()
    return str(described["name"]).removeprefix("numcodecs."), dict(
        described.get("configuration", {})
    )
