"""A small box read from chunks, shards and an indexed chunk: what else reads part of a chunk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ...access import reader
from ...io.work import Read
from ...measure.case import Case
from ...storage.layout import Layout
from ...storage.variable import Variable
from ...storage.write import create
from .subchunk import ReadInside, open_ours
from .subchunk_files import DEFAULT, Files

BOX = (slice(0, 1, 1), slice(270, 290, 1), slice(496, 516, 1))
"""A small box about the document's point, in one chunk of the ocean."""
INNER = (1, 38, 117)
"""Chunks inside of a shard: a hundred and ten of them are a chunk of the document."""
PARTS = {
    "zarr3/zstd": Layout("zarr3", chunks=(1, 380, 1287), codec="zstd"),
    "zarr3-shards/zstd": Layout("zarr3", chunks=INNER, shards=(1, 380, 1287), codec="zstd"),
    "zarr3/blosc": Layout("zarr3", chunks=(1, 380, 1287), codec="blosc-lz4", shuffle=True),
    "zarr2/blosc": Layout("zarr2", chunks=(1, 380, 1287), codec="blosc-lz4", shuffle=True),
}
"""Layouts of Zarr that a part of a chunk is read from, by case."""


@dataclass(frozen=True)
class Boxed:
    """Check that values are those of the small box."""

    path: Path

    def __call__(self, read: NDArray[Any]) -> bool:
        with h5py.File(self.path) as file:
            return bool(np.array_equal(read.reshape(20, 20), file["uo"][BOX][0]))


def make_parts(files: Files) -> None:
    """Write a few frames of the ocean in each Zarr layout."""
    values = _frames(files)
    for case, layout in PARTS.items():
        variable = Variable("uo", ("time", "lat", "lon"), values.shape, "f4")
        with create(_part(files, case), [variable], layout, overwrite=True) as writer:
            writer.write("uo", ..., values)


def part_cases(files: Files) -> list[Case]:
    """Return one read of a small box from each layout: open, read and close."""
    source, plan = files.path("cmems-off"), files.layout("cmems-off").record()
    ours = ReadInside(source, files.index_path("cmems-off", DEFAULT), "uo", (BOX,), open_ours)
    check = Boxed(source)
    cases = [
        Case("subchunk/deflate", ours, check=check, columns={"library": "hyperslab", **plan}),
        Case(
            "h5py/deflate",
            Read(source, "h5py", BOX, "uo"),
            check=check,
            columns={"library": "h5py", **plan},
            aa=True,
        ),
    ]
    for case, layout in PARTS.items():
        cases.append(
            Case(
                case,
                Read(_part(files, case), "zarr", BOX, "uo"),
                check=check,
                columns={"library": "zarr", **layout.record()},
                start=reader("zarr").start,
            )
        )
    return cases


def _frames(files: Files) -> NDArray[Any]:
    with h5py.File(files.path("cmems-off")) as file:
        values: NDArray[Any] = file["uo"][:2]
    return values


def _part(files: Files, case: str) -> Path:
    return files.scratch / f"part-{case.replace('/', '-')}.zarr"
