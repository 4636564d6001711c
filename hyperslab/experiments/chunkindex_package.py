"""The published package chunkindex: run from a checkout, in an environment of its own."""

import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..io import chunkindex_format, reader, work
from ..io.by_chunkindex import SUFFIX as LAYOUT
from ..io.experiment import File, columns
from ..io.far import served_folder
from ..network import Wire

VERSIONS = Path(__file__).with_name("chunkindex.txt")
NAME = "chunkindex, package"
STAND_IN = "chunkindex_layout"
SUFFIX = ".chunkindex-package"
_TOP = Path(__file__).parents[2]
_CHILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.path.append(sys.argv[2]); "
    "from hyperslab.experiments.chunkindex_child import main; main(sys.argv[3])"
)
Selection = tuple[Any, ...]
Reads = Mapping[str, tuple[Mapping[str, File], Selection]]


@dataclass(frozen=True)
class Package:
    checkout: str  # the folder that holds its folder `chunkindex`
    environment: Path  # of Python; made where it is missing, or has other versions

    def __post_init__(self) -> None:
        if not (self._folder / "chunkindex" / "__init__.py").exists():
            raise FileNotFoundError(
                f"chunkindex={self.checkout!r}: give a folder that holds the package's folder "
                "chunkindex, such as a clone of its repository"
            )

    @property
    def _folder(self) -> Path:
        return Path(self.checkout).expanduser().resolve()

    @cached_property
    def version(self) -> str:
        words = ["git", "-C", str(self._folder), "-c", "safe.directory=*"]
        done = subprocess.run(
            [*words, "describe", "--tags", "--always", "--dirty"], capture_output=True, text=True
        )
        return done.stdout.strip()

    def make(self) -> Path:
        python, mark = self.environment / "bin" / "python", self.environment / VERSIONS.name
        versions = VERSIONS.read_text(encoding="utf-8")
        if not mark.exists() or mark.read_text(encoding="utf-8") != versions:
            _run([sys.executable, "-m", "venv", "--clear", str(self.environment)])
            _run([str(python), "-m", "pip", "install", "--quiet", "--requirement", str(VERSIONS)])
            mark.write_text(versions, encoding="utf-8")
        return python

    def words(self, **job: object) -> tuple[str, ...]:
        # Isolated: what this process imports from, its children would else import from too.
        begun = (str(self.environment / "bin" / "python"), "-I", "-c", _CHILD)
        return (*begun, str(self._folder), str(_TOP), json.dumps(job))


@dataclass(frozen=True)
class ReadByPackage:
    """Read part of a local file by the package, and compare it: phases open, read and close."""

    package: Package | None  # none where records are drawn from
    file: File  # the index that the package made lies beside it
    selection: Selection  # as numpy has it

    def parts(self, cache_state: str) -> dict[str, Any]:
        assert self.package is not None, "nothing is measured where records are drawn from"
        array = self.file.array
        path = self.file.twin() if cache_state == "warm" else self.file.path
        index = path.with_name(path.name + SUFFIX)
        target = path.with_name(
            f"{path.name}-{zlib.crc32(repr(self.selection).encode()):08x}.read.npy"
        )
        box = ends(self.selection, array.shape)
        job = {"data": str(path), "index": str(index), "variable": array.variable}
        room = self.file.memory_bytes(STAND_IN)
        return {
            "run": self.package.words(**job, selection=box, target=str(target), memory_bytes=room),
            "check": partial(saved, target, self.file.part(self.selection)),
            "columns": {
                **columns(self.file.layout, STAND_IN),
                "library_version": self.package.version,
                "stages": array.shape[0],
                "predicted_reads": self.file.steps(self.selection),
            },
            "files": (path, index),
            "cleanup": partial(work.remove, target),
        }


def saved(path: Path, values: Callable[[], NDArray[Any]], _: object = None) -> bool:
    """Return whether what was left in a file equals the truth, but for axes of one value."""
    truth, read = values(), np.load(path)
    return bool(read.size == truth.size and np.array_equal(read.reshape(truth.shape), truth))


def ends(selection: Selection, shape: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first place and that behind the last of each axis."""
    chosen = [range(n)[index] for index, n in zip(selection, shape, strict=True)]
    return [
        (span, span + 1) if isinstance(span, int) else (span.start, span.stop) for span in chosen
    ]


def index(package: Package | None, files: Iterable[File]) -> None:
    if package is None:
        return
    package.make()
    for file in files:
        path, variable = file.path, file.array.variable
        if (index := path.with_name(path.name + SUFFIX)).exists():
            continue
        unfinished, alone = (index.with_name(f"{index.name}.{end}") for end in ("part", "alone"))
        unfinished.unlink(missing_ok=True)
        # It stops at variables without chunks.
        with h5py.File(path) as whole, h5py.File(alone, "w") as copy:
            whole.copy(whole[variable], copy, variable, without_attrs=True)
        _run(package.words(data=str(alone), index=str(unfinished)))
        alone.unlink()
        unfinished.replace(index)


def in_records(recorded: Callable[[str, str], Collection[int]]) -> bool:
    try:
        return bool(recorded("package", "requests"))
    except (KeyError, ValueError):
        return False


def counts(package: Package, reads: Reads, layouts: Sequence[str]) -> Iterator[dict[str, object]]:
    """Yield a row for each read over HTTP through the package's index, by it and the stand-in."""
    # Verified is what is true, where hyperslab's own index has the same points.
    for name, (files, selection) in reads.items():
        for layout in layouts:
            for row in both(package, files[layout], selection):
                yield {"read": name, "layout": layout, "phase": "all", **row}


def both(package: Package, file: File, selection: Selection) -> Iterator[dict[str, object]]:
    """Yield what reads by the stand-in and the package took of a server, and if they are true."""
    path, variable = file.path.resolve(), file.array.variable
    truth, folder = file.part(selection)(), file.path.with_name(f"served-{file.path.name}")
    folder.mkdir(exist_ok=True)
    served, target = folder / file.path.name, folder / "values.npy"
    beside = served.with_name(served.name + LAYOUT)
    for link, to in ((served, path), (beside, file.path.with_name(file.path.name + SUFFIX))):
        link.unlink(missing_ok=True)
        link.symlink_to(to.resolve())
    own = file.path.with_name(file.path.name + LAYOUT)
    if not own.exists():
        own = chunkindex_format.write(file.path, folder / "ours", variables=[variable])
    same, points = same_points(beside, own, variable)
    with served_folder(folder) as server:
        data, index = server.address(served.name), server.address(beside.name)

        def row(label: str, version: str, right: bool) -> dict[str, object]:
            wire = Wire.of(server.requests())
            return {
                "reader": label,
                "requests": wire.requests,
                "wire_bytes": wire.wire_bytes,
                **columns(file.layout, STAND_IN),
                "library_version": version,
                "points": points,
                "verified": right and same,
            }

        with reader(STAND_IN).open(data, variable) as opened:
            values = opened.read(selection)
        yield row("chunkindex", "", np.array_equal(values, truth))
        server.forget()
        job = {"data": data, "index": index, "variable": variable, "target": str(target)}
        _run(package.words(**job, selection=ends(selection, file.array.shape)))
        yield row(NAME, package.version, saved(target, lambda: truth))


def same_points(first: Path, second: Path, variable: str) -> tuple[bool, int]:
    points, others = (chunkindex_format.chunk_points(path, variable) for path in (first, second))
    same = points.keys() == others.keys() and all(
        np.array_equal(points[name].outloc, others[name].outloc)
        and np.array_equal(points[name].bit, others[name].bit)
        for name in points
    )
    return same, sum(len(record.outloc) for record in points.values())


def _run(words: Sequence[str]) -> None:
    done = subprocess.run(list(words), capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise RuntimeError(f"{Path(words[0]).name} ended with {done.returncode}: {' '.join(lines)}")
