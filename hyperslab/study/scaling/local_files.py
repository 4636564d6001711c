"""The file that threads and processes share, in the formats they read it from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

import data_gen

from ... import subchunk
from ...storage.layout import Layout
from ...subchunk.index.index import SUFFIX

VARIABLE = "uo"
_MAP = (1, 380, 1287)
LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {
        "netcdf": Layout("netcdf4", _MAP, codec="deflate", level=4, shuffle=True),
        "zarr-deflate": Layout("zarr2", _MAP, codec="deflate", level=4, shuffle=True),
        "zarr": Layout("zarr2", _MAP, codec="blosc-lz4", level=5, shuffle=True),
    }
)
"""A map is a chunk in all of them."""


@dataclass(frozen=True)
class SharedFiles:
    """Currents of the ocean, a map a chunk; `make` makes them.

    Parameters
    ----------
    data : Path
        Where datasets are kept.
    scratch : Path
        Of this run.
    frames : int
        Maps.

    Examples
    --------
    >>> SharedFiles(Path("d"), Path("s"), 12).path("zarr").as_posix()
    's/zarr.zarr'
    """

    data: Path
    scratch: Path
    frames: int

    def path(self, store: str) -> Path:
        """Return where one of `LAYOUTS` lies."""
        return self.scratch / f"{store}{LAYOUTS[store].suffix}"

    @property
    def index(self) -> Path:
        """Where the index of the netCDF file lies."""
        path = self.path("netcdf")
        return path.with_name(path.name + SUFFIX)

    @property
    def truth(self) -> Path:
        """Where the checksum of each map lies."""
        return self.scratch / "sums.npy"

    def make(self) -> None:
        """Make what is missing of the dataset, the index, and the checksums."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        made = data_gen.ensure_all(
            "ocean", list(LAYOUTS.values()), self.data, seed=0, steps=self.frames
        )
        for store, path in zip(LAYOUTS, made, strict=True):
            self.path(store).unlink(missing_ok=True)
            self.path(store).symlink_to(path.resolve())
        subchunk.build(self.path("netcdf"), index=self.index, variables=[VARIABLE])
        drawn = data_gen.dataset("ocean", seed=0, steps=self.frames)
        maps = (drawn.draw(frame)[VARIABLE][1][0] for frame in range(drawn.parts))
        np.save(self.truth, [checksum(values) for values in maps])


def checksum(values: NDArray[np.float32]) -> float:
    """Return the sum of the bits of values, which any other value changes.

    Examples
    --------
    >>> checksum(np.array([0, 1, 2], "f4")) - checksum(np.array([0, 1, 2.0001], "f4"))
    -419.0
    """
    return float(values.view("u4").sum(dtype="u8"))
