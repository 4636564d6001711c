"""Whole arrays with one call from C: netCDF, HDF5, and plain files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..io.calls import NEEDS, Dd, Sample, Whole
from ..io.creation import stored_bytes
from ..io.experiment import Case
from ..io.layout import Layout
from ..io.work import NAME
from ..kernels import Hdf5File, NetcdfFile, PlainFile, kernel
from ..measure.case import Stopwatch
from ..measure.memory import WRITTEN

_MODULES = (*NEEDS, __name__)
TOYS = {"small": {1: (1024,), 2: (32, 32)}, "large": {1: (65536,), 2: (256, 256)}}
"""Shapes, in place of those of Table 1 of Lee et al. (2008), by array and dimensions."""
_WHOLE = 4 * 3162**2  # bytes of the large array of two dimensions
_COUNTS = ("rchar", "syscr", "wchar", "syscw", "minflt")


@dataclass(frozen=True)
class ArrayFile:
    labels: Mapping[str, str]  # layout, array ("small" or "large") and dimensions
    array: Whole
    layout: Layout
    cache_bytes: int | None = None  # of the chunk cache; None keeps what netCDF-C gives

    def path(self, folder: Path) -> Path:
        shape = "x".join(map(str, self.array.shape))
        stored = "chunk" if self.layout.chunks else "contiguous"
        return folder / f"{self.layout.format}-{stored}-{shape}-{self.array.dtype}.nc"

    @property
    def columns(self) -> dict[str, object]:
        return {"library": "netcdf-c", "size": self.labels["array"], **self.layout.record()}


def put(file: ArrayFile, folder: Path, *, to_disk: bool = False) -> Case:
    path, checker = file.path(folder), "netcdf4" if file.layout.format == "netcdf3" else "h5py"
    write, check = WriteNetcdf(path, file, to_disk), partial(file.array.stored, path, checker)
    memory_bytes = WRITTEN * file.array.nbytes
    return Case(file.labels, Sample(write, check, file.columns, (), path, memory_bytes))


def get(file: ArrayFile, folder: Path) -> Case:
    path = file.path(folder)
    return Case(file.labels, Sample(ReadNetcdf(path, file), file.array.same, file.columns, (path,)))


def put_hdf5(file: ArrayFile, folder: Path, alloc: str) -> Case:
    path = file.path(folder).with_suffix(".h5")
    write = WriteHdf5(path, file.array, alloc == "early")
    check = partial(file.array.stored, path, "h5py")
    columns = file.columns | {"library": "hdf5 (netCDF4)", "format": "hdf5"}
    memory_bytes = WRITTEN * file.array.nbytes
    return Case(file.labels, Sample(write, check, columns, (), path, memory_bytes))


def put_plain(array: Whole, folder: Path, scratch: Path) -> list[Case]:
    source, plain, copy = _plain(folder), scratch / "plain.bin", scratch / "dd.bin"
    write, check = WritePlain(plain, array), partial(array.stored, plain, "")
    copying, memory_bytes = Dd(source, copy), WRITTEN * array.nbytes
    return _of_plain(
        Sample(write, check, _columns("plain"), (), plain, memory_bytes),
        Sample(copying, copying.right, _columns("dd"), (), copy, memory_bytes),
    )


def get_plain(array: Whole, folder: Path) -> list[Case]:
    dd = Dd(_plain(folder))
    return _of_plain(
        Sample(ReadPlain(dd.source, array), array.same, _columns("plain"), files=(dd.source,)),
        Sample(dd, dd.right, _columns("dd"), files=(dd.source,)),
    )


def _of_plain(plain: Sample, dd: Sample) -> list[Case]:
    works = {"plain file": plain, "dd": dd}
    labels = {"array": "large", "dimensions": "2"}
    return [Case({"layout": name, **labels}, work) for name, work in works.items()]


def make(folder: Path, files: Iterable[ArrayFile], plain: Whole) -> None:
    """Write files once, to the disk, so that nothing of them is left to write."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in {file.path(folder): file for file in files}.values():
        WriteNetcdf(file.path(folder), replace(file, cache_bytes=None), to_disk=True)(Stopwatch())
    WritePlain(_plain(folder), plain)(Stopwatch())


def scaled(cache_bytes: int, array: Whole) -> int:
    """Scale a cache down with a toy, so that the smaller still holds no chunk."""
    return max(cache_bytes * min(array.nbytes, _WHOLE) // _WHOLE, 1)


def _plain(folder: Path) -> Path:
    return folder / "plain.bin"


def _columns(name: str) -> dict[str, object]:
    return {"library": name, "size": "large", "format": "binary"}


def _rehearse(path: Path, layout: Layout) -> None:
    """Write and read two numbers: a fresh process meets each page of the code with a fault."""
    trial, out = path.with_name(f"{path.name}.rehearsal"), np.arange(2, dtype="i4")
    chunks = (2,) if layout.chunks else None
    with NetcdfFile.create(trial, layout.format, NAME, ("u",), (2,), "i4", chunks=chunks) as file:
        file.access("write", [[0]], [2], None, out)
        file.sync(to_disk=False)
    with NetcdfFile.open(trial, NAME) as file:
        file.access("read", [[0]], [2], None, out)
    trial.unlink()


@dataclass(frozen=True)
class WriteNetcdf:
    """Write an array with one nc_put_vara: phases create, write, sync (where asked) and close."""

    path: Path
    file: ArrayFile
    to_disk: bool = False  # whether nc_sync and fsync follow the put
    fill: bool = True  # whether storage is filled first, as netCDF does by default

    needs: ClassVar = _MODULES

    def __call__(self, watch: Stopwatch) -> None:
        array, layout, cache_bytes = self.file.array, self.file.layout, self.file.cache_bytes
        _rehearse(self.path, layout)
        values, shape = array.values(), array.shape
        with watch("create"):
            file = NetcdfFile.create(
                self.path, layout.format, NAME, tuple("uvwxyz"[: len(shape)]), shape, array.dtype,
                chunks=layout.chunks, cache_bytes=cache_bytes, fill=self.fill,
            )  # fmt: skip
        with watch("write", useful_bytes=values.nbytes):
            seconds = file.access("write", [[0] * values.ndim], shape, None, values)
        watch.note(wall_s=seconds)
        if layout.chunks:
            watch.note(cache_bytes=file.chunk_cache_bytes())
        if self.to_disk:
            with watch("sync"):
                seconds = file.sync()
            watch.note(wall_s=seconds)
        with watch("close"):
            seconds = file.close()
        watch.note(wall_s=seconds, file_bytes=stored_bytes(self.path))


@dataclass(frozen=True)
class ReadNetcdf:
    """Read an array with one nc_get_vara into memory that was touched: open, read and close."""

    path: Path
    file: ArrayFile

    needs: ClassVar = _MODULES

    def __call__(self, watch: Stopwatch) -> NDArray[np.generic]:
        array, cache_bytes = self.file.array, self.file.cache_bytes
        _rehearse(self.path, self.file.layout)
        out: NDArray[np.generic] = np.ones(array.shape, array.dtype)
        with watch("open"):
            file = NetcdfFile.open(self.path, NAME, cache_bytes=cache_bytes)
        watch.chill()
        with watch("read", useful_bytes=out.nbytes):
            seconds = file.access("read", [[0] * out.ndim], out.shape, None, out)
        watch.note(wall_s=seconds, file_bytes=stored_bytes(self.path))
        if self.file.layout.chunks:
            watch.note(cache_bytes=file.chunk_cache_bytes())
        with watch("close"):
            seconds = file.close()
        watch.note(wall_s=seconds)
        return out


@dataclass(frozen=True)
class WriteHdf5:
    """Write an array in one chunk with one H5Dwrite: phases create, write and close."""

    path: Path
    array: Whole
    early: bool

    needs: ClassVar = _MODULES

    def __call__(self, watch: Stopwatch) -> None:
        trial = self.path.with_name(f"{self.path.name}.rehearsal")
        with Hdf5File.create(trial, NAME, (2,), "i4", chunks=(2,), early=self.early) as file:
            file.access("write", [[0]], [2], None, np.arange(2, dtype="i4"))
        trial.unlink()
        array = self.array
        values, shape, cache_bytes = array.values(), array.shape, scaled(2**20, array)
        with watch("create"):
            file = Hdf5File.create(
                self.path, NAME, shape, array.dtype, chunks=shape, early=self.early,
                cache_bytes=cache_bytes,
            )  # fmt: skip
        with watch("write", useful_bytes=values.nbytes):
            seconds = file.access("write", [[0] * values.ndim], shape, None, values)
        watch.note(wall_s=seconds, cache_bytes=file.chunk_cache_bytes())
        with watch("close"):
            seconds = file.close()
        watch.note(wall_s=seconds, file_bytes=stored_bytes(self.path))


def _rehearse_plain(path: Path) -> None:
    kernel()
    trial, out = path.with_name(f"{path.name}.rehearsal"), np.arange(2, dtype="i4")
    with PlainFile(trial, write=True) as file:
        file.access("write", [0], [out.nbytes], out)
        file.access("read", [0], [out.nbytes], out)
    trial.unlink()


@dataclass(frozen=True)
class WritePlain:
    """Write an array to a plain file with one pwrite and fsync: phases write and sync."""

    path: Path
    array: Whole

    needs: ClassVar = _MODULES

    def __call__(self, watch: Stopwatch) -> None:
        _rehearse_plain(self.path)
        values = self.array.values()
        file = PlainFile(self.path, write=True)
        with watch("write", useful_bytes=values.nbytes):
            seconds = file.access("write", [0], [values.nbytes], values)
        watch.note(wall_s=seconds, file_bytes=stored_bytes(self.path))
        with watch("sync"):
            seconds = file.sync()
        watch.note(wall_s=seconds)
        file.close()


@dataclass(frozen=True)
class ReadPlain:
    """Read a plain file with one pread, into memory that was touched before: phase read."""

    path: Path
    array: Whole

    needs: ClassVar = _MODULES

    def __call__(self, watch: Stopwatch) -> NDArray[np.generic]:
        _rehearse_plain(self.path)
        out: NDArray[np.generic] = np.ones(self.array.shape, self.array.dtype)
        with PlainFile(self.path) as file:
            with watch("read", useful_bytes=out.nbytes):
                seconds = file.access("read", [0], [out.nbytes], out)
            watch.note(wall_s=seconds, file_bytes=out.nbytes)
        return out


def fills(files: Sequence[ArrayFile], scratch: Path) -> Iterator[dict[str, object]]:
    """Yield what each write asks of the system, with filling and without, phase by phase."""
    for file in files:
        for fill in (True, False):
            path = scratch / "fill.nc"
            path.unlink(missing_ok=True)
            watch = Stopwatch()
            WriteNetcdf(path, file, to_disk=True, fill=fill)(watch)
            for row in watch.rows():
                counts = {name: row[name] for name in ("phase", *_COUNTS)}
                columns = {"filled": "yes" if fill else "no", "useful_bytes": file.array.nbytes}
                yield {**file.labels, **columns, **file.columns, **counts}
            path.unlink()
