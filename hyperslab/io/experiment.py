"""What an experiment does with files, as a notebook writes it down."""

import math
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..measure import case as measured
from ..measure.case import Stopwatch
from ..measure.cold import remove
from ..measure.memory import WRITTEN
from . import work
from .cards import card
from .creation import create, stored_bytes
from .file_plan import CHUNK_CACHED
from .layout import Layout
from .selection import Selection
from .variable import Variable
from .writing import sync_files


class Work(Protocol):
    """What a case does; `parts` says what a sample runs, and what describes it."""

    def parts(self, cache_state: str) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Case:
    """One configuration of an experiment; its work is a `Read`, `Overwrite` or `Create`."""

    labels: Mapping[str, str]  # columns of the records, which tell it apart from the others
    work: Work
    aa: bool = False  # whether it is also measured under other names, to show what noise does
    most_blocks: int = 0  # after which it is left out of the rest; 0 measures it in all

    def ready(self, cache_state: str = "") -> measured.Case:
        return measured.Case(
            ", ".join(self.labels.values()),
            **self.work.parts(cache_state),
            cache_state=cache_state,
            aa=self.aa,
            most_blocks=self.most_blocks,
            labels=self.labels,
        )


class Source(Protocol):
    """An array that files are written from, and that reads are compared with."""

    name: str
    variable: str
    dtype: str

    @property
    def shape(self) -> tuple[int, ...]: ...

    def part(self, selection: Selection, folder: Path) -> Callable[[], NDArray[Any]]:
        """Return what gives part of it; the folder is for what takes long to make."""

    def write(self, files: Mapping[Path, Layout], folder: Path) -> None:
        """Write all of it into files; the folder is for what other notebooks read too."""


@dataclass(frozen=True)
class Array:
    """An array that is made where it is needed, and takes no memory elsewhere."""

    make: Callable[[], NDArray[Any]]  # the values, of this shape and type; it can be pickled
    shape: tuple[int, ...]
    dtype: str = "i4"
    name: str = "array"  # what its files begin with
    variable: str = work.NAME
    dims: tuple[str, ...] = ()  # letters if there are none
    unlimited: tuple[str, ...] = ()  # those that can grow
    fill_value: float | None = None  # of what is never written; the format's own if none is given

    def __getitem__(self, selection: Selection) -> NDArray[Any]:
        return selected(self.make, selection)

    def part(self, selection: Selection, folder: Path) -> Callable[[], NDArray[Any]]:
        return partial(selected, self.make, selection)

    def write(self, files: Mapping[Path, Layout], folder: Path) -> None:
        dims = self.dims or tuple("uvwzyx"[-len(self.shape) :])
        values = self.make()
        about = (self.variable, dims, self.shape, self.dtype)
        variable = Variable(*about, fill_value=self.fill_value, unlimited=self.unlimited)
        for path, layout in files.items():
            # A cache for all chunks: whole rows arrive, and each may touch every chunk.
            cached = layout.chunks and layout.format in CHUNK_CACHED
            cache = 2 * values.nbytes if cached else None
            with create(
                path, [variable], layout, chunk_cache_bytes=cache, overwrite=True
            ) as writer:
                writer.write(self.variable, ..., values)
                writer.sync()


def selected(make: Callable[[], NDArray[Any]], selection: Selection) -> NDArray[Any]:
    return np.ascontiguousarray(make()[selection])


@dataclass(frozen=True)
class File:
    path: Path
    array: Source
    layout: Layout

    def part(self, selection: Selection) -> Callable[[], NDArray[Any]]:
        return self.array.part(selection, self.path.parent)

    def steps(self, selection: tuple[Any, ...]) -> int:
        return int(np.arange(self.array.shape[0])[selection[0]].size)

    def size(self) -> dict[str, object]:
        stored = stored_bytes(self.path)
        return {**self.layout.record(), "file_bytes": stored, "useful_bytes": self.nbytes}

    @property
    def nbytes(self) -> int:
        return np.dtype(self.array.dtype).itemsize * math.prod(self.array.shape)

    def memory_bytes(self, reader: str) -> int:
        """Return how much memory a read may take beyond the file's pages: a chunk, and a copy."""
        # The stand-in for chunkindex makes arrays of the whole variable, four in all.
        whole = card(reader).library == "chunkindex"
        values = math.prod(self.layout.chunks or ()) + 2 * math.prod(self.array.shape) * whole
        return 2 * np.dtype(self.array.dtype).itemsize * values

    def twin(self) -> Path:
        """Return a copy for reads from memory, with copies of the indexes beside the file."""
        # A file that was evicted comes back in other pieces of memory, which alone makes a warm
        # read up to a tenth quicker or slower: cold and warm reads need files of their own.
        path = self.path.with_name(f"warm-{self.path.name}")
        if self.path.exists() and not path.exists():
            # With its times, by which an index tells whether the file has changed.
            (shutil.copytree if self.path.is_dir() else shutil.copy2)(self.path, path)
            for index in self.path.parent.glob(f"{self.path.name}.*"):
                shutil.copy2(index, path.with_name(f"warm-{index.name}"))
        return path


@dataclass(frozen=True)
class Read:
    """Read part of a file, and compare it with the array: phases open, read and close."""

    file: File
    selection: Selection
    reader: str = "netcdf4"

    def parts(self, cache_state: str) -> dict[str, Any]:
        path = self.file.twin() if cache_state == "warm" else self.file.path
        arguments = (path, self.reader, self.selection, self.file.array.variable)
        return {
            # The file is evicted again once it is open, so that the read itself starts cold.
            "run": work.Read(*arguments, chill=True),
            "check": work.Equals(self.file.part(self.selection)),
            "columns": columns(self.file.layout, self.reader),
            "files": (path,),
            "memory_bytes": self.file.memory_bytes(self.reader),
            "pinned": not card(self.reader).threads,
        }


@dataclass(frozen=True)
class Overwrite:
    """Write part of a file anew, by netCDF4-python: phases open, write, sync and close."""

    file: File
    selection: Selection

    def parts(self, cache_state: str) -> dict[str, Any]:
        file, layout = self.file, self.file.layout
        return {
            "run": self,
            "check": work.Holds(file.path, _checker(layout), file.part(...)),
            "columns": columns(layout, "netcdf4"),
        }

    def __call__(self, watch: Stopwatch) -> None:
        import netCDF4

        values = self.file.part(self.selection)()
        with watch("open"):
            file = netCDF4.Dataset(self.file.path, "a")
            file.set_auto_maskandscale(False)
            variable = file.variables[work.NAME]
        with watch("write", useful_bytes=values.nbytes):
            variable[self.selection] = values
        with watch("sync"):
            file.sync()
            sync_files(self.file.path)
        with watch("close"):
            file.close()
        watch.note(file_bytes=stored_bytes(self.file.path))


@dataclass(frozen=True)
class Create:
    """Write part of an array into a new file: phases create, write, sync and close."""

    file: File
    selection: Selection = ...

    def parts(self, cache_state: str) -> dict[str, Any]:
        layout, values = self.file.layout, self.file.part(self.selection)
        return {
            "run": self,
            "check": work.Holds(self.path, _checker(layout), values, self.selection),
            "memory_bytes": WRITTEN * self.file.nbytes,
            "columns": columns(layout, "netcdf4"),
            "prepare": partial(remove, self.path),
            "cleanup": partial(remove, self.path),
        }

    @property
    def path(self) -> Path:
        return self.file.path.with_name(f"new-{self.file.path.name}")

    def __call__(self, watch: Stopwatch) -> None:
        values, shape = self.file.part(self.selection)(), self.file.array.shape
        variable = Variable(work.NAME, tuple("xyzuvw"[: len(shape)]), shape, values.dtype.str[1:])
        with watch("create"):
            writer = create(self.path, [variable], self.file.layout)
        with watch("write", useful_bytes=values.nbytes):
            writer.write(work.NAME, self.selection, values)
        with watch("sync"):
            writer.sync()
        with watch("close"):
            writer.close()
        watch.note(file_bytes=stored_bytes(self.path))


def modules(cases: Iterable[measured.Case]) -> tuple[str, ...]:
    """Return what to import before processes are forked for cases that are ready."""
    calls = [call for case in cases for call in (case.run, case.check)]
    cards = [card(name) for name in sorted({getattr(call, "library", "netcdf4") for call in calls})]
    libraries = {module for card in cards for module in card.requires}
    libraries |= {module for call in calls for module in getattr(call, "needs", ())}
    present = {module for module in libraries if find_spec(module.partition(".")[0])}
    readers = {f"hyperslab.io.{card.module}" for card in cards if present.issuperset(card.requires)}
    return (*sorted(present), work.__name__, *sorted(readers))


def columns(layout: Layout, reader: str) -> dict[str, object]:
    return {"library": card(reader).library, **layout.record()}


def _checker(layout: Layout) -> str:
    return "h5py" if layout.format == "netcdf4" else "netcdf4"
