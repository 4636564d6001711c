"""One variable of a dataset, as experiments write and check it."""

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from hyperslab.io import create
from hyperslab.io.chunk_cache import DEFAULT_CACHE
from hyperslab.io.layout import Layout

from .datasets import Dataset, dataset
from .manifest import ensure_all


@dataclass(frozen=True)
class DatasetVariable:
    """A variable of a dataset that is drawn a time step at a time; made by `variable`.

    Parameters
    ----------
    name : str
        Of the dataset.
    variable : str
    parameters : mapping
        What the dataset is drawn with.
    """

    name: str
    variable: str
    parameters: Mapping[str, object]

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.name, self.variable, self.parameters)  # without what is cached

    @cached_property
    def _dataset(self) -> Dataset:
        return dataset(self.name, **self.parameters)

    @cached_property
    def dtype(self) -> str:
        """Type of its values."""
        variables = {variable.name: variable for variable in self._dataset.description.variables}
        return variables[self.variable].dtype

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Lengths of its axes, time first."""
        variables = {variable.name: variable for variable in self._dataset.description.variables}
        return tuple(variables[self.variable].shape)

    @property
    def step_shape(self) -> tuple[int, ...]:
        """Shape of a time step."""
        return (1, *self.shape[1:])

    def __getitem__(self, selection: tuple[Any, ...]) -> NDArray[Any]:
        first, *rest = selection
        steps = range(self.shape[0])[first]
        drawn = [
            self._dataset.draw(step)[self.variable][1][0][tuple(rest)]
            for step in (steps if isinstance(steps, range) else [steps])
        ]
        return np.ascontiguousarray(np.stack(drawn) if isinstance(steps, range) else drawn[0])

    def part(self, selection: Any, folder: Path) -> Callable[[], NDArray[Any]]:
        """Return what gives part of it: drawn once, and kept in the folder."""
        path = folder / f"{self.name}-{zlib.crc32(repr(selection).encode()):08x}.npy"
        if not path.exists():
            np.save(path, self[selection])
        return partial(np.load, path)

    def write(self, files: Mapping[Path, Layout], folder: Path) -> None:
        """Link files of these layouts to the dataset in the folder, drawn where it is missing."""
        paths = ensure_all(self.name, list(files.values()), folder, **self.parameters)
        for link, path in zip(files, paths, strict=True):
            link.unlink(missing_ok=True)
            link.symlink_to(path.resolve())


@dataclass(frozen=True)
class Repeated:
    """A variable with more time steps than are drawn, which follow again and again.

    Its netCDF files have as many chunks as those of a variable that is drawn whole, and chunks of
    the same sizes, since each is compressed alone; and they are made by copying chunks.

    Parameters
    ----------
    drawn : DatasetVariable
    steps : int
        Its time steps.
    """

    drawn: DatasetVariable
    steps: int

    @property
    def name(self) -> str:
        """What its files begin with."""
        return f"{self.drawn.name} repeated"

    @property
    def variable(self) -> str:
        """Its name in the files."""
        return self.drawn.variable

    @property
    def dtype(self) -> str:
        """Type of its values."""
        return self.drawn.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of its axes, time first."""
        return (self.steps, *self.drawn.shape[1:])

    def part(self, selection: Any, folder: Path) -> Callable[[], NDArray[Any]]:
        """Return what gives part of it: drawn once, and kept in the folder."""
        first, *rest = selection
        steps = np.arange(self.steps)[first] % self.drawn.shape[0]
        if not steps.shape:
            return self.drawn.part((int(steps), *rest), folder)
        return partial(_taken, self.drawn.part((slice(None), *rest), folder), steps)

    def write(self, files: Mapping[Path, Layout], folder: Path) -> None:
        """Write netCDF files whose chunks are a time step each."""
        source = dataset(self.drawn.name, **{**self.drawn.parameters, "steps": self.steps})
        described = source.description
        fixed = {"coordinates": described.coordinates, "attrs": described.attrs}
        self.drawn.write(files, folder)
        for path, layout in files.items():
            short = path.resolve()
            path.unlink()
            with create(path, described.variables, layout, **fixed):
                pass
            with h5py.File(short) as old, h5py.File(path, "r+") as new:
                names = [variable.name for variable in described.variables]
                for step, name in self._order(names):
                    _repeat(old[name].id, new[name].id, step)

    def _order(self, names: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield chunks as netCDF-C writes them: the last of a variable stay in its cache."""
        chunk_bytes = math.prod(self.drawn.step_shape) * np.dtype(self.dtype).itemsize
        through = max(0, self.steps - DEFAULT_CACHE.nbytes // chunk_bytes)
        yield from product(range(through), names)
        yield from ((step, name) for name in names for step in range(through, self.steps))


def _taken(values: Callable[[], NDArray[Any]], steps: NDArray[np.int64]) -> NDArray[Any]:
    """Return time steps of what is loaded."""
    taken: NDArray[Any] = values()[steps]
    return taken


def _repeat(old: h5py.h5d.DatasetID, new: h5py.h5d.DatasetID, step: int) -> None:
    """Copy a time step's chunk, as it is stored, from a shorter variable."""
    rest = (0,) * (len(old.shape) - 1)
    mask, stored = old.read_direct_chunk((step % old.shape[0], *rest))
    new.write_direct_chunk((step, *rest), stored, mask)


def variable(name: str, variable: str, **parameters: object) -> DatasetVariable:
    """Return a variable of a dataset.

    Parameters
    ----------
    name : str
        Of the dataset: "ocean" or "gfs".
    variable : str
    **parameters
        As `dataset` takes them.

    Raises
    ------
    ValueError
        When there is no such dataset or variable, or it is not drawn by time steps.

    Examples
    --------
    >>> ocean = variable("ocean", "uo", steps=2)
    >>> ocean.shape, ocean.step_shape, ocean[:, 280, 506].shape
    ((2, 380, 1287), (1, 380, 1287), (2,))
    """
    source = dataset(name, **parameters)
    names = [described.name for described in source.description.variables]
    if variable not in names or source.frame[0] != 1 or len(source.frame) < 3:
        raise ValueError(
            f"no variable {variable!r} of {name!r} by time steps: it has {', '.join(names)}"
        )
    return DatasetVariable(name, variable, parameters)
