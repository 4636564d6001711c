"""One variable in many calls: loops in C and in Python, on netCDF and on HDF5."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Hdf5File, NetcdfFile, kernel
from .work import NAME

Array = NDArray[Any]
Reading = Callable[[], tuple[Array, float | None]]
"""Makes the calls; gives what was read, and the seconds by C's own clock where it has one."""
_DIMS = ("y", "x")
_IN_C: Mapping[str, type[NetcdfFile | Hdf5File]] = {"netCDF-C": NetcdfFile, "HDF5": Hdf5File}


@dataclass(frozen=True)
class Blocks:
    """The calls that an array is accessed in: blocks of one shape, in storage order."""

    shape: tuple[int, int]
    count: tuple[int, int]  # of one block: whole rows, or part of one row
    most: int | None = None  # calls; none takes the whole blocks of the whole array

    def starts(self) -> NDArray[np.int64]:
        rows = np.arange(0, self.shape[0] - self.count[0] + 1, self.count[0], dtype=np.int64)
        columns = np.arange(0, self.shape[1] - self.count[1] + 1, self.count[1], dtype=np.int64)
        if self.most:
            rows = rows[: -(-self.most // len(columns))]
        grid = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
        return np.ascontiguousarray(grid[: self.most])

    def indices(self) -> list[Any]:
        if self.count == self.shape:
            return [...]
        high, wide = self.count
        indices: list[Any] = []
        for row, column in self.starts().tolist():
            rows = row if high == 1 else slice(row, row + high)
            indices.append(rows if wide == self.shape[1] else (rows, slice(column, column + wide)))
        return indices


def lasts(sizes: Sequence[Blocks]) -> Array:
    """Make the last row of the last block of each size, one after another."""
    rows = []
    for size in sizes:
        row, column = size.starts()[-1]
        first = (row + size.count[0] - 1) * size.shape[1] + column
        rows.append(np.arange(first, first + size.count[1]))
    return np.concatenate(rows)


class InC:
    """An open variable; the loop is in C, and reads into memory that was there before."""

    def __init__(self, file: NetcdfFile | Hdf5File, options: Mapping[str, Any]) -> None:
        self._file, self._options = file, dict(options)
        self.cache_bytes, self.close = file.chunk_cache_bytes, file.close

    def reading(self, blocks: Blocks, *, keep: bool = True) -> Reading:
        """Prepare to read blocks into one array, or one over another to have the last."""
        out = np.ones(blocks.shape if keep else blocks.count, self._file.dtype)
        arguments = (blocks.starts(), blocks.count, None, out)
        access = partial(self._file.access, "read", *arguments, reuse=not keep, **self._options)
        return lambda: (out, access())

    def stepping(self, step: tuple[int, int]) -> Reading:
        counts = [-(-n // s) for n, s in zip(self._file.shape, step, strict=True)]
        out = np.ones(counts, self._file.dtype)
        access = partial(self._file.access, "read", [[0, 0]], [counts], [step], out)
        return lambda: (out, access(**self._options))

    def writing(self, blocks: Blocks, values: Array) -> Callable[[], float | None]:
        arguments = (blocks.starts(), blocks.count, None, values)
        return partial(self._file.access, "write", *arguments, **self._options)


class InPython:
    """The same in Python, where each read makes a new array; `whole` takes steps in memory."""

    def __init__(self, file: Any, variable: Any, whole: bool = False) -> None:
        self._variable, self._whole, self.close = variable, whole, file.close

    def reading(self, blocks: Blocks, *, keep: bool = True) -> Reading:
        variable, indices = self._variable, blocks.indices()
        if len(indices) == 1:
            return lambda: (variable[indices[0]], None)
        out = np.ones(blocks.shape if keep else (), "i4")

        def into_one() -> tuple[Array, None]:
            for index in indices:
                out[index] = variable[index]
            return out, None

        def last() -> tuple[Array, None]:
            for index in indices:
                values = variable[index]
            return values, None

        return into_one if keep else last

    def stepping(self, step: tuple[int, int]) -> Reading:
        variable, (y, x) = self._variable, step
        if self._whole:
            return lambda: (np.ascontiguousarray(variable[...][::y, ::x]), None)
        return lambda: (variable[::y, ::x], None)

    def writing(self, blocks: Blocks, values: Array) -> Callable[[], float | None]:
        variable, indices = self._variable, blocks.indices()

        def write() -> None:
            for index in indices:
                variable[index] = values[index]

        return write

    def cache_bytes(self) -> int:
        import netCDF4

        if isinstance(self._variable, netCDF4.Variable):
            return int(self._variable.get_var_chunk_cache()[0])
        return int(self._variable.id.get_access_plist().get_chunk_cache()[1])


@dataclass(frozen=True)
class Way:
    """One way to access a variable: a library, and options of the kernel's or its own methods."""

    library: str  # "netCDF-C" or "HDF5", called from C; "netCDF4" or "h5py", from Python
    opens: Mapping[str, Any] = field(default_factory=dict)
    creates: Mapping[str, Any] = field(default_factory=dict)
    accesses: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, bool] = field(default_factory=dict)  # methods of a netCDF4 variable
    whole: bool = False  # read everything, and take steps in numpy

    def ready(self) -> "Way":
        """Return it with what it needs loaded, so that no phase pays for it."""
        if self.library in _IN_C:
            kernel()
        return self

    def open(self, path: Path) -> InC | InPython:
        if self.library in _IN_C:
            return InC(_IN_C[self.library].open(path, NAME, **self.opens), self.accesses)
        if self.library == "h5py":
            import h5py

            file = h5py.File(path, "r")
            return InPython(file, file[NAME])
        import netCDF4

        dataset = netCDF4.Dataset(path, "r")
        return self._set(dataset, dataset[NAME])

    def create(
        self, path: Path, shape: tuple[int, int], chunks: tuple[int, ...] | None
    ) -> InC | InPython:
        how = {"chunks": chunks, **self.creates}
        if self.library == "netCDF-C":
            created = NetcdfFile.create(path, "netcdf4", NAME, _DIMS, shape, "i4", **how)
            return InC(created, self.accesses)
        if self.library == "HDF5":
            return InC(Hdf5File.create(path, NAME, shape, "i4", **how), self.accesses)
        if self.library == "h5py":
            import h5py

            file = h5py.File(path, "w")
            return InPython(file, file.create_dataset(NAME, shape, "i4", chunks=chunks))
        import netCDF4

        dataset = netCDF4.Dataset(path, "w")
        for dim, length in zip(_DIMS, shape, strict=True):
            dataset.createDimension(dim, length)
        stored = {"contiguous": True} if chunks is None else {"chunksizes": chunks}
        return self._set(dataset, dataset.createVariable(NAME, "i4", _DIMS, **stored))

    def _set(self, dataset: Any, variable: Any) -> InPython:
        for method, value in self.settings.items():
            getattr(variable, method)(value)
        return InPython(dataset, variable, self.whole)
