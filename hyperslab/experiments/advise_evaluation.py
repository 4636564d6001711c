"""Files to try advice on, and how each is read."""

import math
from collections.abc import Mapping
from pathlib import Path

import data_gen

from ..io.layout import Layout

Shares = Mapping[str, float]
_LEVELS = 13  # of the atmosphere
_SERIES, _MAP, _MIXED, _MAPS = (
    {"time_series": 1.0}, {"map": 1.0}, {"time_series": 0.7, "map": 0.3},
    {"time_series": 0.1, "map": 0.9},
)  # fmt: skip
_PLANE: tuple[Shares, ...] = ({"row": 1.0}, {"column": 1.0}, {"row": 0.5, "column": 0.5})
_FIELD: tuple[Shares, ...] = (_SERIES, _MAP, _MIXED, _MAPS)


def make(folder: Path, steps: int = 24, mib: int = 5) -> dict[str, Path]:
    """Write files of every kind: those of Penard et al., radar tiles, a classic file, Zarr stores.

    Parameters
    ----------
    folder : Path
        Where they go.
    steps : int
        Hours of the ocean; the atmosphere has a quarter of them.
    mib : int
        MiB of a variable, at most: the grids have as many times fewer points along each axis than
        the documents' as that needs.

    Returns
    -------
    dict of str to Path
        By name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows, columns = _grid(380, 1287, steps, mib)
    ocean = data_gen.dataset("ocean", steps=steps, nlat=rows, nlon=columns)
    frame = (1, rows, columns)
    deflate = Layout("netcdf4", frame, "deflate", 4)
    sea = {
        "ocean": deflate,
        "ocean, shuffled": Layout("netcdf4", frame, "deflate", 4, shuffle=True),
        "ocean, classic": Layout("netcdf3"),
        "ocean, Zarr 2": Layout("zarr2", frame, "blosc-lz4", 5, shuffle=True),
        "ocean, Zarr 3": Layout("zarr3", frame, "zstd", 3),
    }
    paths = {name: folder / f"ocean-{n}{layout.suffix}" for n, (name, layout) in enumerate(
        sea.items())}  # fmt: skip
    data_gen.write(ocean, {paths[name]: layout for name, layout in sea.items()})
    times = max(steps // 4, 2)
    rows, columns = _grid(721, 1440, times * _LEVELS, mib)
    air = data_gen.dataset("gfs", steps=times, nlat=rows, nlon=columns)
    for name, shuffle in (("atmosphere", False), ("atmosphere, shuffled", True)):
        paths[name] = folder / f"air-{shuffle:d}.nc"
    whole = (1, *air.frame[1:]) if len(air.frame) == 4 else (1, *air.frame)
    data_gen.write(air, {
        paths[name]: Layout("netcdf4", whole, "deflate", 4, shuffle=name.endswith("shuffled"))
        for name in ("atmosphere", "atmosphere, shuffled")
    })  # fmt: skip
    rows, columns = _grid(1501, 2001, 1, mib)
    tile = data_gen.dataset("radar", nlat=rows, nlon=columns)
    paths["radar"] = folder / "radar.nc"
    data_gen.write(tile, {paths["radar"]: Layout("netcdf4", tile.frame, "deflate", 1)})
    return paths


def _grid(rows: int, columns: int, frames: int, mib: int) -> tuple[int, int]:
    """Return a grid of so many times fewer points along each axis that the frames fit."""
    divisor = math.ceil(math.sqrt(rows * columns * frames * 4 / (mib * 2**20)))
    return rows // divisor, columns // divisor


def mixes(names: Mapping[str, Path]) -> dict[str, tuple[Shares, ...]]:
    """Return the mixes of accesses that each of these files is read with."""
    found: dict[str, tuple[Shares, ...]] = {}
    for name in names:
        found[name] = _PLANE if name == "radar" else _FIELD
        if name.startswith("atmosphere"):
            found[name] = (*_FIELD[:3], {"profile": 1.0})
    return found
