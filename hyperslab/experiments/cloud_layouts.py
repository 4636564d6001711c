"""What lies on a server in several layouts, and the opening of many variables there by xarray."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import subchunk
from ..io import references
from ..io.by_h5py import PAGE_BUFFER_BYTES
from ..io.by_zarr import store_at
from ..io.creation import create, stored_bytes
from ..io.experiment import File, columns, selected
from ..io.far import Place
from ..io.layout import Layout
from ..io.selection import Selection
from ..io.urls import Remote
from ..io.variable import Variable
from ..measure.case import Stopwatch
from ..subchunk.index.index import SUFFIX as INDEX_SUFFIX

BESIDE = {"references": references.SUFFIX, "index": INDEX_SUFFIX}  # lie beside a file
# What opens, and the reader whose libraries it needs.
_ENGINES = {
    "h5netcdf": "xarray-h5netcdf", "kerchunk": "kerchunk", "subchunk": "subchunk",
    "zarr": "xarray-zarr",
}  # fmt: skip


@dataclass(frozen=True)
class Variables:
    """Many variables in one file, such as models write; each holds the same noise."""

    count: int
    shape: tuple[int, int, int] = (2, 128, 128)
    name: str = "many"
    variable: str = "field_00"
    dtype: str = "f4"

    @property
    def described(self) -> dict[str, tuple[tuple[int, ...], str]]:
        return {field.name: (field.shape, str(field.attrs["units"])) for field in self._variables}

    @property
    def _variables(self) -> list[Variable]:
        axes, kind = ("time", "lat", "lon"), "eastward_sea_water_velocity"
        return [
            Variable(
                f"field_{n:02}", axes, self.shape, self.dtype,
                {"units": f"{n + 1} m s-1", "long_name": f"field {n} of many, as models write them",
                 "standard_name": kind, "cell_methods": "time: mean"},
            )
            for n in range(self.count)
        ]  # fmt: skip

    def part(self, selection: Selection, folder: Path) -> Callable[[], NDArray[Any]]:
        return partial(selected, self.noise, selection)

    def noise(self) -> NDArray[np.float32]:
        return np.random.default_rng(0).normal(size=self.shape).astype(self.dtype)

    def write(self, files: Mapping[Path, Layout], folder: Path) -> None:
        import zarr

        coordinates = {
            name: (Variable(name, (name,), (size,), "f8", {"units": "1"}), np.arange(float(size)))
            for name, size in zip(("time", "lat", "lon"), self.shape, strict=True)
        }
        fields, values = self._variables, self.noise()
        for path, layout in files.items():
            with create(path, fields, layout, coordinates=coordinates, overwrite=True) as writer:
                for field in fields:
                    writer.write(field.name, ..., values)
            if layout.format == "zarr3":  # that of Zarr 2 is written by our writer
                with warnings.catch_warnings():
                    # It is said that this is not in Zarr 3's specification.
                    warnings.simplefilter("ignore", UserWarning)
                    zarr.consolidate_metadata(zarr.storage.LocalStore(path), zarr_format=3)


def put_beside(indexed: Iterable[File], referred: Iterable[File]) -> None:
    for file in indexed:
        subchunk.build(file.path)
    for file in referred:
        if find_spec("kerchunk"):
            references.write(file.path)


def stored(data: Mapping[str, Mapping[str, File]]) -> Iterator[dict[str, object]]:
    """Yield a row for each file and what lies beside it; ``requests`` is its number of objects."""
    for name, files in data.items():
        for layout, file in files.items():
            labels = {"data": name, "layout": layout, "phase": "stored"}
            objects = sum(len(names) for *_, names in os.walk(file.path))  # of a store
            yield {
                **labels,
                "part": "values",
                "file_bytes": stored_bytes(file.path),
                "requests": objects or 1,
                **file.layout.record(),
            }
            for part, suffix in BESIDE.items():
                path = Path(f"{file.path}{suffix}")
                if path.exists():
                    yield {**labels, "part": part, "file_bytes": path.stat().st_size, "requests": 1}


@dataclass(frozen=True)
class Opening:
    """How xarray opens a file or store; the cache is "none", "pages" of HDF5, or fsspec's own."""

    engine: str
    cache: str = ""
    consolidated: bool = False
    zarr_format: int = 2


@dataclass(frozen=True)
class OpenOver:
    """Open a file of `Variables` over a link, and compare their shapes and units: phase open."""

    place: Place
    file: File
    opening: Opening

    def parts(self, cache_state: str) -> dict[str, Any]:
        assert isinstance(self.file.array, Variables)
        return {
            "run": self,
            "check": partial(eq, self.file.array.described),
            "columns": {**columns(self.file.layout, self.library), **self.place.columns},
            "prepare": self.place.forget,
        }

    @property
    def library(self) -> str:
        return _ENGINES[self.opening.engine]

    @property
    def needs(self) -> tuple[str, ...]:
        beside = ("hyperslab.io.by_xarray", "hyperslab.subchunk.engine", __name__)
        return (*self.place.needs, *beside)

    def __call__(self, watch: Stopwatch) -> Any:
        remote = self.place.remote(self.file.path.name)
        with ExitStack() as held:
            with watch("open"):
                dataset = _opened(remote, self.opening, held)
                described = {
                    str(name): (tuple(array.shape), str(array.attrs["units"]))
                    for name, array in dataset.data_vars.items()
                }
            watch.note(**self.place.counted())
        return described


def _opened(remote: Remote, opening: Opening, held: ExitStack) -> Any:
    """Open a dataset without decoding, as far as that needs no values."""
    import xarray as xr

    options: dict[str, Any] = {"engine": opening.engine}
    target: Any = remote.url
    if opening.engine == "h5netcdf":
        cache = {"cache_type": "none"} if opening.cache else None
        target = held.enter_context(remote.stream(cache))
        options["phony_dims"] = "access"
        if opening.cache == "pages":
            options["driver_kwds"] = {"page_buf_size": PAGE_BUFFER_BYTES}
    elif opening.engine == "subchunk":
        options["storage_options"] = dict(remote.options)
    else:
        refs = references.references_of(remote) if opening.engine == "kerchunk" else None
        target = references.store_of(refs, remote, held) if refs else store_at(remote, held)
        options |= {"engine": "zarr", "zarr_format": opening.zarr_format}
        options["consolidated"] = opening.consolidated
    with warnings.catch_warnings():
        # Of Zarr without consolidated metadata, and of variables that no other library reads.
        warnings.simplefilter("ignore")
        dataset = xr.open_dataset(target, decode_cf=False, chunks=None, cache=False, **options)
    held.callback(dataset.close)
    return dataset
