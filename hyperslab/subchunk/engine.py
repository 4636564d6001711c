"""The xarray engine: ``xr.open_dataset(path, engine="subchunk")``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.backends import BackendArray, BackendEntrypoint, StoreBackendEntrypoint
from xarray.backends.common import AbstractDataStore
from xarray.core import indexing

from .file import File
from .index.index import SUFFIX
from .names import dimension_names
from .variable import VariableReader


class SubchunkEntrypoint(BackendEntrypoint):
    """Opens netCDF-4 and HDF5 files, and reads inside of their compressed chunks.

    Examples
    --------
    >>> SubchunkEntrypoint().guess_can_open("no-such-file.nc")
    False
    """

    description = "Read inside the compressed chunks of netCDF-4 and HDF5 files that have an index"
    url = "https://hyperslab.github.io/hyperslab"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether it is an index, or a file of this machine with an index beside it.

        xarray asks the engines netcdf4 and h5netcdf first, where they are installed.
        """
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        name = os.fspath(filename_or_obj)
        return name.endswith(SUFFIX) or Path(name + SUFFIX).is_file()

    def open_dataset(  # type: ignore[override]
        self,
        filename_or_obj: str | os.PathLike[str],
        *,
        mask_and_scale: bool = True,
        decode_times: bool = True,
        concat_characters: bool = True,
        decode_coords: bool = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: bool | None = None,
        group: str | None = None,
        index: str | Path | None = None,
        storage_options: Mapping[str, Any] | None = None,
        threads: int | None = None,
        memory_bytes: int | None = None,
    ) -> xr.Dataset:
        """Open one group of a file; see `xarray.open_dataset`.

        Parameters
        ----------
        filename_or_obj : path-like
            The file, or the index beside it.
        group : str, optional
            Path of the group; the root if not given.
        index : path-like, optional
            The index, or its URL; beside the file if not given. Without one the file is read all
            the same, chunk by chunk.
        storage_options : mapping, optional
            What opens URLs: `backend`, "fsspec" (the default) or "obstore", and what that takes.
        threads : int, optional
            Threads of one read.
        memory_bytes : int, optional
            What a read may hold beside its result; half of the machine's if not given.
        """
        file = File(
            _data(filename_or_obj),
            index,
            storage_options=storage_options,
            threads=threads,
            memory_bytes=memory_bytes,
        )
        return StoreBackendEntrypoint().open_dataset(
            _Store(file, (group or "").strip("/")),
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> dict[str, xr.Dataset]:
        """Open all groups of a file, by their paths; see `xarray.open_groups`."""
        places = {name: options[name] for name in ("index", "storage_options") if name in options}
        with File(_data(filename_or_obj), **places) as file:
            names = sorted(file.groups())
        top = (options.pop("group", None) or "").strip("/")
        return {
            f"/{name}": self.open_dataset(filename_or_obj, group=name, **options)
            for name in names
            if not top or name == top or name.startswith(f"{top}/")
        }

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        """Open all groups of a file as a tree; see `xarray.open_datatree`."""
        return xr.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))


def _data(name: str | os.PathLike[str]) -> str:
    """Return the file that an index lies beside; any other name as it is."""
    return os.fspath(name).removesuffix(SUFFIX)


class _Store(AbstractDataStore):
    """One group of a file as xarray wants it."""

    def __init__(self, file: File, group: str) -> None:
        self._file, self._group = file, group
        groups = file.groups()
        if group not in groups:
            known = ", ".join(sorted(name for name in groups if name)) or "none but the root"
            raise OSError(f"{file.path} has no group {group!r}: it has {known}")
        self._attrs = groups[group]

    def get_attrs(self) -> dict[str, Any]:
        """Return the attributes of the group."""
        return self._attrs

    def get_variables(self) -> dict[str, xr.Variable]:
        """Return the variables of the group, not decoded."""
        return dict(self._variables())

    def get_encoding(self) -> dict[str, Any]:
        """Return what xarray keeps of how the dataset is stored."""
        return {"source": self._file.path}

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _variables(self) -> Iterator[tuple[str, xr.Variable]]:
        front = f"{self._group}/" if self._group else ""
        names = [name for name in self._file if name.rpartition("/")[0] == self._group]
        readers = [self._file[name] for name in names]
        for path, reader, dims in zip(names, readers, dimension_names(readers), strict=True):
            # For texts of any length xarray's word is `str`.
            encoding: dict[str, Any] = {"dtype": str if texts(reader.dtype) else reader.dtype}
            if reader.chunks:
                encoding["chunksizes"] = reader.chunks
                encoding["preferred_chunks"] = dict(zip(dims, reader.chunks, strict=True))
            data = indexing.LazilyIndexedArray(_Array(reader))
            name = path.removeprefix(front)
            yield name, xr.Variable(dims, data, reader.attrs, encoding)


def texts(dtype: np.dtype[Any]) -> bool:
    """Return whether values are texts of any length."""
    return dtype.kind == "O" and h5py.check_string_dtype(dtype) is not None


class _Array(BackendArray):
    """A variable that xarray indexes lazily."""

    def __init__(self, reader: VariableReader) -> None:
        self._reader = reader
        self.shape = reader.shape
        self._text = texts(reader.dtype)
        self.dtype = np.dtype(object) if self._text else reader.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._get
        )

    def _get(self, key: tuple[Any, ...]) -> NDArray[Any]:
        found = np.asarray(self._reader[key], self._reader.dtype)
        if self._text:
            decoded = [v.decode() if isinstance(v, bytes) else v for v in found.reshape(-1)]
            found = np.array(decoded, dtype=object).reshape(found.shape)
        return found
