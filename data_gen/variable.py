"""One variable of a dataset, as experiments write and check it."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        variables = {one.name: one for one in self._dataset.description.variables}
        return variables[self.variable].dtype

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Lengths of its axes, time first."""
        variables = {one.name: one for one in self._dataset.description.variables}
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
        made = ensure_all(self.name, list(files.values()), folder, **self.parameters)
        for link, path in zip(files, made, strict=True):
            link.unlink(missing_ok=True)
            link.symlink_to(path.resolve())


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
    names = [one.name for one in source.description.variables]
    if variable not in names or source.frame[0] != 1 or len(source.frame) < 3:
        raise ValueError(
            f"no variable {variable!r} of {name!r} by time steps: it has {', '.join(names)}"
        )
    return DatasetVariable(name, variable, parameters)
