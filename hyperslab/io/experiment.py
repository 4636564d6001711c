"""What an experiment does with files, as a notebook writes it down."""

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..access.registry import card
from ..measure import case as measured
from ..storage.layout import Layout
from ..storage.region import Selection
from ..storage.variable import Variable
from ..storage.write import create
from . import work

_CHECKERS = {"netcdf4": "h5py", "hdf5": "netcdf4"}  # who reads what another library wrote


class Work(Protocol):
    """What a case does; `parts` says what a sample runs, and what describes it."""

    def parts(self, cache_state: str) -> dict[str, Any]:
        """Return fields of `hyperslab.measure.case.Case`."""


@dataclass(frozen=True)
class Case:
    """One configuration of an experiment.

    Parameters
    ----------
    labels : mapping of str to str
        What tells it apart from the others: columns of the records, and the rows of tables.
    work : Work
        `Read`, `Overwrite` or `Create`.
    aa : bool
        Whether it is also measured under other names, to show what noise alone does; needed of one
        case of each experiment.
    """

    labels: Mapping[str, str]
    work: Work
    aa: bool = False

    def ready(self, cache_state: str = "") -> measured.Case:
        """Return it as samples run it, in a state of the page cache."""
        name = ", ".join(self.labels.values())
        parts = self.work.parts(cache_state)
        return measured.Case(name, **parts, cache_state=cache_state, aa=self.aa, labels=self.labels)


@dataclass(frozen=True)
class Array:
    """An array that is made where it is needed, and takes no memory elsewhere.

    Parameters
    ----------
    make : callable
        Returns the values, of this shape and type; it can be pickled.
    shape : tuple of int
    dtype : str

    Examples
    --------
    >>> Array(lambda: np.arange(6).reshape(2, 3), (2, 3), "i8")[:, 1].tolist()
    [1, 4]
    """

    make: Callable[[], NDArray[Any]]
    shape: tuple[int, ...]
    dtype: str = "i4"

    def __getitem__(self, selection: Selection) -> NDArray[Any]:
        return Part(self.make, selection)()


@dataclass(frozen=True)
class Part:
    """Make part of an array."""

    make: Callable[[], NDArray[Any]]
    selection: Selection

    def __call__(self) -> NDArray[Any]:
        return np.ascontiguousarray(self.make()[self.selection])


@dataclass(frozen=True)
class File:
    """An array in a file.

    Parameters
    ----------
    path : Path
    array : Array
    layout : Layout
    """

    path: Path
    array: Array
    layout: Layout

    def write(self) -> None:
        """Write all of it, whatever is there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        dims = tuple("uvwzyx"[-len(self.array.shape) :])
        variable = Variable(work.NAME, dims, self.array.shape, self.array.dtype)
        values = self.array.make()
        # A cache for all chunks: whole rows arrive, and each may touch every chunk.
        cache = 2 * values.nbytes if self.layout.chunks else None
        with create(
            self.path, [variable], self.layout, chunk_cache_bytes=cache, overwrite=True
        ) as writer:
            writer.write(work.NAME, ..., values)
            writer.sync()

    def twin(self) -> Path:
        """Return a copy for reads from memory.

        A file that was evicted comes back in other pieces of memory, which alone makes a read from
        memory up to a tenth quicker or slower: cold and warm reads need files of their own.
        """
        path = self.path.with_name(f"warm-{self.path.name}")
        if self.path.exists() and not path.exists():
            (shutil.copytree if self.path.is_dir() else shutil.copyfile)(self.path, path)
        return path


@dataclass(frozen=True)
class Read:
    """Read part of a file, and compare it with the array: phases open, read and close.

    Parameters
    ----------
    file : File
    selection
        As numpy has it, such as ``np.s_[:, 100]``.
    reader : str
        Name of a reader; see `hyperslab.access.readers`.
    """

    file: File
    selection: Selection
    reader: str = "netcdf4"

    def parts(self, cache_state: str) -> dict[str, Any]:
        """Return what a sample runs, and what describes it."""
        path = self.file.twin() if cache_state == "warm" else self.file.path
        return {
            # The file is evicted again once it is open, so that the read itself starts cold.
            "run": work.Read(path, self.reader, self.selection, chill=True),
            "check": work.Equals(Part(self.file.array.make, self.selection)),
            "columns": _columns(self.file.layout, self.reader),
            "files": (path,),
            "start": card(self.reader).start,
        }


@dataclass(frozen=True)
class Overwrite:
    """Write part of a file anew, by netCDF4-python: phases open, write, sync and close.

    Parameters
    ----------
    file : File
    selection
    """

    file: File
    selection: Selection

    def parts(self, cache_state: str) -> dict[str, Any]:
        """Return what a sample runs, and what describes it."""
        array, layout = self.file.array, self.file.layout
        return {
            "run": work.Overwrite(self.file.path, Part(array.make, self.selection), self.selection),
            "check": work.Holds(self.file.path, _checker(layout), array.make),
            "columns": _columns(layout, "netcdf4"),
        }


@dataclass(frozen=True)
class Create:
    """Write part of an array into a new file: phases create, write, sync and close.

    Parameters
    ----------
    file : File
        What is made, and removed again.
    selection
    """

    file: File
    selection: Selection = ...

    def parts(self, cache_state: str) -> dict[str, Any]:
        """Return what a sample runs, and what describes it."""
        array, layout = self.file.array, self.file.layout
        path = self.file.path.with_name(f"new-{self.file.path.name}")
        part = Part(array.make, self.selection)
        return {
            "run": work.Write(path, array.shape, part, layout, self.selection),
            "check": work.Holds(path, _checker(layout), part, self.selection),
            "columns": _columns(layout, "netcdf4"),
            "prepare": work.Remove(path),
            "cleanup": work.Remove(path),
        }


def modules(cases: Iterable[measured.Case]) -> tuple[str, ...]:
    """Return what to import before processes are forked for cases that are ready."""
    parts = [part for case in cases for part in (case.run, case.check)]
    cards = [card(name) for name in sorted({getattr(part, "library", "netcdf4") for part in parts})]
    libraries = {module for one in cards for module in one.requires}
    return (*sorted(libraries), work.__name__, *(f"hyperslab.access.{one.module}" for one in cards))


def _columns(layout: Layout, reader: str) -> dict[str, object]:
    return {"library": card(reader).library, **layout.record()}


def _checker(layout: Layout) -> str:
    return _CHECKERS.get(layout.format, "netcdf4")
