"""The files that dask reduces, one after another in time, with their indexes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import data_gen
from data_gen.ocean import FILL

from ... import subchunk
from .local_files import LAYOUTS, VARIABLE

LAYOUT = LAYOUTS["netcdf"]


@dataclass(frozen=True)
class FileSet:
    """Files of currents, a map a chunk; `make` makes them.

    Parameters
    ----------
    data : Path
        Where datasets are kept.
    scratch : Path
        Of this run.
    files : int
    frames : int
        Maps of each.

    Examples
    --------
    >>> [path.name for path in FileSet(Path("d"), Path("s"), 2, 12).paths]
    ['ocean-0.nc', 'ocean-1.nc']
    """

    data: Path
    scratch: Path
    files: int
    frames: int

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where the files lie, in their order in time."""
        return tuple(self.scratch / f"ocean-{number}.nc" for number in range(self.files))

    @property
    def truth(self) -> Path:
        """Where the mean over time lies."""
        return self.scratch / "mean.npy"

    def make(self) -> None:
        """Make what is missing of the dataset, the indexes, and the mean."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        total, number = np.zeros((LAYOUT.chunks or ())[-2:]), 0
        for seed, path in enumerate(self.paths):
            made = data_gen.ensure("ocean", LAYOUT, self.data, seed=seed, steps=self.frames)
            path.unlink(missing_ok=True)
            path.symlink_to(made.resolve())
            subchunk.build(path, variables=[VARIABLE])
            drawn = data_gen.dataset("ocean", seed=seed, steps=self.frames)
            for part in range(drawn.parts):
                values = drawn.draw(part)[VARIABLE][1][0].astype("f8")
                total = total + np.where(values == FILL, np.nan, values)
                number += 1
        np.save(self.truth, total / number)
