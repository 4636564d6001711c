"""What reading inside of chunks costs: times, builds, and what else reads parts of chunks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ... import subchunk
from ...io.work import Read, Remove
from ...measure.case import Case, Stopwatch
from ...storage.region import Selection
from ...subchunk.deflate.inflate import inflater
from . import subchunk_document as document
from .subchunk_files import DEFAULT, DOCUMENT, PIXELS, Files, Index, build, spelled


@dataclass(frozen=True)
class ReadInside:
    """Open a file with its index and read selections, each opened anew: phases open and read.

    Parameters
    ----------
    path, index : Path
    variable : str
    selections : tuple
    open : callable
        Takes path and index, returns a mapping of variables.
    """

    path: Path
    index: Path
    variable: str
    selections: tuple[Selection, ...]
    open: Callable[[Path, Path], Any]

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        found = []
        for selection in self.selections:
            with watch.lap("open"):
                file = self.open(self.path, self.index)
                variable = file[self.variable]
            with watch.lap("read"):
                found.append(variable[selection])
            file.close()
        values = np.stack(found)
        watch.note(useful_bytes=values.nbytes)
        return values


def open_ours(path: Path, index: Path) -> subchunk.File:
    """Open a file with an index of ours; forked samples have one core, and so one thread."""
    return subchunk.open(path, index, threads=1)


@dataclass(frozen=True)
class Kept:
    """Check that values are those that were kept, as many as were read."""

    path: Path

    def __call__(self, read: NDArray[Any]) -> bool:
        truth = np.load(self.path)
        read = read if read.ndim == truth.ndim else read[None]
        return bool(np.array_equal(read, truth[: len(read)]))


def read_cases(files: Files) -> list[Case]:
    """Return series and frames, through every index and through h5py, warm.

    A name is file (as `spelled`), read and index. Series through an index larger than the
    document's are "series-larger".
    """
    found = []
    for name in files.names:
        series, first = tuple(files.pixels(name)), files.frame(name)
        indexes = files.indexes(name)
        for index in indexes:
            found.append(_inside(files, name, "series", index, series))
        found += [_inside(files, name, "frame", index, (first,)) for index in (DEFAULT, DOCUMENT)]
        found += [
            _plain(files, name, "series", series[0]),
            _plain(files, name, "frame", first),
        ]
    return found


def _inside(
    files: Files, name: str, read: str, index: Index, chosen: tuple[Selection, ...]
) -> Case:
    path, place = files.path(name), files.index_path(name, index)
    opener = document.open if index.layout == "document" and index.serial else open_ours
    larger = read == "series" and _larger(files, name, place)
    return Case(
        f"{spelled(name)}/{read}{'-larger' if larger else ''}/{index.name}",
        ReadInside(path, place, files.variable(name), chosen, opener),
        check=Kept(files.truth_path(name, read)),
        columns={
            **_columns(files, name, read),
            "library": "hyperslab",
            "mode": "zlib" if opener is document.open else getattr(inflater(), "__name__", ""),
            "spacing_bytes": index.spacing,
            "predicted_reads": files.shapes[name][0] * PIXELS if read == "series" else 1,
        },
        files=(path, place),
        cache_state="warm",
        aa=(name, read, index) == ("gfs-on", "frame", DEFAULT),
    )


def _plain(files: Files, name: str, read: str, chosen: Selection) -> Case:
    path = files.path(name)
    return Case(
        f"{spelled(name)}/{read}-whole/h5py",
        Read(path, "h5py", chosen, files.variable(name)),
        check=Kept(files.truth_path(name, read)),
        columns={
            **_columns(files, name, read),
            "library": "h5py",
            "predicted_reads": files.shapes[name][0] if read == "series" else 1,
        },
        files=(path,),
        cache_state="warm",
    )


def _larger(files: Files, name: str, place: Path) -> bool:
    theirs = files.index_path(name, DOCUMENT)
    # Where records are drawn from there are no files, and the names come from the records.
    return place.exists() and place.stat().st_size > theirs.stat().st_size


def _columns(files: Files, name: str, read: str) -> dict[str, object]:
    return {**files.layout(name).record(), "pattern": read, "stages": files.shapes[name][0]}


@dataclass(frozen=True)
class BuildIndex:
    """Build an index: phase build."""

    path: Path
    target: Path
    variable: str
    index: Index

    def __call__(self, watch: Stopwatch) -> None:
        with watch("build"):
            build(self.path, self.target, self.variable, self.index, threads=1)
        watch.note(file_bytes=self.target.stat().st_size)


@dataclass(frozen=True)
class Reads:
    """Check that an index just built gives the right values."""

    read: ReadInside
    kept: Kept

    def __call__(self, _: object) -> bool:
        return self.kept(self.read(Stopwatch()))


@dataclass(frozen=True)
class ReadWhole:
    """Read a variable once with h5py, a chunk at a time: phase read."""

    path: Path
    variable: str

    def __call__(self, watch: Stopwatch) -> int:
        size = 0
        with watch("read"), h5py.File(self.path) as file:
            values = file[self.variable]
            for number in range(values.shape[0]):
                size += values[number].nbytes
        watch.note(useful_bytes=size)
        return size


def build_cases(files: Files) -> list[Case]:
    """Return building the default index of each file, and reading it once with h5py, warm."""
    found = []
    for name in files.names:
        path, variable = files.path(name), files.variable(name)
        target = files.scratch / f"{name}.built.index"
        columns = {**files.layout(name).record(), "stages": files.shapes[name][0]}
        checked = ReadInside(path, target, variable, (files.pixels(name)[0],), open_ours)
        found += [
            Case(
                f"{spelled(name)}/build",
                BuildIndex(path, target, variable, DEFAULT),
                check=Reads(checked, Kept(files.truth_path(name, "series"))),
                columns=columns | {"library": "hyperslab"},
                files=(path,),
                cache_state="warm",
                prepare=Remove(target),
                cleanup=Remove(target),
            ),
            Case(
                f"{spelled(name)}/h5py",
                ReadWhole(path, variable),
                check=partial(int.__eq__, 4 * int(np.prod(files.shapes[name]))),
                columns=columns | {"library": "h5py"},
                files=(path,),
                cache_state="warm",
                aa=name == "cmems-on",
            ),
        ]
    return found


def index_sizes(files: Files) -> Iterator[dict[str, object]]:
    """Yield the bytes and points of each index; ``useful_bytes`` are those of the file."""
    for name in files.names:
        with h5py.File(files.path(name)) as file:
            stored = file[files.variable(name)].id.get_storage_size()
        for index in files.indexes(name):
            place = files.index_path(name, index)
            if index.layout == "document":
                points = document.count(place, files.variable(name))
                chunk = 4 * int(np.prod(files.shapes[name][1:]))
                spacing = document.spacing(chunk, index.spacing or document.SPACING)
            else:
                entry = subchunk.Index(place).entries[files.variable(name)]
                found = subchunk.Index(place).points(entry)[1]
                points, spacing = len(found), entry.spacing
            yield {
                "case": f"{spelled(name)}/{index.name}",
                "phase": "size",
                "library": "hyperslab",
                **files.layout(name).record(),
                "file_bytes": place.stat().st_size,
                "useful_bytes": stored,
                "points": points,
                "spacing_bytes": spacing,
                "stages": files.shapes[name][0],
            }
