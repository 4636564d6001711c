"""Files that the cost model is tried on: ocean, atmosphere and radar, in layouts of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import data_gen

from ... import subchunk
from ...storage.layout import Layout
from ...storage.selection import Indices, box, frame, profile, series, strided, whole
from ...storage.write import stored_bytes, write_array

VARIABLES = {"ocean": "uo", "gfs": "air_temperature", "radar": "cref"}


@dataclass(frozen=True)
class TrialFile:
    """One array in one layout.

    Parameters
    ----------
    name
        The dataset and the layout, as the records have them.
    path
        Of the file or store.
    shape, dtype
        Of the array, which is called "data".
    layout
        How it is stored.
    """

    name: str
    path: Path
    shape: tuple[int, ...]
    dtype: str
    layout: Layout

    @property
    def chunk_bytes(self) -> float | None:
        """Bytes of a chunk in the file, on average; None without a codec."""
        chunks = self.layout.chunks
        if self.layout.codec is None or chunks is None:
            return None
        number = np.prod([-(-n // c) for n, c in zip(self.shape, chunks, strict=True)])
        return stored_bytes(self.path) / float(number)

    @property
    def selections(self) -> Mapping[str, Indices]:
        """What is read, by the name of the pattern."""
        return patterns(self.shape)


def patterns(shape: tuple[int, ...]) -> dict[str, Indices]:
    """Return the reads of an array by name.

    Examples
    --------
    >>> sorted(patterns((24, 380, 1287)))
    ['box', 'map', 'series', 'strided', 'whole']
    """
    point = tuple(int(0.37 * n) for n in shape[-2:])
    corner = tuple(n // 3 for n in shape)
    lengths = tuple(max(n // 4, 1) for n in shape)
    found = {"box": box(shape, corner, lengths), "whole": whole(shape)}
    found["strided"] = strided(shape, (*(1,) * (len(shape) - 2), 3, 3))
    if len(shape) == 2:
        return found | {"series": (slice(0, shape[0], 1), point[1])}
    found |= {
        "series": series(shape, point),
        "map": frame(shape, tuple(n // 2 for n in shape[:-2])),
    }
    if len(shape) == 4:
        found["profile"] = profile(shape, (shape[0] - 1, *point))
    return found


def layouts(kind: str, shape: tuple[int, ...]) -> dict[str, Layout]:
    """Return the layouts of a dataset by name: none of them is one of calibration's.

    Parameters
    ----------
    kind
        "ocean", "gfs" or "radar".
    shape
        Of its array.
    """
    *outer, ny, nx = shape
    one = (1,) * len(outer)
    plane, deep = (*one, ny, nx), (*outer, -(-ny // 12), -(-nx // 12))
    mid = (*(-(-n // 3) for n in outer), -(-ny // 4), -(-nx // 3))
    small = (*one, -(-ny // 9), -(-nx // 11))
    shuffled: dict[str, Any] = {"codec": "deflate", "level": 1, "shuffle": True}
    if kind == "ocean":
        return {
            "plane, deflate": Layout("netcdf4", plane, **shuffled),
            "deep, deflate unshuffled": Layout("netcdf4", deep, codec="deflate"),
            "middle, none": Layout("netcdf4", mid),
            "middle, zstd": Layout("netcdf4", mid, codec="zstd"),
            "classic": Layout("netcdf3-64bit"),
            "Zarr 2, plane, lz4": Layout("zarr2", plane, codec="blosc-lz4", shuffle=True),
            "Zarr 3, middle, gzip": Layout("zarr3", mid, codec="deflate"),
        }
    if kind == "gfs":
        return {
            "plane, deflate": Layout("netcdf4", plane, **shuffled),
            "small, deflate": Layout("netcdf4", small, **shuffled),
            "levels, blosc-zstd": Layout(
                "netcdf4", (1, outer[1], ny // 7, nx // 8), codec="blosc-zstd", shuffle=True
            ),
            "contiguous": Layout("netcdf4"),
            "Zarr 2, small, none": Layout("zarr2", small),
            "Zarr 2, plane, zstd": Layout("zarr2", plane, codec="zstd"),
        }
    return {
        "plane, deflate unshuffled": Layout("netcdf4", plane, codec="deflate", level=2),
        "small, deflate": Layout("netcdf4", small, **shuffled),
        "classic": Layout("netcdf3"),
        "binary": Layout("binary"),
        "small, bzip2": Layout("netcdf4", small, codec="bzip2"),
    }


@dataclass(frozen=True)
class TrialFiles:
    """The files of one run; `make` makes them.

    Parameters
    ----------
    scratch
        Where they lie.
    ocean_frames, gfs_frames
        Frames of those.
    thin
        Maps have so many times fewer rows and columns.
    """

    scratch: Path
    ocean_frames: int
    gfs_frames: int
    thin: int = 1
    seed: int = 0

    def files(self) -> list[TrialFile]:
        """Return the files, made or not."""
        found = []
        for kind, (shape, dtype) in self.shapes().items():
            for number, (name, layout) in enumerate(layouts(kind, shape).items()):
                path = self.scratch / f"{kind}-{number}{layout.suffix}"
                found.append(TrialFile(f"{kind}: {name}", path, shape, dtype, layout))
        return found

    def shapes(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Return shape and type of each array."""
        found = {}
        for kind, source in self._sources():
            variable = next(v for v in source.description.variables if v.name == VARIABLES[kind])
            found[kind] = (variable.shape, variable.dtype)
        return found

    def values(self, kind: str) -> NDArray[Any]:
        """Draw an array whole."""
        source = dict(self._sources())[kind]
        shape, dtype = self.shapes()[kind]
        values = np.empty(shape, dtype)
        for part in range(source.parts):
            where, drawn = source.draw(part)[VARIABLES[kind]]
            values[where] = drawn
        return values

    def make(self) -> None:
        """Write the files, and the sum of the bytes that each read must give."""
        totals: dict[str, int] = {}
        kept: tuple[str, Any] = ("", None)
        for file in self.files():
            kind = file.name.partition(":")[0]
            if kept[0] != kind:
                kept = (kind, self.values(kind))
            write_array(file.path, kept[1], file.layout, overwrite=True)
            if file.layout.codec == "deflate" and file.layout.format == "netcdf4":
                subchunk.build(file.path)
            for pattern, chosen in file.selections.items():
                part = np.ascontiguousarray(kept[1][chosen])
                totals[f"{file.name}/{pattern}"] = int(part.view("u1").sum(dtype=np.int64))
        self._kept.write_text(json.dumps(totals))

    @property
    def totals(self) -> dict[str, int]:
        """The sum of the bytes of each read, by file/pattern; empty where there are no files."""
        known = self._kept
        return dict(json.loads(known.read_text())) if known.exists() else {}

    @property
    def _kept(self) -> Path:
        return self.scratch / "totals.json"

    def _sources(self) -> Iterator[tuple[str, Any]]:
        for kind, (given, *sides) in self._given().items():
            ny, nx = (max(side // self.thin, 40) for side in sides)
            yield kind, data_gen.dataset(kind, nlat=ny, nlon=nx, seed=self.seed, **given)

    def _given(self) -> dict[str, tuple[dict[str, Any], int, int]]:
        return {
            "ocean": ({"steps": self.ocean_frames}, 380, 1287),
            "gfs": ({"steps": self.gfs_frames}, 721, 1440),
            "radar": ({"tile": "tile1"}, 1501, 2001),
        }
