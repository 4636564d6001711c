"""The xarray engine: ``xr.open_dataset(path, engine="subchunk")``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.backends import BackendArray, BackendEntrypoint, StoreBackendEntrypoint
from xarray.backends.common import AbstractDataStore
from xarray.core import indexing

from .errors import OF_ONE_VARIABLE, SubchunkError
from .file import File
from .hdf5 import DEFLATE, FLETCHER32, SHUFFLE
from .names import Contents, PaddedReader, Shown, contents, texts
from .place import SUFFIX
from .variable_reader import VariableReader

_FILE_OPTIONS = ("index", "storage_options", "threads", "memory_bytes", "verify")
_DECODING = (
    "mask_and_scale", "decode_times", "concat_characters", "decode_coords", "use_cftime",
    "decode_timedelta",
)  # fmt: skip
_LOSSLESS = "surrogateescape"
_MOST = 8  # what is left out of a group and named in a warning, at most


class SubchunkEntrypoint(BackendEntrypoint):
    """Opens netCDF-4 and HDF5 files, and reads inside of their compressed chunks."""

    description = "Read inside the compressed chunks of netCDF-4 and HDF5 files that have an index"
    url = "https://hyperslab.github.io/hyperslab"
    supports_groups = True
    open_dataset_parameters = ("group", "drop_variables", *_DECODING, *_FILE_OPTIONS)

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether it is an index, or a file of this machine with an index beside it."""
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        name = os.fspath(filename_or_obj)
        return name.endswith(SUFFIX) or Path(name + SUFFIX).is_file()

    def open_dataset(self, filename_or_obj: Any, **options: Any) -> xr.Dataset:
        """Open one `group` of a file; options are those of `File` and of `xarray.open_dataset`."""
        group = (options.pop("group", None) or "").strip("/")
        with _opened_file(filename_or_obj, options) as file:
            return _opened(_Store(file, contents(file), group), **options)

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> dict[str, xr.Dataset]:
        """Open all groups of a file, by their paths; see `xarray.open_groups`."""
        top = (options.pop("group", None) or "").strip("/")
        below = f"{top}/" if top else ""
        with _opened_file(filename_or_obj, options) as file:
            held = contents(file)
            names = [name for name in sorted(held.dimensions) if name.startswith(below)]
            # As in engine netcdf4 the group that is asked for is the root of the tree.
            return {
                f"/{name.removeprefix(top).strip('/')}": _opened(
                    _Store(file, held, name), **options
                )
                for name in dict.fromkeys([top, *names])
            }

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        """Open all groups of a file as a tree; see `xarray.open_datatree`."""
        datasets = self.open_groups_as_dict(filename_or_obj, **options)
        tree = xr.DataTree.from_dict(datasets)
        for path, dataset in datasets.items():  # which the tree does not take over
            tree[path].set_close(dataset.close)
        return tree


@contextmanager
def _opened_file(name: Any, options: dict[str, Any]) -> Iterator[File]:
    """Open a file by those of the options that are a file's; close it if the body fails."""
    if not isinstance(name, str | os.PathLike):
        raise TypeError(
            f"engine 'subchunk' opens a path or a URL, not a {type(name).__name__}: for a file in "
            "memory or an open one take engine 'h5netcdf'"
        )
    file_options = {option: options.pop(option) for option in _FILE_OPTIONS if option in options}
    file = File(os.fspath(name).removesuffix(SUFFIX), **file_options)
    try:
        yield file
    except BaseException:
        file.close()
        raise


def _opened(store: _Store, **decoding: Any) -> xr.Dataset:
    """Open a group, without what turns out to be unreadable of all that xarray reads at once."""
    while True:
        try:
            dataset = StoreBackendEntrypoint().open_dataset(store, **decoding)
            for name, variable in dataset.variables.items():
                if variable.dims == (name,):  # xarray makes an index of it
                    variable.load()
        except OF_ONE_VARIABLE as error:
            if not store.leave_out(error):
                raise
        else:
            return dataset


class _Store(AbstractDataStore):
    def __init__(self, file: File, held: Contents, group: str) -> None:
        if group not in held.dimensions:
            groups = ", ".join(sorted(filter(None, held.dimensions))) or "none but the root"
            raise OSError(f"{file.path} has no group {group!r}: it has {groups}")
        self._file, self._held, self._group = file, held, group
        lost = {
            path: why for path, why in held.left_out.items() if path.rpartition("/")[0] == group
        }
        notes = [f"{path} is left out: {why}" for path, why in lost.items()]
        if len(notes) > _MOST:
            notes[_MOST:] = [f"and {len(notes) - _MOST} more: hyperslab.subchunk.open(…).left_out"]
        if notes:
            warnings.warn("; ".join(notes), stacklevel=3)
        self._shown = list(held.variables[group])

    def leave_out(self, error: SubchunkError) -> bool:
        """Go on without the variable that an error is about, if it is one of the group."""
        before = len(self._shown)
        for shown in list(self._shown):
            variable = shown.reader.variable
            if error.variable in (variable.name, variable.same):
                self._shown.remove(shown)
                warnings.warn(f"{variable.name} is left out: {error}", stacklevel=4)
        return len(self._shown) < before

    def get_attrs(self) -> dict[str, Any]:
        return self._file.attributes(self._group)

    def get_variables(self) -> dict[str, xr.Variable]:
        source = {"source": self._file.path}
        return {shown.name: _variable(shown, source) for shown in self._shown}

    def get_encoding(self) -> dict[str, Any]:
        own = self._held.dimensions[self._group]
        unlimited = {name for name, (_, unlimited) in own.items() if unlimited}
        return {"source": self._file.path, "unlimited_dims": unlimited}

    def close(self) -> None:
        self._file.close()


def _variable(shown: Shown, encoding: dict[str, Any]) -> xr.Variable:
    """Return a variable with what it takes to write it again as it is stored."""
    reader = shown.reader
    filters = dict(reader.variable.filters)
    level = filters.get(DEFLATE)
    encoding = encoding | {
        # For texts of any length xarray's word is `str`.
        "dtype": str if texts(reader.dtype) else reader.dtype,
        "zlib": level is not None,
        "complevel": level[0] if level else 0,
        "shuffle": SHUFFLE in filters,
        "fletcher32": FLETCHER32 in filters,
        "contiguous": not reader.chunks,
        "original_shape": reader.shape,
    }
    if reader.chunks:
        encoding["chunksizes"] = reader.chunks
        encoding["preferred_chunks"] = dict(zip(shown.dims, reader.chunks, strict=True))
    data = indexing.LazilyIndexedArray(_Array(reader))
    return xr.Variable(shown.dims, data, reader.attrs, encoding)


class _Array(BackendArray):
    def __init__(self, reader: VariableReader | PaddedReader) -> None:
        self._reader = reader
        self.shape = reader.shape
        self._text = texts(reader.dtype)
        # Sequences of any length have the type of their values, as in engine netcdf4: objects
        # would be taken for texts.
        sequence = h5py.check_vlen_dtype(reader.dtype)
        dtype = reader.dtype if sequence is None else np.dtype(sequence)
        if dtype.names or sequence is not None:  # xarray turns the bytes of numbers alone
            dtype = dtype.newbyteorder("=")
        self.dtype = np.dtype(object) if self._text else dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._get
        )

    def _get(self, key: tuple[Any, ...]) -> NDArray[Any]:
        values = self._reader[(*key, ...)]
        if names := self._reader.dtype.names:
            # In which order h5py gives them depends on what else is open.
            return np.asarray(values)[list(names)].astype(self.dtype)
        values = np.asarray(values, self._reader.dtype)
        if self._text:
            # What is no UTF-8 can be had back by encoding it alike.
            texts = [v.decode(errors=_LOSSLESS) if isinstance(v, bytes) else v for v in values.flat]
            values = np.array(texts, dtype=object).reshape(values.shape)
        return values
