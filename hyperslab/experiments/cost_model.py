"""Files that the cost model is tried on: ocean, atmosphere and radar, in layouts of their own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import data_gen

from .. import subchunk
from ..io.creation import stored_bytes, write_array
from ..io.layout import Layout
from ..io.selection import Indices, whole

VARIABLES = {"ocean": "uo", "gfs": "air_temperature", "radar": "cref"}


@dataclass(frozen=True)
class TrialFile:
    """One array in one layout.

    Parameters
    ----------
    name : str
        The dataset and the layout, as the records have them.
    path : Path
        Of the file or store.
    shape : tuple of int
    dtype : str
        Of the array, which is called "data".
    layout : Layout
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
    every = whole(shape)
    point, between = tuple(int(0.37 * n) for n in shape[-2:]), (0,) * (len(shape) - 3)
    found: dict[str, Indices] = {
        "box": tuple(slice(n // 3, n // 3 + max(n // 4, 1), 1) for n in shape),
        "whole": every,
        "strided": (*every[:-2], *(slice(0, n, 3) for n in shape[-2:])),
    }
    if len(shape) == 2:
        return found | {"series": (every[0], point[1])}
    found["series"] = (every[0], *between, *point)
    found["map"] = (*(n // 2 for n in shape[:-2]), *every[-2:])
    if len(shape) == 4:
        found["profile"] = (shape[0] - 1, every[1], *point)
    return found


def cut(shape: Sequence[int], *parts: int) -> tuple[int, ...]:
    """Return chunks that cut each axis into so many parts; into steps of one for 0.

    Examples
    --------
    >>> cut((24, 380, 1287), 0, 4, 1)
    (1, 95, 1287)
    """
    return tuple(-(-n // part) if part else 1 for n, part in zip(shape, parts, strict=True))


@dataclass(frozen=True)
class Trials:
    """The arrays of one run, and the files that `make` makes of them.

    Parameters
    ----------
    scratch : Path
        Where they lie.
    ocean_frames, gfs_frames : int
    thin : int
        Maps have so many times fewer rows and columns.
    layouts : mapping
        By the name of a dataset, layouts by their names.
    """

    scratch: Path
    ocean_frames: int
    gfs_frames: int
    thin: int = 1
    layouts: Mapping[str, Mapping[str, Layout]] = field(default_factory=dict)

    def files(self) -> list[TrialFile]:
        """Return the files, made or not."""
        return [
            TrialFile(
                f"{kind}: {name}",
                self.scratch / f"{kind}-{number}{layout.suffix}",
                self.shape(kind),
                self._variable(kind).dtype,
                layout,
            )
            for kind, layouts in self.layouts.items()
            for number, (name, layout) in enumerate(layouts.items())
        ]

    def shape(self, kind: str) -> tuple[int, ...]:
        """Return the shape of an array."""
        return tuple(self._variable(kind).shape)

    def make(self) -> None:
        """Write the files, and the sum of the bytes that each read must give."""
        totals: dict[str, int] = {}
        for kind, files in self._by_kind():
            values = self._values(kind)
            for file in files:
                write_array(file.path, values, file.layout, overwrite=True)
                if file.layout.codec == "deflate" and file.layout.format == "netcdf4":
                    subchunk.build(file.path)
                for pattern, chosen in file.selections.items():
                    part = np.ascontiguousarray(values[chosen])
                    totals[f"{file.name}/{pattern}"] = int(part.view("u1").sum(dtype=np.int64))
        self._kept.write_text(json.dumps(totals))

    @property
    def totals(self) -> dict[str, int]:
        """The sum of the bytes of each read, by file/pattern; empty where there are no files."""
        return dict(json.loads(self._kept.read_text())) if self._kept.exists() else {}

    @property
    def _kept(self) -> Path:
        return self.scratch / "totals.json"

    def _by_kind(self) -> Iterator[tuple[str, list[TrialFile]]]:
        for kind in self.layouts:
            yield kind, [one for one in self.files() if one.name.startswith(f"{kind}:")]

    def _variable(self, kind: str) -> Any:
        variables = self._source(kind).description.variables
        return next(one for one in variables if one.name == VARIABLES[kind])

    def _values(self, kind: str) -> NDArray[Any]:
        variable, source = self._variable(kind), self._source(kind)
        values = np.empty(variable.shape, variable.dtype)
        for part in range(source.parts):
            where, drawn = source.draw(part)[VARIABLES[kind]]
            values[where] = drawn
        return values

    def _source(self, kind: str) -> Any:
        sources: dict[str, tuple[dict[str, Any], int, int]] = {
            "ocean": ({"steps": self.ocean_frames}, 380, 1287),
            "gfs": ({"steps": self.gfs_frames}, 721, 1440),
            "radar": ({"tile": "tile1"}, 1501, 2001),
        }
        given, rows, columns = sources[kind]
        nlat, nlon = (max(side // self.thin, 40) for side in (rows, columns))
        return data_gen.dataset(kind, nlat=nlat, nlon=nlon, seed=0, **given)
