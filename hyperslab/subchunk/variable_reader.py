"""A variable of an open file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import numpy.typing as npt
from h5py import h5z
from numpy.typing import NDArray

from .chunk_table import missing_filter
from .errors import OF_ONE_VARIABLE, MemoryLimitError, SubchunkError, UnreadableError, reason
from .hdf5 import Variable
from .index.format import Entry
from .process import cached, refuse_above
from .read.select import Axis, Key, as_key, picked_of, wanted
from .read.values import Indexed

if TYPE_CHECKING:
    from .file import File

_LARGE = 2**26  # bytes of a box from which on it is not read whole for a few values
_LOSS = 4  # values that are read for one that is wanted, at which HDF5 is quicker


class VariableReader:
    """A variable of an open file, indexed like a numpy array.

    By whole numbers, slices of any step and sign, an ellipsis, None, and lists or boolean masks of
    one dimension, of which several select their product. Values come as they are stored: fill
    values, scale and offset are left to xarray.
    """

    def __init__(self, file: File, variable: Variable, entry: Entry | None) -> None:
        self._file, self.variable, self._entry = file, variable, entry
        self.shape = variable.shape
        self.dims = variable.dims  # "" where the file gives none
        self.chunks = variable.chunks  # shape of a chunk; empty where there are none
        self.ndim, self.size = len(variable.shape), math.prod(variable.shape)

    def __repr__(self) -> str:
        how = "read plainly: " + self.plain if self.plain else "read inside of chunks"
        dtype = self.variable.dtype and self.dtype.name
        return f"<{' '.join(filter(None, (self.variable.name, str(self.shape), dtype)))}, {how}>"

    @property
    def nbytes(self) -> int:
        """Bytes of all values in memory."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{self.variable.name} is a scalar: it has no length")
        return self.shape[0]

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]:
        if copy is False:
            raise ValueError(f"the values of {self.variable.name} are in a file: they are copied")
        return np.asarray(self[...], dtype)

    @cached
    def dtype(self) -> np.dtype[Any]:
        """Type of the stored values; names of values are where h5py has them."""
        if self.variable.enum:
            return np.dtype(self.variable.dtype, metadata={"enum": dict(self.variable.enum)})
        if self.variable.dtype:
            return np.dtype(self.variable.dtype)
        with self._plainly() as dataset:
            base: np.dtype[Any] = dataset.dtype.base
            if dataset.ndim + dataset.dtype.ndim != len(self.shape):
                raise UnreadableError("its index is of a release that knew no types of arrays")
        return base

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes."""
        return self._file.attributes(self.variable.name)

    @property
    def plain(self) -> str:
        """Why it is read plainly, through HDF5; empty when it is read inside of chunks."""
        if self.variable.same:
            return self._file[self.variable.same].plain
        if self.variable.plain or self._indexed():
            return self.variable.plain
        return "the file has no index" if self._file.index is None else "it was not indexed"

    @property
    def lacks(self) -> str:
        """What its values cannot be read without, and is not here; empty for most."""
        if self.variable.same:
            return self._file[self.variable.same].lacks
        indexed = self._entry and (self._entry.spacing or self._entry.values is not None)
        if indexed or all(h5z.filter_avail(number) for number, _ in self.variable.filters):
            return ""
        with self._plainly() as dataset:
            return missing_filter(dataset)

    def __getitem__(self, key: Key | tuple[Key, ...]) -> NDArray[Any]:
        if self.variable.same:
            return self._file[self.variable.same][key]
        selection = wanted(key, self.shape)
        if self._entry is not None and self._entry.values is not None:
            self._file.data.check()
            values = np.frombuffer(self._entry.values, self.dtype).reshape(self.shape)
            return selection.arrange(picked_of(values, [a.indices for a in selection.axes]).copy())
        try:
            if indexed := self._indexed():
                return selection.arrange(indexed.read(selection))
            return selection.arrange(self._read(selection.axes))
        except OF_ONE_VARIABLE as error:
            if error.variable:
                raise
            named = type(error)(f"{self._file.path}: {error}")
            named.variable = self.variable.name
            raise named from error

    def _indexed(self) -> Indexed | None:
        index = self._file.index
        if index is None or self._entry is None or not self._entry.spacing:
            return None
        file, tables = self._file, index.points(self._entry)
        return Indexed(self.variable, index, *tables, file.data, file.threads, file.memory_bytes)

    @contextmanager
    def _plainly(self) -> Iterator[h5py.Dataset]:
        """Give the dataset as h5py opens it; all that goes wrong is said by name."""
        dataset, lacking = None, ""
        try:
            with self._file.plainly() as file:
                dataset = file[self.variable.name]
                yield dataset
        except Exception as error:
            if isinstance(error, SubchunkError) and not isinstance(error, UnreadableError):
                raise
            with suppress(Exception):
                lacking = missing_filter(dataset)
            what = f"{self.variable.name} in {self._file.path}"
            kind = MemoryLimitError if isinstance(error, MemoryError) else UnreadableError
            named = kind(f"{what} cannot be read: {lacking or reason(error)}")
            named.variable = self.variable.name
            raise named from error

    def _read(self, axes: tuple[Axis, ...]) -> NDArray[Any]:
        """Read the box around the wanted indices through HDF5, which picks out of a large one."""
        if self.variable.dtype and self.chunks:
            what = f"a chunk of {self.variable.name}"
            refuse_above(self._file.memory_bytes, self.variable.chunk_bytes, what)
        box: list[slice | NDArray[np.int64]] = []
        inside: list[range | NDArray[np.int64]] = []  # the wanted indices within the box
        lengths: list[int] = []
        for axis in axes:
            indices = axis.indices
            begin, end = (int(indices[0]), int(indices[-1]) + 1) if len(indices) else (0, 0)
            box.append(slice(begin, end))
            lengths.append(end - begin)
            if isinstance(indices, range):
                inside.append(range(0, end - begin, indices.step))
            else:
                inside.append(indices - begin)
        loss = [n / max(1, len(axis.indices)) for n, axis in zip(lengths, axes, strict=True)]
        large = math.prod(lengths) * self.dtype.itemsize > min(_LARGE, self._file.memory_bytes)
        if large and max(loss, default=0) > _LOSS:
            most = int(np.argmax(loss))
            box[most] = as_key(axes[most].indices)
            inside[most] = range(len(axes[most].indices))
        with self._plainly() as dataset:
            rank = dataset.ndim  # what comes behind are dimensions of a type of arrays
            values = dataset[tuple(box[:rank]) or ...]
        values = values[(*(slice(None),) * rank, *box[rank:], ...)]
        return picked_of(values, inside)
