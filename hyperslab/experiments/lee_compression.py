"""Radar tiles of several variables, written and read with and without compression."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..io import reader
from ..io.creation import create, stored_bytes
from ..io.experiment import columns
from ..io.layout import Layout
from ..io.variable import Variable
from ..measure.case import Stopwatch
from ..measure.cold import remove

TILES = ("tile 1", "tile 2", "tile 4")
DBZ = "tile 1 in dBZ"  # the reflectivity of the first tile, as floating-point numbers
_OF_H5PY = (None, "deflate")  # what it reads without plugins


@dataclass(frozen=True)
class Tile:
    path: Path
    values: Path  # the array (variables, rows, columns) that goes into it
    layout: Layout

    def same(self, read: Sequence[NDArray[Any]]) -> bool:
        """Whether arrays are those kept, within rounding where so many bits were kept."""
        truth = np.load(self.values, mmap_mode="r")
        return len(read) == len(truth) and all(map(self._close, read, truth))

    def _close(self, array: NDArray[Any], truth: NDArray[Any]) -> bool:
        if not self.layout.quantize:
            return bool(np.array_equal(array, truth))
        bits = self.layout.quantize[1]
        return bool(np.all(np.abs(array - truth) <= np.abs(truth) * 2.0 ** -(bits + 1)))


def make(
    tiles: Iterable[Tile],
    values: Path,
    draw: Callable[[str], Mapping[str, tuple[Any, NDArray[Any]]]],
    scales: Mapping[str, float],
    count: int,
) -> None:
    """Make values and the files that are read, of tiles that are drawn as `data_gen` does."""
    names = [list(scales)[n * len(scales) // count] for n in range(count)]  # evenly over the list
    values.mkdir(parents=True, exist_ok=True)
    for data in TILES:
        drawn = draw(data.replace(" ", ""))
        products = np.stack([drawn[name][1] for name in names])
        np.save(_values(values, data), products)
        if data == TILES[0]:
            np.save(values / "packed.npy", products[:1])
            dbz = (products[:1] / np.float32(scales[names[0]])).astype("f4")
            np.save(_values(values, DBZ), dbz)
    for tile in tiles:
        _write(tile)


def files(values: Path, layouts: Mapping[str, Mapping[str, Layout]]) -> dict[tuple[str, str], Tile]:
    tiles = {}
    for data, ways in layouts.items():
        for way, layout in ways.items():
            path = values.parent / f"{data}-{way}.nc".replace(" ", "-").replace(",", "")
            packed = way.startswith("as integers")
            array = values / "packed.npy" if packed else _values(values, data)
            tiles[data, way] = Tile(path, array, layout)
    return tiles


def _values(folder: Path, data: str) -> Path:
    return folder / f"{data}.npy"


def _write(tile: Tile) -> None:
    values = np.load(tile.values)
    with create(tile.path, _variables(values), tile.layout, overwrite=True) as writer:
        for name, product in zip(_names(len(values)), values, strict=True):
            writer.write(name, ..., product)
        writer.sync()
    with _warm(tile.path).open("wb") as file:
        file.write(tile.path.read_bytes())
        file.flush()
        os.fsync(file.fileno())


def _warm(path: Path) -> Path:
    return path.with_name(f"warm-{path.name}")


@dataclass(frozen=True)
class WriteTile:
    """Write a new file: phases create, write and sync (each the sum over the variables), close."""

    tile: Tile

    needs: ClassVar = ("netCDF4", __name__)

    def parts(self, cache_state: str) -> dict[str, Any]:
        layout, removal = self.tile.layout, partial(remove, self.path)
        library = "h5py" if layout.codec in _OF_H5PY else "netcdf4"
        return {
            "run": self,
            "check": Holds(self.path, library, self.tile),
            "columns": columns(layout, "netcdf4"),
            "prepare": removal,
            "cleanup": removal,
        }

    @property
    def path(self) -> Path:
        return self.tile.path.with_name(f"new-{self.tile.path.name}")

    def __call__(self, watch: Stopwatch) -> None:
        path, values = self.path, np.load(self.tile.values)
        with watch("create"):
            writer = create(path, _variables(values), self.tile.layout)
        for name, product in zip(_names(len(values)), values, strict=True):
            with watch.lap("write"):
                writer.write(name, ..., product)
            with watch.lap("sync"):
                writer.sync()
        with watch("close"):
            writer.close()
        watch.note(file_bytes=stored_bytes(path), useful_bytes=values.nbytes)


@dataclass(frozen=True)
class ReadTile:
    """Read each variable of a tile whole: phases open, read (all variables) and close."""

    tile: Tile

    needs: ClassVar = ("netCDF4", __name__)

    def parts(self, cache_state: str) -> dict[str, Any]:
        tile = self.tile
        if cache_state == "warm":
            tile = replace(tile, path=_warm(tile.path))
        return {
            "run": ReadTile(tile),
            "check": tile.same,
            "columns": columns(tile.layout, "netcdf4"),
            "files": (tile.path,),
        }

    def __call__(self, watch: Stopwatch) -> list[NDArray[Any]]:
        import netCDF4

        path = self.tile.path
        with watch("open"):
            file = netCDF4.Dataset(path)
            file.set_auto_maskandscale(False)
            variables = list(file.variables.values())
        watch.chill()
        with watch("read"):
            values = [variable[...] for variable in variables]
        size = sum(array.nbytes for array in values)
        watch.note(useful_bytes=size, file_bytes=stored_bytes(path))
        with watch("close"):
            file.close()
        return values


@dataclass(frozen=True)
class Holds:
    path: Path
    library: str
    tile: Tile

    def __call__(self, _: object) -> bool:
        products = []
        for name in _names(len(np.load(self.tile.values, mmap_mode="r"))):
            with reader(self.library).open(self.path, name) as opened:
                products.append(opened.read(...))
        return self.tile.same(products)


def _names(count: int) -> list[str]:
    return [f"product{n}" for n in range(count)]


def _variables(values: NDArray[Any]) -> list[Variable]:
    kind = values.dtype.str[1:]
    return [Variable(name, ("lat", "lon"), values.shape[1:], kind) for name in _names(len(values))]
