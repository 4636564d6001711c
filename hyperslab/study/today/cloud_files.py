"""What is laid on a server: one array of many chunks, and a file of many variables, each twice."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import data_gen

from ... import subchunk
from ...access import references
from ...storage.layout import ZARR, Layout
from ...storage.variable import Variable
from ...storage.write import create, stored_bytes, write_array
from ...subchunk.index.index import SUFFIX as INDEX_SUFFIX

NAME = "data"
KINDS = ("array", "many")
STORES = {
    "array": ("netcdf", "paged", "large", "zarr2", "zarr3", "shards"),
    "many": ("netcdf", "paged", "zarr2", "zarr3"),
}
"""How either is stored."""
INDEXED = (("array", "netcdf"), ("array", "large"), ("many", "netcdf"))
REFERRED = (("array", "netcdf"), ("many", "netcdf"))
SHARD_MAPS = 4
"""Maps in a shard, and in one of the larger chunks."""
_FORMATS = {"paged": "hdf5", "zarr2": "zarr2", "zarr3": "zarr3", "shards": "zarr3"}
_SIDE, _STEPS = 128, 2  # of each of the many variables: more than an index keeps whole


@dataclass(frozen=True)
class CloudFiles:
    """The array and the many variables in every layout; `make` makes them.

    All of the array is deflated at level 1 without shuffle, so that the layouts differ in nothing
    else.

    Parameters
    ----------
    scratch : Path
        Of this run.
    maps : int
        Of the array.
    divisor : int
        What the sides of the maps are divided by.
    pieces : int
        Chunks along either side of a map.
    variables : int
        Of the file of many.
    page_bytes : int
        Of HDF5's pages.

    Examples
    --------
    >>> files = CloudFiles(Path("s"), 8, 1, 8, 40, 2**22)
    >>> files.layout("array", "large").chunks, files.path("many", "zarr3").as_posix()
    ((4, 96, 322), 's/many-zarr3.zarr')
    """

    scratch: Path
    maps: int
    divisor: int
    pieces: int
    variables: int
    page_bytes: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Maps, rows and columns of the array."""
        return self.maps, 380 // self.divisor, 1287 // self.divisor

    def layout(self, kind: str, store: str) -> Layout:
        """Return how one of `STORES` stores the array or each of the many variables."""
        options: dict[str, Any] = {"format": _FORMATS.get(store, "netcdf4")}
        if store == "paged":
            options["page_bytes"] = self.page_bytes
        if kind == "many":
            return Layout(chunks=(1, _SIDE, _SIDE), **options)
        _, rows, columns = self.shape
        high, wide = -(-rows // self.pieces), -(-columns // self.pieces)
        chunks = (SHARD_MAPS, 2 * high, 2 * wide) if store == "large" else (1, high, wide)
        if store == "shards":
            options["shards"] = (SHARD_MAPS, self.pieces * high, self.pieces * wide)
        fitting = tuple(min(c, n) for c, n in zip(chunks, self.shape, strict=True))
        return Layout(
            chunks=chunks if store == "shards" else fitting, codec="deflate", level=1, **options
        )

    def path(self, kind: str, store: str) -> Path:
        """Return where the array or the many variables lie in a layout."""
        return self.scratch / f"{kind}-{store}{self.layout(kind, store).suffix}"

    @property
    def selections(self) -> dict[str, tuple[slice | int, ...]]:
        """What is read of the array: the series of a point, and a map."""
        maps, rows, columns = self.shape
        every = slice(None)
        return {"series": (every, rows // 3, columns // 2), "map": (maps // 2, every, every)}

    @property
    def truth(self) -> Path:
        """Where the array's values lie."""
        return self.scratch / "array.npy"

    @cached_property
    def described(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Shape and unit of each of the many variables, without their coordinates."""
        return {v.name: (v.shape, str(v.attrs["units"])) for v in self._many}

    @property
    def _many(self) -> list[Variable]:
        return [
            Variable(
                f"field_{number:02}",
                ("time", "lat", "lon"),
                (_STEPS, _SIDE, _SIDE),
                "f4",
                {
                    "units": f"{number + 1} m s-1",
                    "long_name": f"field {number} of many, as models write them",
                    "standard_name": "eastward_sea_water_velocity",
                    "cell_methods": "time: mean",
                },
            )
            for number in range(self.variables)
        ]

    def make(self) -> None:
        """Write everything, with references and indexes beside the netCDF files."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        # Not at the top: a page is drawn without what draws the ocean.
        from data_gen.ocean import FILL

        values = self._values()
        np.save(self.truth, values)
        for store in STORES["array"]:
            write_array(
                self.path("array", store),
                values,
                self.layout("array", store),
                NAME,
                dims=("time", "lat", "lon"),
                fill_value=float(FILL),
                overwrite=True,
            )
        for store in STORES["many"]:
            self._write_many(store)
        for kind, store in INDEXED:
            subchunk.build(self.path(kind, store))
        if find_spec("kerchunk"):
            for kind, store in REFERRED:
                references.write(self.path(kind, store))

    def _values(self) -> NDArray[np.float32]:
        drawn = data_gen.dataset("ocean", steps=self.maps)
        _, rows, columns = self.shape
        maps = [drawn.draw(part)["uo"][1][0, :rows, :columns] for part in range(self.maps)]
        return np.stack(maps).astype("f4")

    def _write_many(self, store: str) -> None:
        path, layout = self.path("many", store), self.layout("many", store)
        one = np.random.default_rng(0).normal(size=(_STEPS, _SIDE, _SIDE)).astype("f4")
        axes = {"time": _STEPS, "lat": _SIDE, "lon": _SIDE}
        coordinates = {
            name: (Variable(name, (name,), (size,), "f8", {"units": "1"}), np.arange(float(size)))
            for name, size in axes.items()
        }
        with create(path, self._many, layout, coordinates=coordinates, overwrite=True) as writer:
            for variable in self._many:
                writer.write(variable.name, ..., one)
        if store == "zarr3":
            _consolidate(path)

    def stored(self) -> Iterator[dict[str, object]]:
        """Yield the size and the number of objects of each store: a row of records each.

        ``requests`` is how many fetch all of it: one an object. ``kerchunk`` and ``index`` are what
        lies beside a netCDF file.
        """
        for kind in KINDS:
            for store in STORES[kind]:
                path, layout = self.path(kind, store), self.layout(kind, store)
                yield {
                    "case": f"{kind}/{store}",
                    "phase": "stored",
                    "file_bytes": stored_bytes(path),
                    "requests": objects(path),
                    **layout.record(),
                }
        for name, suffix, pairs in (
            ("kerchunk", references.SUFFIX, REFERRED),
            ("index", INDEX_SUFFIX, INDEXED),
        ):
            for kind, store in pairs:
                beside = Path(f"{self.path(kind, store)}{suffix}")
                if beside.exists():
                    yield {
                        "case": f"{kind}/{store}/{name}",
                        "phase": "stored",
                        "file_bytes": beside.stat().st_size,
                        "requests": 1,
                    }


def objects(path: Path) -> int:
    """Return how many objects a file or a directory store is on a server.

    Examples
    --------
    >>> objects(Path("one.nc"))
    1
    """
    if path.suffix != Layout(ZARR[0]).suffix:
        return 1
    return sum(len(files) for _, _, files in os.walk(path))


def _consolidate(path: Path) -> None:
    import zarr

    with warnings.catch_warnings():
        # It is said that this is not in Zarr 3's specification.
        warnings.simplefilter("ignore", UserWarning)
        zarr.consolidate_metadata(zarr.storage.LocalStore(path), zarr_format=3)
