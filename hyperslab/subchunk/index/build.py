"""Build the index of a file, or add to one that exists."""

from __future__ import annotations

import glob
import os
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..chunk_table import CHUNK_TYPES, Chunks
from ..errors import CorruptDataError, SubchunkError, UnreadableError, reason
from ..fetch import Source, source
from ..fetch.filelike import open_hdf5
from ..hdf5 import Variable
from ..place import SUFFIX, absolute, file_name, target_path
from .chunk import choose_spread, index_chunk
from .format import encode, is_index
from .index import Index
from .points import POINT_ARRAYS, ChunkPoints, Points, joined, segment_sums
from .spread import BUDGET, SPACINGS, Spread, check_options
from .survey import Survey, look, unchanged

Bytes = NDArray[np.uint8]
_Result = TypeVar("_Result")
_How = TypeVar("_How")
_LARGE = 2**23  # bytes of a chunk of which several are indexed at the same time
_TRIED = 8  # chunks that may be damaged before none is taken for the usual one
_FORSAKEN_S = 600  # after which what was being written surely is not any more


def build(
    path: str | Path,
    index: str | Path | None = None,
    *,
    variables: Sequence[str] | None = None,
    spacing: int | None = None,
    budget: float | None = None,
    add: bool = False,
    threads: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Build the index of a netCDF-4 or HDF5 file, and return its path.

    What cannot be indexed is read plainly; what cannot be read is left out, and `File.left_out`
    says why. Of chunks that are damaged a warning tells. Source: Penard et al. 2025, section 3.

    Parameters
    ----------
    path : path-like
        The file, or its URL. It is read once, and not changed.
    index : path-like, optional
        The index (a local file) or its folder; its name is the file's with `.subchunk` behind, and
        it lies beside the file, of a URL in the working folder. It appears whole, or not at all.
    variables : sequence of str, optional
        Variables to index; all that can be if not given.
    spacing : int, optional
        Bytes of decompressed data between points, from 1 KiB to 64 MiB.
    budget : float, optional
        Where no spacing is given: bytes of the index for each byte of compressed data (0.02).
    add : bool
        Add to the index that is there, if one is: chunks of a file that grew, and `variables`
        beside those it has, which keep their spacing. Of chunks that lie where they lay all is
        taken over, once their data were compared if the file was written since.
    threads : int, optional
        Chunks that are indexed at the same time. If not given, as many as cores where chunks are
        large or behind a URL, else one: threads that index small chunks mostly wait for each other.
    storage_options : mapping, optional
        As `hyperslab.subchunk.File` takes them.
    progress : callable, optional
        Called with the chunks done and all chunks.

    Raises
    ------
    SubchunkError
        For no HDF5 file, or a named variable that is not there or cannot be indexed.
    ValueError
        For a spacing or budget that makes no sense, or that no added variable could have, and
        for another file in the place of the index.

    Examples
    --------
    >>> import tempfile, h5py
    >>> folder = Path(tempfile.mkdtemp())
    >>> with h5py.File(folder / "x.h5", "w") as file:
    ...     _ = file.create_dataset("x", data=np.arange(10_000), chunks=(5_000,), compression=4)
    >>> build(folder / "x.h5").name
    'x.h5.subchunk'
    """
    check_options(spacing, budget)
    target, old = target_path(path, index), None
    if target.is_file() and not (target.name.endswith(SUFFIX) or is_index(target)):
        raise ValueError(f"{target} is there and no index: it would be lost; give another name")
    earlier: dict[str, _Earlier] = {}
    if add and target.exists():
        old = Index(target)
        kept = old.everything_kept()
        earlier = {
            name: _Earlier(entry.spacing, *old.points(entry), kept)
            for name, entry in old.entries.items()
            if entry.spacing
        }
        more = [name for name in variables or () if name not in earlier]
        if not more and (spacing or budget):
            raise ValueError(
                "spacing and budget are for variables that are added, and none is: name them, or "
                "build the index again"
            )
        variables = [*earlier, *more]
    data = source(absolute(path), storage_options)
    with open_hdf5(data) as file:
        survey = look(file, variables, file_name(path))
    data.check()  # what was looked at is what will be read
    trusted = old is not None and unchanged(old.data, data.identity())
    making = _Build(data, survey, earlier, trusted, spacing, budget or BUDGET, threads, progress)
    return making.write(target)


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give a place to write a file to, which takes its name, safe on the disk, if all went well."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):  # by killed processes
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _FORSAKEN_S:
                left.unlink()
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@dataclass
class _Build:
    data: Source
    survey: Survey
    earlier: Mapping[str, _Earlier]  # what an index has of variables, to be taken over
    trusted: bool  # whether the file was not written since that index was made
    spacing: int | None
    budget: float
    threads: int | None
    progress: Callable[[int, int], None] | None
    done: int = 0  # chunks
    unindexed: dict[str, dict[int, str]] = field(default_factory=dict)  # why, by chunk

    def write(self, target: Path) -> Path:
        if not target.parent.is_dir():
            raise FileNotFoundError(f"no folder {target.parent} for the index: make it first")
        identity, listing = self.data.identity(), self.survey.listing
        arrays: dict[str, NDArray[Any]] = {}
        listed: list[dict[str, Any]] = []
        kept = b""
        for number, (name, variable) in enumerate(listing.variables.items()):
            spacing = 0
            if (chunks := self.survey.tables.get(name)) is not None:
                spread, ready = self._spread(variable, chunks)
                spacing = spread.spacing
                points, more = joined(self._points(variable, chunks, spread, ready), len(kept))
                kept += more
                arrays |= {f"{number}/{name}": getattr(chunks, name) for name in CHUNK_TYPES}
                arrays |= {f"{number}/{name}": getattr(points, name) for name in POINT_ARRAYS}
            small = self.survey.small.get(name)
            values = None if small is None else small.hex()
            listed.append(variable.described() | {"spacing": spacing, "values": values})
        if copy(self.data).identity() != identity:  # which opens it anew
            raise SubchunkError(
                f"{file_name(self.data.name)} changed while it was indexed: build the index again"
            )
        content = {
            "data": identity | {"table": self.survey.digest()},
            "groups": self.survey.groups,
            "variables": listed,
            "left_out": listing.left_out,
            "left_out_attrs": listing.left_out_attrs,
        }
        with whole_file(target) as temporary:
            temporary.write_bytes(encode(content, arrays, kept))
        for name, lost in self.unindexed.items():
            row, why = next(iter(lost.items()))
            warnings.warn(
                f"{len(lost)} of {len(self.survey.tables[name])} chunks of {name} have no points "
                f"and are read whole; chunk {row}: {why}",
                stacklevel=3,
            )
        return target

    def _spread(self, variable: Variable, chunks: Chunks) -> tuple[Spread, dict[int, ChunkPoints]]:
        """Choose by a chunk of the usual size; return its points too, by its row."""
        earlier = self.earlier.get(variable.name)
        good = np.flatnonzero(chunks.mask == 0)
        spacing = earlier.spacing if earlier else self.spacing
        if not spacing:
            by_size = good[np.argsort(chunks.size[good], kind="stable")]
            apart = np.argsort(np.abs(np.arange(by_size.size) - by_size.size // 2), kind="stable")
            for row in by_size[apart][:_TRIED].tolist():
                if choice := self._tried(variable, chunks, row, choose_spread, self.budget):
                    return choice[0], {row: choice[1]}
        return Spread.even(spacing or SPACINGS[1], variable.chunk_bytes), {}

    def _points(
        self, variable: Variable, chunks: Chunks, spread: Spread, ready: Mapping[int, ChunkPoints]
    ) -> list[ChunkPoints]:
        earlier = self.earlier.get(variable.name)
        total = sum(map(len, self.survey.tables.values()))

        def points_of(row: int) -> ChunkPoints:
            points = earlier.chunk(chunks, row) if earlier else None
            if points and not self.trusted:
                now = segment_sums(self._stream(variable, chunks, row).data, points.bit)
                if now != points.segment_crc.tolist():
                    points = None  # it was written again in its place
            if points is None or not len(points.out):
                # Without points it is read whole: so it is best where a filter was skipped.
                points = ChunkPoints.none()
                if not chunks.mask[row]:
                    new = ready.get(row) or self._tried(variable, chunks, row, index_chunk, spread)
                    points = new or points
            self.done += 1
            if self.progress:
                self.progress(self.done, total)
            return points

        rows = range(len(chunks))
        several = self.data.remote or variable.chunk_bytes >= _LARGE
        threads = min(self.threads or (os.cpu_count() or 1 if several else 1), max(len(rows), 1))
        if threads < 2:
            return [points_of(row) for row in rows]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(points_of, rows))

    def _tried(
        self,
        variable: Variable,
        chunks: Chunks,
        row: int,
        act: Callable[[Bytes, int, int, int, _How], _Result],
        how: _How,
    ) -> _Result | None:
        """Return what is made of a chunk; None where it is damaged, and has to be read whole."""
        together = 1 if variable.shuffled else variable.width  # bytes of a number side by side
        try:
            stream = self._stream(variable, chunks, row)
            return act(stream, variable.chunk_bytes, together, row, how)
        except (CorruptDataError, UnreadableError, MemoryError) as error:
            self.unindexed.setdefault(variable.name, {})[row] = reason(error)
        return None

    def _stream(self, variable: Variable, chunks: Chunks, row: int) -> Bytes:
        start = int(chunks.offset[row])
        stop = start + int(chunks.size[row]) - variable.guard_bytes
        stream = np.frombuffer(self.data.ranges([start], [stop])[0], np.uint8)
        if not 0 < stream.size == stop - start:
            raise CorruptDataError("the file ends before it, or it is empty")
        return stream


@dataclass(frozen=True)
class _Earlier:
    """What an index has of one variable, to be taken over into another one."""

    spacing: int
    chunks: Chunks
    points: Points
    kept: bytes  # what all points of the index keep

    def chunk(self, now: Chunks, row: int) -> ChunkPoints | None:
        """Return the points of a chunk, if it lies where it lay with the length it had."""
        old = int(np.searchsorted(self.chunks.number, now.number[row]))
        if old == len(self.chunks) or any(
            getattr(self.chunks, name)[old] != getattr(now, name)[row] for name in CHUNK_TYPES
        ):
            return None
        points = self.points
        first, last = points.first[old : old + 2].tolist()
        low, high = np.searchsorted(points.mark, [first, last]).tolist()
        begins, sizes = points.kept_at[low:high].tolist(), points.kept_bytes[low:high].tolist()
        kept = [self.kept[at : at + size] for at, size in zip(begins, sizes, strict=True)]
        if [zlib.crc32(piece) for piece in kept] != points.kept_crc[low:high].tolist():
            return None  # damaged: it is indexed anew
        return ChunkPoints(
            points.out[first:last],
            points.bit[first:last],
            points.segment_crc[first:last],
            points.mark[low:high] - first,
            points.header_bits[low:high],
            kept,
        )
