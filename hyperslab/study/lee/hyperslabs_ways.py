"""The ways to access one variable in many calls: C and Python, through netCDF and on HDF5."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from ...io.work import NAME
from ...kernels import Hdf5File, NetcdfFile
from .hyperslabs_blocks import Array, Blocks

DIMS = ("y", "x")
Reading = Callable[[], tuple[Array, float | None]]


class Handle(Protocol):
    """A variable of an open file, as one way has it.

    What a way needs for its calls (indices, memory) is made by `reading`, `strided` and `writing`;
    what they return makes the calls, and gives the seconds by C's own clock where it has one.
    """

    def reading(self, blocks: Blocks, *, keep: bool = True) -> Reading:
        """Prepare to read blocks into one array, or one over another to have the last."""

    def strided(self, step: tuple[int, int]) -> Reading:
        """Prepare to read every so many rows and columns."""

    def writing(self, blocks: Blocks, values: Array) -> Callable[[], float | None]:
        """Prepare to write blocks from their places in an array."""

    def cache_bytes(self) -> int:
        """Return the size of the variable's chunk cache."""

    def close(self) -> object:
        """Close the file."""


class _Kernel:
    """The loop is in C; what is read goes to memory that was there before."""

    def __init__(self, file: NetcdfFile | Hdf5File, options: Mapping[str, Any]) -> None:
        self._file, self._options = file, options

    def reading(self, blocks: Blocks, *, keep: bool = True) -> Reading:
        out = np.ones(blocks.shape if keep else blocks.count, self._file.dtype)
        access = self._access("read", blocks, out, reuse=not keep)
        return lambda: (out, access())

    def strided(self, step: tuple[int, int]) -> Reading:
        counts = [-(-n // s) for n, s in zip(self._file.shape, step, strict=True)]
        out = np.ones(counts, self._file.dtype)
        access = partial(self._file.access, "read", [[0, 0]], [counts], [step], out)
        options = dict(self._options)
        return lambda: (out, access(**options))

    def writing(self, blocks: Blocks, values: Array) -> Callable[[], float]:
        return self._access("write", blocks, values)

    def cache_bytes(self) -> int:
        return self._file.chunk_cache_bytes()

    def close(self) -> float:
        return self._file.close()

    def _access(
        self, action: str, blocks: Blocks, buffer: Array, **more: Any
    ) -> Callable[[], float]:
        options = dict(self._options) | more
        return partial(
            self._file.access, action, blocks.starts(), blocks.count, None, buffer, **options
        )


class _Python:
    """The loop is in Python; each read makes a new array, as it does for a user."""

    def __init__(self, file: Any, variable: Any) -> None:
        self._file, self._variable = file, variable

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
                found = variable[index]
            return found, None

        return into_one if keep else last

    def strided(self, step: tuple[int, int]) -> Reading:
        return lambda: (self._variable[:: step[0], :: step[1]], None)

    def writing(self, blocks: Blocks, values: Array) -> Callable[[], None]:
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

    def close(self) -> None:
        self._file.close()


class _Whole(_Python):
    """Everything is read in one call, and numpy takes the steps."""

    def strided(self, step: tuple[int, int]) -> Reading:
        variable = self._variable
        return lambda: (np.ascontiguousarray(variable[...][:: step[0], :: step[1]]), None)


@dataclass(frozen=True)
class Way:
    """One way to access a variable.

    Parameters
    ----------
    name
        In the names of cases: "c", "hdf5-c", "python", "h5py" and variants of these.
    label
        For figures and tables.
    library
        "netCDF-C", "HDF5", "netCDF4" or "h5py".
    opens, creates, accesses
        Options of the kernel's `open`, `create` and `access`.
    settings
        Methods of a netCDF4 variable that are called with one value before it is used.
    whole
        Read everything and take the steps in numpy.
    """

    name: str
    label: str
    library: str
    opens: Mapping[str, Any] = field(default_factory=dict)
    creates: Mapping[str, Any] = field(default_factory=dict)
    accesses: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, bool] = field(default_factory=dict)
    whole: bool = False

    @property
    def in_c(self) -> bool:
        """Whether it needs the C kernel."""
        return self.library in ("netCDF-C", "HDF5")

    def open(self, path: Path) -> Handle:
        """Open the variable of a file to read it."""
        if self.library == "netCDF-C":
            return _Kernel(NetcdfFile.open(path, NAME, **self.opens), self.accesses)
        if self.library == "HDF5":
            return _Kernel(Hdf5File.open(path, NAME, **self.opens), self.accesses)
        if self.library == "h5py":
            import h5py

            file = h5py.File(path, "r")
            return _Python(file, file[NAME])
        import netCDF4

        dataset = netCDF4.Dataset(path, "r")
        return self._python(dataset, dataset[NAME])

    def create(self, path: Path, shape: Sequence[int], chunks: tuple[int, ...] | None) -> Handle:
        """Create a file with an int32 variable."""
        if self.library == "netCDF-C":
            made = NetcdfFile.create(
                path, "netcdf4", NAME, DIMS, shape, "i4", chunks=chunks, **self.creates
            )
            return _Kernel(made, self.accesses)
        if self.library == "HDF5":
            plain = Hdf5File.create(path, NAME, shape, "i4", chunks=chunks, **self.creates)
            return _Kernel(plain, self.accesses)
        if self.library == "h5py":
            import h5py

            file = h5py.File(path, "w")
            return _Python(file, file.create_dataset(NAME, shape, "i4", chunks=chunks))
        import netCDF4

        dataset = netCDF4.Dataset(path, "w")
        for dim, length in zip(DIMS, shape, strict=True):
            dataset.createDimension(dim, length)
        stored = {"contiguous": True} if chunks is None else {"chunksizes": chunks}
        return self._python(dataset, dataset.createVariable(NAME, "i4", DIMS, **stored))

    def _python(self, dataset: Any, variable: Any) -> Handle:
        for method, value in self.settings.items():
            getattr(variable, method)(value)
        return (_Whole if self.whole else _Python)(dataset, variable)


_PLAIN = {"set_auto_maskandscale": False}
WAYS: Mapping[str, Way] = MappingProxyType(
    {
        way.name: way
        for way in (
            Way("c", "netCDF-C, from C", "netCDF-C"),
            Way("c-nofill", "netCDF-C, without fill values", "netCDF-C", creates={"fill": False}),
            Way("hdf5-c", "HDF5, from C", "HDF5"),
            Way(
                "hdf5-c-made",
                "HDF5, all made in each call",
                "HDF5",
                accesses={"keep_spaces": False, "keep_list": False},
            ),
            Way("hdf5-c-nosieve", "HDF5, without sieve buffer", "HDF5", opens={"sieve_bytes": 0}),
            Way("python", "netCDF4-python", "netCDF4"),
            Way("python-plain", "netCDF4-python, unmasked", "netCDF4", settings=_PLAIN),
            Way(
                "python-vars",
                "netCDF4-python, use_nc_get_vars(True)",
                "netCDF4",
                settings=_PLAIN | {"use_nc_get_vars": True},
            ),
            Way(
                "python-pieces",
                "netCDF4-python, use_nc_get_vars(False)",
                "netCDF4",
                settings=_PLAIN | {"use_nc_get_vars": False},
            ),
            Way(
                "python-whole", "read whole, step in numpy", "netCDF4", settings=_PLAIN, whole=True
            ),
            Way("h5py", "h5py", "h5py"),
        )
    }
)
