"""What the page on the sub-chunk index reads: files, indexes of them, and true values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

import data_gen

from ... import subchunk
from ...storage.layout import Layout
from ...storage.region import Selection
from ...storage.selection import frame, series
from . import subchunk_document as document
from .datasets import DRAWN, PROBE, TABLE_1
from .survey import Plan, Survey, plan

VARIABLE = {"cmems": "uo", "gfs": "air_temperature"}
SHUFFLES = ("off", "on")
KIB, MIB = 2**10, 2**20
TRIED = (64, 256, 1024, 2048)  # KiB between points
PIXELS = 4
"""Points whose series one sample reads: the document's, and others drawn by a seed."""


@dataclass(frozen=True)
class Index:
    """One way to index a file.

    Parameters
    ----------
    name : str
        As the records have it.
    spacing : int, optional
        Bytes of decompressed data between points; the budget decides if not given.
    layout : str
        "ours", or "document" for the layout and the points of the document.
    serial : bool
        Whether the document's layout is also read as the document describes, one request after
        another, and not as ours.
    """

    name: str
    spacing: int | None = None
    layout: str = "ours"
    serial: bool = True


DEFAULT = Index("ours")
DOCUMENT = Index("document", document.SPACING, "document")
PLANNED = Index("planned", document.SPACING, "document", serial=False)
"""The document's index, read by our reader."""


@dataclass(frozen=True)
class Files:
    """Files of one run; `make` makes them.

    Parameters
    ----------
    data, scratch : Path
        Where datasets are kept, and where the rest lies for the time of the run.
    profile : str
    ocean_frames, gfs_frames : int
        Frames of each file.
    seed : int
        Of the synthetic fields, and of the points that are read.

    Examples
    --------
    >>> Files(Path("d"), Path("s"), "quick", 16, 3).names
    ['gfs-off', 'gfs-on', 'cmems-off', 'cmems-on']
    """

    data: Path
    scratch: Path
    profile: str
    ocean_frames: int
    gfs_frames: int
    seed: int = 0

    @property
    def names(self) -> list[str]:
        """The files: a dataset, with shuffle or without."""
        return [f"{name}-{shuffle}" for name in reversed(TABLE_1) for shuffle in SHUFFLES]

    @property
    def plan(self) -> Plan:
        """What is drawn of each dataset."""
        return plan(self.profile, self.ocean_frames, self.gfs_frames, seed=self.seed)

    def path(self, name: str) -> Path:
        """Return where a file lies."""
        return self.scratch / f"{name}.nc"

    def index_path(self, name: str, index: Index) -> Path:
        """Return where an index of a file lies."""
        kept = DOCUMENT if index == PLANNED else index
        return self.scratch / f"{name}.{kept.name}.index"

    def layout(self, name: str) -> Layout:
        """Return how a file is stored: as in the document's Table 1."""
        kind, _, shuffle = name.partition("-")
        return Survey(self.plan, self.scratch).layouts(kind)[shuffle]

    @cached_property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of the variable that is read, by file."""
        found = {}
        for name in self.names:
            kind = name.partition("-")[0]
            variables = self.plan.source(kind).description.variables
            found[name] = next(v.shape for v in variables if v.name == VARIABLE[kind])
        return found

    def variable(self, name: str) -> str:
        """Return the variable of a file that is read."""
        return VARIABLE[name.partition("-")[0]]

    def indexes(self, name: str) -> list[Index]:
        """Return the indexes of a file: the default first, the document's last."""
        chunk = 4 * int(np.prod(self.shapes[name][1:]))
        tried = {"smoke": (64, 512), "quick": (64, 256, 2048)}.get(self.profile, TRIED)
        ours = [Index(f"ours-{n}KiB", n * KIB) for n in tried if n * KIB <= chunk // 2]
        wide = name == "gfs-off" and chunk > 16 * MIB
        wider = [Index("document-8MiB", 8 * MIB, "document")] if wide else []
        return [DEFAULT, *ours, *wider, PLANNED, DOCUMENT]

    def pixels(self, name: str) -> list[Selection]:
        """Return the series that are read: the document's point, then others."""
        shape = self.shapes[name]
        whole = {3: (380, 1287), 4: (721, 1440)}[len(shape)]
        probe = tuple(i * n // all_ for i, n, all_ in zip(PROBE, shape[-2:], whole, strict=True))
        drawn = np.random.default_rng([self.seed, len(shape)])
        others: list[Selection] = [
            (slice(0, shape[0], 1), *(int(drawn.integers(n)) for n in shape[1:]))
            for _ in range(PIXELS - 1)
        ]
        return [series(shape, probe), *others]

    def frame(self, name: str) -> Selection:
        """Return the first map at the first level."""
        return frame(self.shapes[name], (0,) * (len(self.shapes[name]) - 2))

    def truth_path(self, name: str, read: str) -> Path:
        """Return where the true values of the reads "series" or "frame" are kept."""
        return self.scratch / f"{name}.{read}.npy"

    def chunk(self, name: str) -> NDArray[Any]:
        """Return the first chunk of a file, decompressed."""
        with h5py.File(self.path(name)) as file:
            values: NDArray[Any] = file[self.variable(name)][0]
        return values

    def make(self) -> None:
        """Make the files, their indexes, and the true values, which h5py reads."""
        for kind in TABLE_1:
            names = [name for name in self.names if name.startswith(kind)]
            parameters: dict[str, Any] = self.plan.parameters(kind)
            made = data_gen.ensure_all(
                DRAWN[kind],
                [self.layout(name) for name in names],
                self.data,
                **parameters,
            )
            for name, path in zip(names, made, strict=True):
                self.path(name).unlink(missing_ok=True)
                self.path(name).symlink_to(path.resolve())
                self._index(name)
                self._keep_truth(name)

    def _index(self, name: str) -> None:
        for index in set(self.indexes(name)) - {PLANNED}:
            build(self.path(name), self.index_path(name, index), self.variable(name), index)

    def _keep_truth(self, name: str) -> None:
        with h5py.File(self.path(name)) as file:
            values = file[self.variable(name)]
            frames = [values[number] for number in range(values.shape[0])]  # each chunk once
        for read, chosen in (("series", self.pixels(name)), ("frame", [self.frame(name)])):
            np.save(self.truth_path(name, read), np.stack(list(_picked(frames, chosen))))


def spelled(name: str) -> str:
    """Return a file as the claims name it.

    Examples
    --------
    >>> spelled("gfs-off"), spelled("gfs-on")
    ('gfs', 'gfs-on')
    """
    return name.removesuffix("-off")


def build(path: Path, target: Path, variable: str, index: Index, threads: int = 2) -> None:
    """Index one variable of a file."""
    target.unlink(missing_ok=True)
    if index.layout == "document":
        document.build(path, target, variable, index.spacing or document.SPACING)
    else:
        subchunk.build(path, target, variables=[variable], spacing=index.spacing, threads=threads)


def _picked(frames: list[NDArray[Any]], chosen: list[Selection]) -> Iterator[NDArray[Any]]:
    for selection in chosen:
        assert isinstance(selection, tuple)
        first, *rest = selection
        if isinstance(first, slice):
            yield np.stack([one[tuple(rest)] for one in frames[first]])
        else:
            assert isinstance(first, int)
            yield frames[first][tuple(rest)]
