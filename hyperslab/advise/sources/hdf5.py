"""HDF5 through h5py: local files, and any file that fsspec has open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from hyperslab.io.by_h5py import find_plugins
from hyperslab.io.selection import region

from .base import Dims, Indices, Source, SourceVariable, fill_of
from .filters import Stored, stored
from .hdf5_attrs import OWN_ATTRIBUTES, plain_attrs
from .kinds import TEXT, dtype_name, why_not

# Of netCDF-C's scales that only give a dimension its name.
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"
NON_COORDINATE = "_nc4_non_coord_"


class HDF5Source(Source):
    """An HDF5 file, or a netCDF-4 file read as one.

    Parameters
    ----------
    address
        As it was given.
    file
        An open file of h5py.
    stat_bytes
        Its bytes; -1 where unknown.
    threads
        Whether what it is read through works in threads of its own.
    on_close
        What else is closed with it.
    """

    def __init__(
        self,
        address: str,
        file: Any,
        stat_bytes: int,
        *,
        threads: bool = False,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(address)
        self.threads = threads
        self._file, self._bytes, self._on_close = file, stat_bytes, on_close
        self._datasets: dict[str, Any] = {}
        self._caches: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._grown: dict[str, tuple[int, ...]] = {}
        find_plugins()

    @property
    def format(self) -> str:
        """The format, netCDF-4 where the file says so."""
        return netcdf_kind(self._file) or "hdf5"

    @property
    def stat_bytes(self) -> int:
        """Bytes of the file."""
        return self._bytes

    def touch(self, name: str) -> None:
        """Open the dataset and fetch its attributes."""
        dict(self._dataset(name).attrs)

    def cache(self, name: str, nbytes: int) -> None:
        """Give a dataset a chunk cache; it is opened again for that."""
        self._datasets.pop(name, None)
        self._caches[name] = nbytes

    def close(self) -> None:
        """Close the file; closing again does nothing."""
        self._datasets.clear()
        if self._file:
            self._file.close()
            if self._on_close:
                self._on_close()

    def _read(self, name: str, selection: Indices) -> Any:
        dataset, shape = self._dataset(name), self._grown.get(name)
        if shape is None:
            return dataset[selection]
        # netCDF-C stores what was written; the rest of a dimension is fill values.
        chosen = region(selection, shape, name)
        values = np.full(chosen.counts, dataset.fillvalue, dataset.dtype)
        there = tuple(
            min(max(-(-(n - start) // step), 0), count)
            for n, start, step, count in zip(
                dataset.shape, chosen.starts, chosen.steps, chosen.counts, strict=True
            )
        )
        if all(there):
            inner = tuple(
                slice(start, start + (count - 1) * step + 1, step)
                for start, step, count in zip(chosen.starts, chosen.steps, there, strict=True)
            )
            values[tuple(slice(0, count) for count in there)] = dataset[inner]
        kept = (0 if isinstance(i, int) else slice(None) for i in chosen.indices)
        return values[tuple(kept)]

    def _dataset(self, name: str) -> Any:
        if name not in self._datasets:
            if self.format != "hdf5":
                _ = self.variables  # netCDF's names and lengths are not those of the datasets
            path = self._names.get(name, name)
            if name in self._caches:
                access = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
                access.set_chunk_cache(521, self._caches[name], 0.75)
                found = h5py.h5d.open(self._file.id, path.encode(), dapl=access)
                self._datasets[name] = h5py.Dataset(found)
            else:
                self._datasets[name] = self._file[path]
        return self._datasets[name]

    def _attributes(self) -> dict[str, object]:
        return plain_attrs(self._file)

    def _attributes_left(self) -> Iterator[tuple[str, set[str]]]:
        yield "the file", set(self._file.attrs) - OWN_ATTRIBUTES - set(self.attrs)
        groups: list[str] = []
        self._file.visititems(
            lambda path, item: groups.append(path) if isinstance(item, h5py.Group) else None
        )
        for path in groups:
            yield f"group {path}", set(self._file[path].attrs) - OWN_ATTRIBUTES
        for known in self.variables.values():
            own = OWN_ATTRIBUTES | {"_FillValue"} | set(known.attrs)
            if known.copyable:
                yield known.name, set(self._dataset(known.name).attrs) - own

    def _describe(self) -> list[SourceVariable]:
        dims = Dims()
        found = []
        known = list(datasets(self._file))
        lengths = _lengths(known) if netcdf_kind(self._file) else {}
        for path, dataset in known:
            group, _, last = path.rpartition("/")
            name = f"{group}/" * bool(group) + last.removeprefix(NON_COORDINATE)
            self._names[name] = path
            found.append(_variable(name, dataset, dims, self.format, lengths))
            if found[-1].shape != dataset.shape and dataset.shape is not None:
                self._grown[name] = found[-1].shape
        return found


def _lengths(known: Sequence[tuple[str, Any]]) -> dict[str, int]:
    """Return how long the dimensions of netCDF are, by the paths of their scales."""
    lengths: dict[str, int] = {}
    for path, dataset in known:
        for scale, n in zip(_scale_paths(path, dataset), dataset.shape or (), strict=True):
            if scale:
                lengths[scale] = max(lengths.get(scale, 0), int(n))
    return lengths


def _variable(
    name: str, dataset: Any, dims: Dims, format: str, lengths: Mapping[str, int]
) -> SourceVariable:
    shape = dataset.shape
    attrs = plain_attrs(dataset)
    dtype = dataset.dtype
    fill = fill_of(attrs, dtype_name(dtype)) if not why_not(dtype) else None
    attrs.pop("_FillValue", None)
    reason = "holds nothing" if shape is None else _why_not(dtype)
    how = stored(dataset)
    if not reason and how.missing:
        reason = f"is compressed with {how.missing}, which is not installed here"
    shape = tuple(int(n) for n in shape or ())
    grows = [n is None for n in dataset.maxshape or ()]
    group = name.rpartition("/")[0]
    scales = _scale_paths(name, dataset)
    if lengths and all(scales) and len(set(scales)) == len(scales):
        shape = tuple(lengths.get(scale, n) for scale, n in zip(scales, shape, strict=True))
        names = tuple(
            dims.name(scale.rpartition("/")[2], n, grow, scale.rpartition("/")[0])
            for scale, n, grow in zip(scales, shape, grows, strict=True)
        )
    else:
        names = dims.names([s.rpartition("/")[2] or None for s in scales], shape, grows, group)
    return SourceVariable(
        name,
        names,
        shape,
        dtype_name(dtype),
        tuple(dim for dim, grow in zip(names, grows, strict=True) if grow),
        attrs,
        fill,
        how.chunks,
        None,
        how.codec,
        how.byteorder,
        how.nbytes,
        how.layout(format),
        reason,
    )


def _why_not(dtype: np.dtype[Any]) -> str:
    if h5py.check_string_dtype(dtype) is not None:
        return TEXT
    if h5py.check_ref_dtype(dtype) is not None:
        return "holds references"
    if h5py.check_vlen_dtype(dtype) is not None:
        return "holds lists of any length"
    if h5py.check_enum_dtype(dtype) is not None:
        return "holds named values (an enumeration)"
    return why_not(dtype)


def _scale_paths(name: str, dataset: Any) -> list[str]:
    """Return the paths of dimension scales, "" for none; a scale is its own dimension's."""
    rank = len(dataset.shape or ())
    if dataset.is_scale and rank == 1:
        return [f"/{name}"]
    attached = "DIMENSION_LIST" in dataset.attrs
    return [
        str(dataset.dims[axis][0].name) if attached and len(dataset.dims[axis]) else ""
        for axis in range(rank)
    ]


def datasets(
    group: Any, before: str = "", seen: set[int] | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield the datasets below a group with their paths, without dimensions that hold nothing.

    Each comes once, under its first name; soft and external links are not followed.
    """
    seen = set() if seen is None else seen
    inner = []
    for name in group:
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            continue
        item = group.get(name)
        place = h5py.h5o.get_info(item.id).addr
        if place in seen:
            continue
        seen.add(place)
        if isinstance(item, h5py.Group):
            inner.append((name, item))
        elif isinstance(item, h5py.Dataset) and not _only_dimension(item):
            yield before + name, item
    for name, item in inner:
        yield from datasets(item, f"{before}{name}/", seen)


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
    for name in file:
        item = file.get(name)
        if isinstance(item, h5py.Dataset) and (
            _only_dimension(item) or {"_Netcdf4Dimid", "_Netcdf4Coordinates"} & set(item.attrs)
        ):
            return "netcdf4"
    return ""


def how_stored(path: Path) -> dict[str, Stored]:
    """Return how the datasets of a file are stored, by path."""
    with h5py.File(path, "r") as file:
        return {name: stored(dataset) for name, dataset in datasets(file)}
