"""h5py describes and reads HDF5 in files and, through fsspec, behind URLs, and writes it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

# Only what describes files imports subchunk: reads that are measured do not depend on it.
from .layout import Layout
from .reading import StreamReader
from .selection import Indices, Selection, region
from .source import (
    LISTS,
    NAMED,
    TEXT,
    Axis,
    Dims,
    Source,
    SourceVariable,
    Step,
    attributes,
    described,
    storage,
    truncated,
)
from .variable import Variable
from .writing import Attrs, Placed, Writer, by_group, ordered

__all__ = ["H5pyReader", "HDF5Source", "HDF5Writer"]

PAGE_BUFFER_BYTES = 2**25
_DEFLATE, _SHUFFLE = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE
_FLETCHER32 = h5py.h5z.FILTER_FLETCHER32
_BZIP2, _LZF, _BLOSC, _ZSTD = 307, 32000, 32001, 32015
_FILTERS = {
    _DEFLATE: "deflate", _SHUFFLE: "shuffle", _FLETCHER32: "fletcher32", 4: "szip", 5: "nbit",
    6: "scale-offset", _LZF: "lzf",
}  # fmt: skip
_LEVELLED = (_DEFLATE, _BZIP2, _ZSTD)
_BLOSC_CODECS = {0: "blosclz", 1: "lz4", 2: "lz4hc", 3: "snappy", 4: "zlib", 5: "zstd"}
Filters = Mapping[int, tuple[tuple[int, ...], str]]  # values and name, by code


class H5pyReader(StreamReader):
    """Reads HDF5, and so netCDF-4, with h5py; its names differ in what is cached of URLs."""

    def prepare(self) -> None:
        find_plugins()

    def file(self, source: Any, **cache: int) -> Any:
        paged = {"page_buf_size": PAGE_BUFFER_BYTES} if self.name == "h5py-paged" else {}
        return h5py.File(source, "r", **cache, **paged)


def find_plugins() -> None:
    """Let HDF5 read zstd, Blosc and bzip2 with the plugins that netCDF4's wheel brings."""
    spec = find_spec("netCDF4")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        plugins = os.fsencode(Path(folder) / "plugins")
        registered = [h5py.h5pl.get(i) for i in range(h5py.h5pl.size())]
        if Path(os.fsdecode(plugins)).is_dir() and plugins not in registered:
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


class HDF5Source(Source):
    """An HDF5 file that h5py has open, far away from a stream that is closed with it."""

    def __init__(
        self, address: str, file: Any, path: Path | None, nbytes: int = -1, stream: Any = None
    ) -> None:
        super().__init__(address, path, nbytes)
        self.threads = stream is not None
        self._file, self._stream = file, stream
        self._caches: dict[str, int] = {}
        self._paths: dict[str, str] = {}
        self._grown: dict[str, tuple[int, ...]] = {}
        find_plugins()

    @cached_property
    def format(self) -> str:  # type: ignore[override]
        return netcdf_kind(self._file) or "hdf5"

    def touch(self, name: str) -> None:
        dict(self._variable(name).attrs)

    def cache(self, name: str, nbytes: int) -> None:
        """Give a dataset a chunk cache; it is opened again for that."""
        self._ready.pop(name, None)
        self._caches[name] = nbytes

    def close(self) -> None:
        super().close()
        if self._file:
            self._file.close()
            if self._stream:
                self._stream.close()

    def _read(self, name: str, selection: Indices) -> Any:
        dataset, shape = self._variable(name), self._grown.get(name)
        if shape is None:
            return dataset[selection]
        # netCDF-C stores what was written; the rest of a dimension is fill values.
        chosen = region(selection, shape, name)
        values = np.full(chosen.counts, dataset.fillvalue, dataset.dtype)
        ends = zip(chosen.starts, chosen.counts, chosen.steps, dataset.shape, strict=True)
        stored = dataset[
            tuple(slice(a, min(a + (n - 1) * step + 1, end), step) for a, n, step, end in ends)
        ]
        values[tuple(slice(0, n) for n in stored.shape)] = stored
        return values[tuple(0 if isinstance(i, int) else slice(None) for i in chosen.indices)]

    def _open(self, name: str) -> Any:
        if self.format != "hdf5":
            _ = self.variables  # netCDF's names and lengths are not those of the datasets
        path = self._paths.get(name, name)
        if name not in self._caches:
            return self._file[path]
        access = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
        access.set_chunk_cache(521, self._caches[name], 0.75)
        return h5py.Dataset(h5py.h5d.open(self._file.id, path.encode(), dapl=access))

    def _groups(self) -> Iterator[tuple[str, Any]]:
        return ((path, item) for path, item in walk(self._file) if isinstance(item, h5py.Group))

    def _attributes(self, item: Any) -> tuple[dict[str, object], frozenset[str]]:
        from ..subchunk.hdf5 import HIDDEN

        def get(name: str) -> object:
            value = item.attrs[name]
            return "" if isinstance(value, h5py.Empty) else value

        own = HIDDEN | {"DIMENSION_LABELS", "_NCCOPY"}
        return attributes([name for name in item.attrs if name not in own], get)

    def _describe(self) -> Iterator[SourceVariable]:
        by_path, dims = dict(datasets(self._file)), Dims(self._grouped)
        lengths: dict[str, int] = {}  # of netCDF's dimensions, by the paths of their scales
        for path, dataset in by_path.items() if netcdf_kind(self._file) else ():
            for scale, n in zip(_scales(path, dataset), dataset.shape or (), strict=True):
                if scale:
                    lengths[scale] = max(lengths.get(scale, 0), int(n))
        for path, dataset in by_path.items():
            name = _netcdf_name(path)
            self._paths[name] = path
            how, axes = stored(dataset, self.format), _axes(name, dataset, lengths)
            how["reason"] = _special(dataset) or how["reason"]
            variable = described(dims, name, dataset.dtype, axes, self._attributes(dataset), **how)
            if variable.shape != dataset.shape and dataset.shape is not None:
                self._grown[name] = variable.shape
            yield variable


def _axes(name: str, dataset: Any, lengths: Mapping[str, int]) -> list[Axis]:
    shape, scales = dataset.shape or (), _scales(name, dataset)
    groups = [name.rpartition("/")[0]] * len(shape)
    if lengths and all(scales) and len(set(scales)) == len(scales):
        shape = [lengths.get(scale, n) for scale, n in zip(scales, shape, strict=True)]
        groups = [scale.rpartition("/")[0] for scale in scales]
    bare = [scale.rpartition("/")[2] for scale in scales]
    grows = [n is None for n in dataset.maxshape or ()]
    return list(zip(bare, shape, grows, groups, strict=True))


def _special(dataset: Any) -> str:
    """Say why values of one of HDF5's own types cannot be copied."""
    if dataset.shape is None:
        return "holds nothing"
    kinds = {
        TEXT: h5py.check_string_dtype,
        "holds references": h5py.check_ref_dtype,
        LISTS: h5py.check_vlen_dtype,
        NAMED: h5py.check_enum_dtype,
    }
    return next((why for why, of in kinds.items() if of(dataset.dtype) is not None), "")


def _scales(name: str, dataset: Any) -> list[str]:
    """Return the paths of dimension scales, "" for none; a scale is its own dimension's."""
    rank = len(dataset.shape or ())
    if dataset.is_scale and rank == 1:
        return [f"/{name}"]
    attached = "DIMENSION_LIST" in dataset.attrs
    return [
        str(dataset.dims[axis][0].name) if attached and len(dataset.dims[axis]) else ""
        for axis in range(rank)
    ]


def walk(group: Any, path: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield a group, its datasets and then what its groups hold, each under its first path."""
    # Soft and external links are not followed, and dimensions that hold nothing left out.
    yield path, group
    seen = set() if seen is None else seen
    inner = []
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        item = group.get(name)
        object_address = h5py.h5o.get_info(item.id).addr
        if object_address in seen:
            continue
        seen.add(object_address)
        where = f"{path}/{name}".lstrip("/")
        if isinstance(item, h5py.Group):
            inner.append((where, item))
        elif isinstance(item, h5py.Dataset) and not _only_dimension(item):
            yield where, item
    for where, item in inner:
        yield from walk(item, where, seen)


def datasets(file: Any) -> Iterator[tuple[str, Any]]:
    return ((path, item) for path, item in walk(file) if isinstance(item, h5py.Dataset))


def _only_dimension(dataset: Any) -> bool:
    label = dataset.attrs.get("NAME", b"")
    label = label.decode(errors="replace") if isinstance(label, bytes) else str(label)
    return label.startswith(NO_VARIABLE)


def netcdf_kind(file: Any) -> str:
    """Return "netcdf4" or "netcdf4-classic" for a file that netCDF-C made, "" for others."""
    if "_nc3_strict" in file.attrs:
        return "netcdf4-classic"
    if "_NCProperties" in file.attrs:
        return "netcdf4"
    own = {"_Netcdf4Dimid", "_Netcdf4Coordinates"}
    # Not what links lead to, which may lie in another file.
    hard = (name for name in file if isinstance(file.get(name, getlink=True), h5py.HardLink))
    items = (item for item in map(file.get, hard) if isinstance(item, h5py.Dataset))
    return "netcdf4" if any(_only_dimension(x) or own & set(x.attrs) for x in items) else ""


def how_stored(path: Path, format: str) -> dict[str, dict[str, Any]]:
    """Return how the datasets of a netCDF-4 file are stored, by netCDF's names."""
    with h5py.File(path, "r") as file:
        return {_netcdf_name(path): stored(item, format) for path, item in datasets(file)}


def _netcdf_name(path: str) -> str:
    from ..subchunk.listing import NON_COORDINATE

    return path.replace(NON_COORDINATE, "")


def stored(dataset: Any, format: str) -> dict[str, Any]:
    """Return how a dataset is stored, as fields of a `SourceVariable`."""
    from ..subchunk.chunk_table import missing_filter

    filters = _filters(dataset)
    ordered = sorted(filters, key=(_SHUFFLE, _FLETCHER32).__contains__)
    steps = [_step(code, *filters[code]) for code in ordered]
    return {
        **storage(format, dataset.dtype, steps, dataset.chunks),
        "stored_bytes": int(dataset.id.get_storage_size()),
        "reason": missing_filter(dataset).removeprefix("it "),
    }


def netcdf_reads(dataset: Any) -> bool:
    filters = _filters(dataset)
    return _LZF not in filters and all(map(h5py.h5z.filter_avail, filters))


def _filters(dataset: Any) -> Filters:
    find_plugins()
    creation = dataset.id.get_create_plist()
    each = (creation.get_filter(n) for n in range(creation.get_nfilters()))
    return {int(code): (tuple(v), name.decode(errors="replace")) for code, _, v, name in each}


def _step(code: int, values: tuple[int, ...], name: str) -> Step:
    from ..subchunk.chunk_table import FILTERS

    if code == _BLOSC and len(values) > 6:
        return f"blosc-{_BLOSC_CODECS.get(values[6], '?')}", values[4], bool(values[5])
    level = values[0] if values and code in _LEVELLED else None
    return (FILTERS | _FILTERS).get(code, name or f"filter {code}"), level, False


def hdf5_says(address: str, message: str) -> str:
    """Return what HDF5's error about opening a file means."""
    if match := re.search(r"truncated file: eof = (\d+), .*stored_eof = (\d+)", message):
        return truncated(address, int(match[1]), int(match[2]))
    if "lock" in message:
        return (
            f"{address} cannot be opened: another program has it open for writing; wait for it, or "
            "copy the file and take the copy"
        )
    reason = re.sub(r"^Unable to \w+ open file \((.*)\)$", r"\1", message.splitlines()[0])
    return f"{address} is truncated or damaged: HDF5 says {reason!r}; copy it again"


READER = H5pyReader
