"""Indexes of places inside compressed chunks, and reads through them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import h5py
import numpy as np
from numpy.typing import NDArray

from .. import subchunk
from ..access import chunkindex_format
from ..access.chunkindex_format import ChunkindexFile
from ..access.chunkindex_layout import SerialVariable
from ..measure.case import Stopwatch
from ..storage.region import Selection
from ..subchunk.deflate.inflate import inflater
from . import work
from .experiment import File, columns
from .pieces import WIDTH, Points

SPACING = 2_000_000  # three points a chunk, or one every 2 MB: section 3.3 of Penard et al. 2025
NEEDS = ("h5py", "hyperslab.access.h5py", __name__)


@dataclass(frozen=True)
class Index:
    """One way to index a file.

    Parameters
    ----------
    name : str
        As tables have it.
    spacing : int
        Bytes of values between points; 0 leaves it to the budget.
    of_chunkindex : bool
        Whether layout and points are those of chunkindex.
    serial : bool
        Whether it is read as the document describes, one request after another.
    """

    name: str
    spacing: int = 0
    of_chunkindex: bool = False
    serial: bool = False

    def path(self, file: File) -> Path:
        """Return where the index of a file lies."""
        whose = "chunkindex" if self.of_chunkindex else "subchunk"
        return file.path.with_name(f"{file.path.name}.{whose}-{self.spacing}.index")

    def build(self, file: File, threads: int = 2, target: Path | None = None) -> Path:
        """Build it where it is missing, and return where it lies."""
        target, variables = target or self.path(file), [file.array.variable]
        if target.exists():
            return target
        if self.of_chunkindex:
            chunkindex_format.write(file.path, target, variables=variables, spacing=self.spacing)
        else:
            spacing = self.spacing or None
            subchunk.build(file.path, target, variables=variables, spacing=spacing, threads=threads)
        return target

    def size(self, file: File) -> dict[str, object]:
        """Return the bytes and points of it; ``useful_bytes`` are those of the file."""
        path, name = self.path(file), file.array.variable
        with h5py.File(file.path) as data:
            stored = data[name].id.get_storage_size()
        if self.of_chunkindex:
            points = sum(
                len(chunk) for chunk in chunkindex_format.chunk_points(path, name).values()
            )
            spacing = chunkindex_format.span(
                WIDTH * math.prod(file.layout.chunks or ()), spacing=self.spacing
            )
        else:
            opened = subchunk.Index(path)
            entry = opened.entries[name]
            points, spacing = len(opened.points(entry)[1]), entry.spacing
        return {
            "phase": "size",
            **columns(file.layout, "subchunk"),
            "file_bytes": path.stat().st_size,
            "useful_bytes": stored,
            "points": points,
            "spacing_bytes": spacing,
            "stages": file.array.shape[0],
        }

    def points(self, file: File) -> Points:
        """Return the points of the first chunk."""
        path, name = self.path(file), file.array.variable
        if self.of_chunkindex:
            chunks = chunkindex_format.chunk_points(path, name)
            one = chunks[min(chunks, key=lambda key: [int(place) for place in key.split(".")])]
            able = np.ones(len(one.outloc), bool)
            sizes = one.uncompressed_size, one.compressed_size
            return Points(one.outloc, one.bit >> 3, able, *sizes)
        opened = subchunk.Index(path)
        entry = opened.entries[name]
        stored_chunks, found = opened.points(entry)
        end = int(found.first[1])
        able = np.isin(np.arange(end), found.mark)
        stored = found.bit[:end].astype(np.int64) >> 3
        sizes = entry.variable.chunk_bytes, int(stored_chunks.size[0])
        return Points(found.out[:end], stored, able, *sizes)


BUDGET = Index("hyperslab, by the budget")
CHUNKINDEX = Index("chunkindex", SPACING, of_chunkindex=True, serial=True)
BY_HYPERSLAB = Index("chunkindex, read by hyperslab", SPACING, of_chunkindex=True)


@dataclass(frozen=True)
class ReadInside:
    """Open a file with its index and read selections, each opened anew: phases open and read."""

    path: Path
    index: Path
    variable: str
    selections: Sequence[Selection]
    serial: bool = False
    of_chunkindex: bool = False

    needs: ClassVar = NEEDS

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        found = []
        for selection in self.selections:
            with watch.lap("open"):
                read, close = self._open()
            with watch.lap("read"):
                found.append(read(selection))
            close()
        values = np.stack(found)
        watch.note(useful_bytes=values.nbytes)
        return values

    def _open(self) -> tuple[Callable[[Selection], Any], Callable[[], None]]:
        if self.serial:
            one = SerialVariable(self.path.open("rb"), self.index.open("rb"), self.variable)
            return one.read, one.close
        # A forked sample has one core, and so one thread.
        kind = ChunkindexFile if self.of_chunkindex else subchunk.File
        file = kind(self.path, self.index, threads=1)
        return file[self.variable].__getitem__, file.close


@dataclass(frozen=True)
class AllEqual:
    """Check that what was read of several selections equals the truth."""

    parts: Sequence[Callable[[], NDArray[Any]]]

    def __call__(self, read: NDArray[Any]) -> bool:
        return bool(np.array_equal(read, np.stack([part() for part in self.parts])))


@dataclass(frozen=True)
class Read:
    """Read selections of a file through an index, each opened anew; or one by h5py, without.

    Parameters
    ----------
    file : File
    selections : sequence
        As numpy has them, of equal shape.
    index : Index, optional
    """

    file: File
    selections: Sequence[tuple[Any, ...]]
    index: Index | None = None

    def parts(self, cache_state: str) -> dict[str, Any]:
        """Return what a sample runs, and what describes it."""
        path, array, index = self.file.path, self.file.array, self.index
        steps = np.arange(array.shape[0])[self.selections[0][0]].size
        told = {"predicted_reads": steps * len(self.selections), "stages": array.shape[0]}
        if index is None:
            (selection,) = self.selections
            return {
                "run": work.Read(path, "h5py", selection, array.variable),
                "check": work.Equals(self.file.part(selection)),
                "columns": columns(self.file.layout, "h5py") | told,
                "files": (path,),
            }
        told |= {"spacing_bytes": index.spacing} if index.spacing else {}
        mode = "zlib" if index.serial else getattr(inflater(), "__name__", "")
        how = index.serial, index.of_chunkindex
        return {
            "run": ReadInside(path, index.path(self.file), array.variable, self.selections, *how),
            "check": AllEqual([self.file.part(one) for one in self.selections]),
            "columns": columns(self.file.layout, "subchunk") | told | {"mode": mode},
            "files": (path, index.path(self.file)),
        }
