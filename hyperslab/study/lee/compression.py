"""Radar tiles written and read with and without compression (Lee et al. 2008, section 4.2)."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...access import reader
from ...io.work import Remove
from ...measure.case import Case, Stopwatch
from ...storage.layout import Layout
from ...storage.variable import Variable
from ...storage.write import create, stored_bytes
from ..penard.datasets import TABLE_5
from .tiles import FLOAT, LEVELS, PRODUCTS, Tiles, packings


@dataclass(frozen=True)
class WriteTile:
    """Write a tile as the document does: each variable with a put, ncsync and fsync of its own.

    Phases create, write and sync (each the sum over the variables) and close.

    Parameters
    ----------
    path, values : Path
        The file, and the array (variables, rows, columns) that goes into it.
    layout : Layout
    """

    path: Path
    values: Path
    layout: Layout

    def __call__(self, watch: Stopwatch) -> None:
        values = np.load(self.values)
        variables = _variables(values)
        with watch("create"):
            writer = create(self.path, variables, self.layout)
        for variable, product in zip(variables, values, strict=True):
            with watch.lap("write"):
                writer.write(variable.name, ..., product)
            with watch.lap("sync"):
                writer.sync()
        with watch("close"):
            writer.close()
        watch.note(file_bytes=stored_bytes(self.path), useful_bytes=values.nbytes)


@dataclass(frozen=True)
class ReadTile:
    """Read each variable of a tile whole: phases open, read and close."""

    path: Path

    def __call__(self, watch: Stopwatch) -> list[NDArray[Any]]:
        import netCDF4

        with watch("open"):
            file = netCDF4.Dataset(self.path)
            file.set_auto_maskandscale(False)
            variables = list(file.variables.values())
        watch.chill()
        with watch("read"):
            values = [variable[...] for variable in variables]
        size = sum(array.nbytes for array in values)
        watch.note(useful_bytes=size, file_bytes=stored_bytes(self.path))
        with watch("close"):
            file.close()
        return values


@dataclass(frozen=True)
class Same:
    """Check that arrays are those kept, within rounding where there was any.

    Parameters
    ----------
    values : Path
        What was written.
    bits : int
        Bits of the mantissa that were kept; 0 where all were.
    """

    values: Path
    bits: int = 0

    def __call__(self, read: Sequence[NDArray[Any]]) -> bool:
        truth = np.load(self.values, mmap_mode="r")
        return len(read) == len(truth) and all(
            self._close(array, wanted) for array, wanted in zip(read, truth, strict=True)
        )

    def _close(self, array: NDArray[Any], wanted: NDArray[Any]) -> bool:
        if not self.bits:
            return bool(np.array_equal(array, wanted))
        return bool(np.all(np.abs(array - wanted) <= np.abs(wanted) * 2.0 ** -(self.bits + 1)))


@dataclass(frozen=True)
class HoldsTile:
    """Check that a file holds the values, read back by a library.

    Parameters
    ----------
    path : Path
    library : str
        Name of the reader.
    same : Same
    """

    path: Path
    library: str
    same: Same

    def __call__(self, _: object) -> bool:
        chosen = reader(self.library)
        found = []
        for name in _names(len(np.load(self.same.values, mmap_mode="r"))):
            with chosen.open(self.path, name) as opened:
                found.append(opened.read(...))
        return self.same(found)


@dataclass(frozen=True)
class _Cell:
    """One layout of one group, with its values."""

    group: str
    packing: str
    layout: Layout
    values: Path
    columns: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.group}/{self.packing}"

    @property
    def file(self) -> str:
        return f"{self.group}-{self.packing}.nc"

    @property
    def same(self) -> Same:
        return Same(self.values, self.layout.quantize[1] if self.layout.quantize else 0)

    @property
    def aa(self) -> bool:
        return self.name == "tile1/none"


def _cells(tiles: Tiles) -> Iterator[_Cell]:
    for group, layouts in tiles.groups().items():
        for packing, layout in layouts.items():
            columns = {"library": "netCDF4", **layout.record()}
            yield _Cell(group, packing, layout, tiles.path(group, packing), columns)


def make_files(tiles: Tiles, folder: Path, *others: Path) -> None:
    """Write the file of every case once, for the reads.

    Parameters
    ----------
    tiles : Tiles
    folder, *others : Path
        Made when missing; files there are written again, into the others as copies.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for cell in _cells(tiles):
        values = np.load(cell.values)
        variables = _variables(values)
        with create(folder / cell.file, variables, cell.layout, overwrite=True) as writer:
            for variable, product in zip(variables, values, strict=True):
                writer.write(variable.name, ..., product)
            writer.sync()
        for other in others:
            other.mkdir(parents=True, exist_ok=True)
            with (other / cell.file).open("wb") as file:
                file.write((folder / cell.file).read_bytes())
                file.flush()
                os.fsync(file.fileno())


def write_cases(tiles: Tiles, scratch: Path) -> list[Case]:
    """Return one write of each tile in each layout."""
    return [
        Case(
            cell.name,
            WriteTile(scratch / cell.file, cell.values, cell.layout),
            # h5py brings no plugins for zstd and Blosc.
            check=HoldsTile(
                scratch / cell.file,
                "h5py" if cell.layout.codec in (None, "deflate") else "netcdf4",
                cell.same,
            ),
            columns=cell.columns,
            prepare=Remove(scratch / cell.file),
            cleanup=Remove(scratch / cell.file),
            aa=cell.aa,
        )
        for cell in _cells(tiles)
    ]


def read_cases(tiles: Tiles, folders: Mapping[str, Path]) -> list[Case]:
    """Return one read of each file, for each cache state that has a folder.

    Reflectivity as floating-point numbers is read warm only: what it costs is processor time.
    """
    return [
        Case(
            cell.name,
            ReadTile(folder / cell.file),
            check=cell.same,
            columns=cell.columns,
            files=(folder / cell.file,),
            cache_state=state,
            aa=cell.aa,
        )
        for state, folder in folders.items()
        for cell in _cells(tiles)
        if state == "warm" or cell.group != FLOAT
    ]


def table_5(tiles: Tiles) -> Iterator[dict[str, object]]:
    """Yield the size of each whole tile, all twelve products, at deflate 1.

    It is the file that the verdict on Table 5 is of, with its coordinates and attributes.

    Parameters
    ----------
    tiles : Tiles
        Whose files were made.

    Source
    ------
    Lee et al. (2008), Table 5.
    """
    for tile in TABLE_5:
        rows, columns = tiles.shape
        yield {
            "case": f"{tile}/deflate-1",
            "phase": "size",
            "library": "netCDF4",
            "file_bytes": stored_bytes(tiles.whole(tile)),
            "useful_bytes": len(PRODUCTS) * rows * columns * 2,
            **packings(tile, "smoke", tiles.shape)["deflate-1"].record(),
        }


def sizes(tiles: Tiles, scratch: Path) -> Iterator[dict[str, object]]:
    """Yield the size of the first tile's products at each level of deflate; nothing is timed.

    Parameters
    ----------
    tiles : Tiles
        Whose values were made.
    scratch : Path
        Where a file is written and removed.
    """
    values = np.load(tiles.path("tile1", "none"))
    variables = _variables(values)
    path = scratch / "sized.nc"
    for level in LEVELS:
        layout = Layout("netcdf4", chunks=tiles.shape, codec="deflate", level=level)
        with create(path, variables, layout, overwrite=True) as writer:
            for variable, product in zip(variables, values, strict=True):
                writer.write(variable.name, ..., product)
        yield {
            "case": f"tile1/deflate-{level}",
            "phase": "size",
            "library": "netCDF4",
            "file_bytes": stored_bytes(path),
            "useful_bytes": values.nbytes,
            **layout.record(),
        }
    path.unlink()


def _names(count: int) -> list[str]:
    return [f"product{i}" for i in range(count)]


def _variables(values: NDArray[Any]) -> list[Variable]:
    kind = values.dtype.str[1:]
    return [Variable(name, ("lat", "lon"), values.shape[1:], kind) for name in _names(len(values))]
