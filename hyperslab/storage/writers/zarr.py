"""The writer of Zarr 2 and Zarr 3 directories through zarr-python."""

from __future__ import annotations

import asyncio
import base64
import struct
from collections.abc import Mapping
from typing import Any, Literal

import numcodecs
import numpy as np
import zarr
import zarr.codecs
from numpy.typing import NDArray
from zarr.core.sync import sync
from zarr.storage import LocalStore

from hyperslab.storage.layout import Layout
from hyperslab.storage.selection import Selection, region
from hyperslab.storage.variable import Variable
from hyperslab.storage.writers.base import Placed, Writer, fitted, ordered


class ZarrWriter(Writer):
    """Writes a Zarr directory with the dimension names xarray looks for."""

    def _make(
        self, variables: Placed, attrs: Mapping[str, object], chunk_cache_bytes: int | None
    ) -> None:
        version: Literal[2, 3] = 2 if variables[-1][1].format == "zarr2" else 3
        # A store and no text, in which newer versions take # for the start of options.
        store = LocalStore(self.path)
        group = zarr.create_group(store=store, zarr_format=version, attributes=_plain(attrs))
        for variable, layout in variables:
            options = {
                "dtype": np.dtype(variable.dtype),
                "shape": variable.shape,
                "chunks": _chunks(variable, layout),
                "attributes": _plain(variable.attrs),
                "fill_value": variable.fill_value,
            }
            options |= _options2(variable, layout) if version == 2 else _options3(variable, layout)
            self._handles[variable.name] = group.create_array(variable.name, **options)
        if version == 2:
            # Over a network one request then tells all; Zarr 3 has no agreed form of it.
            zarr.consolidate_metadata(store, zarr_format=2)

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


async def _others_end(timeout_s: float = 60.0) -> None:
    """Wait for whatever else zarr's event loop does; a write that fails leaves its others alone."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=timeout_s)


def _chunks(variable: Variable, layout: Layout) -> tuple[int, ...]:
    whole = tuple(max(n, 1) for n in variable.shape)
    return layout.chunks if layout.chunks and variable.dims else whole


def _options2(variable: Variable, layout: Layout) -> dict[str, Any]:
    dtype, level = ordered(variable.dtype, layout.byteorder), layout.effective_level
    name, _, library = (layout.codec or "").partition("-")
    codec: Any = None
    if name == "blosc":
        codec = numcodecs.Blosc(library, level, int(layout.shuffle))
    elif name:
        plain = {"deflate": numcodecs.Zlib, "zstd": numcodecs.Zstd, "bzip2": numcodecs.BZ2}
        codec = plain[name](level)
    shuffled = layout.shuffle and name != "blosc"
    return {
        "dtype": dtype,
        "filters": [numcodecs.Shuffle(dtype.itemsize)] if shuffled else None,
        "compressors": codec,
        "attributes": {**_plain(variable.attrs), "_ARRAY_DIMENSIONS": list(variable.dims)},
    }


def _options3(variable: Variable, layout: Layout) -> dict[str, Any]:
    dtype, level = np.dtype(variable.dtype), layout.effective_level or 1
    name, _, library = (layout.codec or "").partition("-")
    options: dict[str, Any] = {
        "filters": None,
        "compressors": None,
        "fill_value": 0 if variable.fill_value is None else variable.fill_value,
        "dimension_names": variable.dims or None,
    }
    if name == "blosc":
        options["compressors"] = zarr.codecs.BloscCodec(
            cname=library,  # type: ignore[arg-type]
            clevel=level,
            shuffle="shuffle" if layout.shuffle else "noshuffle",
        )
    elif name:
        plain = {"deflate": zarr.codecs.GzipCodec, "zstd": zarr.codecs.ZstdCodec}
        options["compressors"] = plain[name](level=level)
    if layout.shards and variable.dims:
        options["shards"] = layout.shards
    if layout.byteorder != "native" and dtype.itemsize > 1:
        options["serializer"] = zarr.codecs.BytesCodec(endian=layout.byteorder)
    if variable.fill_value is not None:
        filled = {"_FillValue": _fill3(variable.fill_value, dtype)}
        options["attributes"] = _plain(variable.attrs) | filled
    return options


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
