"""h5py reads HDF5 from files and, through fsspec, behind URLs, and writes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from .layout import Layout
from .reading import StreamReader
from .selection import Selection
from .variable import Variable
from .writing import Attrs, Placed, Writer, by_group, ordered

PAGE_BUFFER_BYTES = 2**25


class H5pyReader(StreamReader):
    """Reads HDF5, and so netCDF-4, with h5py; its names differ in what is cached of URLs."""

    def prepare(self) -> None:
        find_plugins()

    def file(self, source: Any, **cache: int) -> Any:
        paged = {"page_buf_size": PAGE_BUFFER_BYTES} if self.name == "h5py-paged" else {}
        return h5py.File(source, "r", **cache, **paged)


def find_plugins() -> None:
    """Let HDF5 read zstd, Blosc and bzip2 with the plugins that netCDF4's wheel brings."""
    found = find_spec("netCDF4")
    for folder in (found.submodule_search_locations or ()) if found else ():
        plugins = os.fsencode(Path(folder) / "plugins")
        known = [h5py.h5pl.get(i) for i in range(h5py.h5pl.size())]
        if Path(os.fsdecode(plugins)).is_dir() and plugins not in known:
            h5py.h5pl.append(plugins)


# What netCDF-C calls a scale that only gives a dimension its name and length.
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"


class HDF5Writer(Writer):
    """Writes through h5py; coordinates become dimension scales."""

    _broken = False

    def _make(self, variables: Placed, attrs: Attrs, cache_bytes: int | None) -> None:
        options: dict[str, Any] = {"rdcc_nbytes": cache_bytes}
        if page_bytes := variables[-1][1].page_bytes:
            options |= {"fs_strategy": "page", "fs_page_size": page_bytes}
        self._file = h5py.File(self.path, "w", **options)
        for path, own in by_group(attrs).items():
            self._file.require_group(path or "/").attrs.update(own)
        for variable, layout in variables:
            self._handles[variable.name] = self._create(variable, layout)
        self._attach(variables)

    def _create(self, variable: Variable, layout: Layout) -> Any:
        options: dict[str, Any] = {"fillvalue": variable.fill_value, "track_times": False}
        if not layout.prefill:
            options["fill_time"] = "never"
        if variable.dims and (layout.chunks or variable.unlimited):
            options["chunks"] = layout.chunks or True
            options["maxshape"] = tuple(
                None if dim in variable.unlimited else n
                for dim, n in zip(variable.dims, variable.shape, strict=True)
            )
            options["fletcher32"] = layout.fletcher32
            if layout.codec is not None:
                options["compression"] = "gzip" if layout.codec == "deflate" else layout.codec
                options["shuffle"] = layout.shuffle
                if layout.effective_level is not None:
                    options["compression_opts"] = layout.effective_level
        dtype = ordered(variable.dtype, layout.byteorder)
        dataset = self._file.create_dataset(
            variable.name, shape=variable.shape, dtype=dtype, **options
        )
        dataset.attrs.update(variable.attrs)
        if variable.fill_value is not None:
            dataset.attrs["_FillValue"] = np.dtype(variable.dtype).type(variable.fill_value)
        return dataset

    def _attach(self, variables: Placed) -> None:
        if not any(v.dims == (v.name,) for v, _ in variables):
            return
        sizes = {d: n for v, _ in variables for d, n in zip(v.dims, v.shape, strict=True)}
        scales = {}
        for dim, size in sizes.items():
            if any(v.dims == (dim,) == (v.name,) for v, _ in variables):
                scales[dim] = self._handles[dim]
                scales[dim].make_scale(dim)
            elif dim not in self._file:  # else its name is another variable's
                scales[dim] = self._file.create_dataset(dim, shape=(size,), dtype=">f4")
                scales[dim].make_scale(f"{NO_VARIABLE}. {size:10d}")
        for variable, _ in variables:
            for axis, dim in enumerate(variable.dims):
                if variable.name != dim and dim in scales:
                    self._handles[variable.name].dims[axis].attach_scale(scales[dim])

    def write(self, name: str, selection: Selection, values: NDArray[Any]) -> None:
        with self._noticed():
            super().write(name, selection, values)

    def finish(self, name: str) -> None:
        with self._noticed():
            self._handles[name].flush()
        del self._handles[name]

    def close(self) -> None:
        if not self._closed and self._file is not None:
            self._flush()  # what closing alone cannot write is lost without an error
        super().close()

    def discard(self) -> None:
        if self._broken:
            for item in (self._file, *self._handles.values()):
                item.id.locked = True  # h5py leaves it open, also at the end of the process
            self._closed = True
            with suppress(OSError):
                os.truncate(self.path, 0)  # an open file keeps its blocks
        super().discard()

    def _flush(self) -> None:
        with self._noticed():
            self._file.flush()

    def _close(self) -> None:
        self._file.close()

    @contextmanager
    def _noticed(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError):
            self._broken = True
            raise


READER = H5pyReader
