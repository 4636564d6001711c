"""The writer of Zarr 2 and Zarr 3 directories through zarr-python."""

from __future__ import annotations

import asyncio
import base64
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numcodecs
import numpy as np
import zarr
import zarr.codecs
from numpy.typing import NDArray
from zarr.core.sync import sync
from zarr.storage import LocalStore

from hyperslab.storage.layout import Layout
from hyperslab.storage.region import Selection, region
from hyperslab.storage.variable import Variable
from hyperslab.storage.writers.base import FileWriter, fitted, ordered


class ZarrWriter(FileWriter):
    """Writes a Zarr directory with the dimension names xarray looks for."""

    def __init__(
        self,
        path: Path,
        variables: Sequence[tuple[Variable, Layout]],
        format: str,
        attrs: Mapping[str, object],
        chunk_cache_bytes: int | None,
    ) -> None:
        super().__init__(path)
        version: Literal[2, 3] = 2 if format == "zarr2" else 3
        # A store and no text, in which newer versions take # for the start of options.
        store = LocalStore(path)
        try:
            group = zarr.create_group(store=store, zarr_format=version, attributes=_plain(attrs))
            for variable, layout in variables:
                create = _create2 if version == 2 else _create3
                self._handles[variable.name] = create(group, variable, layout)
            if version == 2:
                # Over a network one request then tells all; Zarr 3 has no agreed form of it.
                zarr.consolidate_metadata(store, zarr_format=2)
        except BaseException:
            self.discard()
            raise

    def write(self, name: str, selection: Selection, values: NDArray[Any]) -> None:
        """Write the values of one selection.

        zarr takes the pieces of a selection from values of another shape wrongly.
        """
        handle = self._handles[name]
        handle[selection] = fitted(values, region(selection, handle.shape, name).shape)

    def discard(self) -> None:
        """Remove what was written, once zarr's threads write no more chunks of what failed."""
        sync(_others_end())
        super().discard()

    def _flush(self) -> None:
        """Nothing is held back: each write has gone to its files."""

    def _close(self) -> None:
        """Nothing is open between writes."""


async def _others_end(timeout_s: float = 60.0) -> None:
    """Wait for whatever else zarr's event loop does; a write that fails leaves its others alone."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=timeout_s)


def _shape(variable: Variable, layout: Layout) -> dict[str, Any]:
    whole = tuple(max(n, 1) for n in variable.shape)
    chunks = layout.chunks if layout.chunks and variable.dims else whole
    return {"shape": variable.shape, "chunks": chunks}


def _create2(group: zarr.Group, variable: Variable, layout: Layout) -> Any:
    dtype = ordered(variable.dtype, layout.byteorder)
    level = layout.effective_level
    name, _, library = (layout.codec or "").partition("-")
    codec: Any = None
    if name == "deflate":
        codec = numcodecs.Zlib(level)
    elif name == "zstd":
        codec = numcodecs.Zstd(level)
    elif name == "bzip2":
        codec = numcodecs.BZ2(level)
    elif name == "blosc":
        shuffle = numcodecs.Blosc.SHUFFLE if layout.shuffle else numcodecs.Blosc.NOSHUFFLE
        codec = numcodecs.Blosc(library, level, shuffle)
    apart = layout.shuffle and name != "blosc"
    return group.create_array(
        variable.name,
        dtype=dtype,
        filters=[numcodecs.Shuffle(dtype.itemsize)] if apart else None,
        compressors=codec,
        fill_value=variable.fill_value,
        attributes={**_plain(variable.attrs), "_ARRAY_DIMENSIONS": list(variable.dims)},
        **_shape(variable, layout),
    )


def _create3(group: zarr.Group, variable: Variable, layout: Layout) -> Any:
    dtype = np.dtype(variable.dtype)
    level = layout.effective_level
    name, _, cname = (layout.codec or "").partition("-")
    library: Any = cname
    codec: Any = None
    if name == "deflate":
        codec = zarr.codecs.GzipCodec(level=level or 1)
    elif name == "zstd":
        codec = zarr.codecs.ZstdCodec(level=level or 1)
    elif name == "blosc":
        shuffle: Any = "shuffle" if layout.shuffle else "noshuffle"
        codec = zarr.codecs.BloscCodec(
            cname=library,
            clevel=level or 1,
            shuffle=shuffle,
        )
    options = _shape(variable, layout)
    if layout.shards and variable.dims:
        options["shards"] = layout.shards
    if layout.byteorder != "native" and dtype.itemsize > 1:
        options["serializer"] = zarr.codecs.BytesCodec(endian=layout.byteorder)
    attributes = _plain(variable.attrs)
    if variable.fill_value is not None:
        attributes["_FillValue"] = _fill3(variable.fill_value, dtype)
    return group.create_array(
        variable.name,
        dtype=dtype,
        filters=None,
        compressors=codec,
        fill_value=0 if variable.fill_value is None else variable.fill_value,
        dimension_names=variable.dims or None,
        attributes=attributes,
        **options,
    )


def _fill3(value: float | int, dtype: np.dtype[Any]) -> object:
    """Give a fill value as xarray writes it in Zarr 3: base64 of a double, or an integer."""
    if dtype.kind == "f":
        return base64.standard_b64encode(struct.pack("<d", float(value))).decode()
    return int(value)


def _plain(attrs: Mapping[str, object]) -> dict[str, Any]:
    """Give attributes as JSON has them."""
    return {
        key: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for key, value in attrs.items()
    }
