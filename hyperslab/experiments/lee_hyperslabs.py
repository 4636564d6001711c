"""Many small accesses of one variable: rows, blocks of all sizes and steps, from C and Python."""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..io.calls import NEEDS, Sample, Whole
from ..io.creation import stored_bytes
from ..io.experiment import File
from ..io.ways import Array, Blocks, lasts
from ..io.ways import Way as Way
from ..io.work import NAME, Equals
from ..kernels import KernelError, kernel
from ..kernels.objects import OBJECTS as OBJECTS
from ..kernels.objects import Objects
from ..measure.case import Stopwatch

_MODULES = (*NEEDS, __name__)
_MOST_CALLS, _MOST_BYTES = 64, 10_000_000  # of one size in a sweep
_ITEMSIZE = 4
_COUNTED, _FEW, _MORE = (10, 8), 2, 8  # an array in which single calls are counted, and how many
FUNCTIONS = "functions"


def read(file: File, way: Way, count: tuple[int, int]) -> Sample:
    blocks = Blocks(_shape(file), count)
    return _reading(file, way, Access(file.path, way, blocks), Whole(blocks.shape).same)


def write(file: File, way: Way, count: tuple[int, int]) -> Sample:
    path, array = file.path.with_name(f"new-{file.path.name}"), Whole(_shape(file))
    fill = Fill(path, way, Blocks(_shape(file), count), array, file.layout.chunks)
    checker = "netcdf4" if way.library == "h5py" else "h5py"
    return Sample(fill, partial(array.stored, path, checker), _columns(file, way), made=path)


def sweep(file: File, way: Way) -> Sample:
    sizes = swept(_shape(file)[0])
    return _reading(file, way, Sweep(file.path, way, sizes), Equals(partial(lasts, sizes)))


def stepped(file: File, way: Way, steps: Mapping[str, tuple[int, int]]) -> Sample:
    check = Equals(partial(_chosen, Whole(_shape(file)), steps))
    return _reading(file, way, Strided(file.path, way, steps), check)


def _reading(file: File, way: Way, run: Any, check: Any) -> Sample:
    return Sample(run, check, _columns(file, way), (file.path,))


def swept(side: int) -> tuple[Blocks, ...]:
    sizes = []
    for high, wide in (
        *((1, max(side // parts, 1)) for parts in (64, 16, 4, 1)),
        *((rows, side) for rows in (4, 16, 64, 256) if rows < side),
    ):
        most = max(1, min(_MOST_CALLS, _MOST_BYTES // (high * wide * _ITEMSIZE)))
        sizes.append(Blocks((side, side), (high, wide), most))
    return (*sizes, Blocks((side, side), (side, side)))


def in_c() -> bool:
    with suppress(KernelError):
        kernel()
        return True
    return False


def _shape(file: File) -> tuple[int, int]:
    rows, columns = file.array.shape
    return rows, columns


def _columns(file: File, way: Way) -> dict[str, object]:
    return {"library": way.library, **file.layout.record()}


def _note(watch: Stopwatch, seconds: float | None) -> None:
    """Take the time of the last phase from C's own clock, where it has one."""
    if seconds is not None:
        watch.note(wall_s=seconds)


@dataclass(frozen=True)
class Access:
    """Read an array in blocks: phases open, read and close."""

    path: Path
    way: Way
    blocks: Blocks

    needs: ClassVar = _MODULES

    def __call__(self, watch: Stopwatch) -> Array:
        way = self.way.ready()
        with watch("open"):
            file = way.open(self.path)
        read, cache = file.reading(self.blocks), file.cache_bytes()
        with watch("read", cache_bytes=cache):
            values, seconds = read()
        _note(watch, seconds)
        watch.note(useful_bytes=values.nbytes)
        with watch("close"):
            file.close()
        return values


@dataclass(frozen=True)
class Fill:
    """Write an array in blocks to a new file: phases create, write and close."""

    path: Path
    way: Way
    blocks: Blocks
    array: Whole
    chunks: tuple[int, ...] | None

    needs: ClassVar = _MODULES

    def __call__(self, watch: Stopwatch) -> None:
        values = self.array.values()
        way = self.way.ready()
        with watch("create"):
            file = way.create(self.path, self.blocks.shape, self.chunks)
        write, cache = file.writing(self.blocks, values), file.cache_bytes()
        with watch("write", useful_bytes=values.nbytes, cache_bytes=cache):
            seconds = write()
        _note(watch, seconds)
        with watch("close"):
            file.close()
        watch.note(file_bytes=stored_bytes(self.path))


@dataclass(frozen=True)
class Sweep:
    """Read blocks of many sizes from one file: a phase read for each, the calls in ``stages``."""

    path: Path
    way: Way
    sizes: tuple[Blocks, ...]

    needs: ClassVar = _MODULES

    def __call__(self, watch: Stopwatch) -> Array:
        way, last = self.way.ready(), []
        with watch("open"):
            file = way.open(self.path)
        read = file.reading(replace(self.sizes[0], most=1), keep=False)
        with watch("first"):  # pays for what a library does once
            read()
        for blocks in self.sizes:
            calls, (high, wide) = len(blocks.starts()), blocks.count
            columns = {"pattern": f"{high}x{wide}", "stages": calls}
            read = file.reading(blocks, keep=False)
            with watch("read", useful_bytes=calls * high * wide * _ITEMSIZE, **columns):
                values, seconds = read()
            _note(watch, seconds)
            last.append(np.ravel(values)[-wide:])
        with watch("close"):
            file.close()
        return np.concatenate(last)


@dataclass(frozen=True)
class Strided:
    """Read with steps: a phase read for each, of a file opened anew, so that nothing is kept."""

    path: Path
    way: Way
    steps: Mapping[str, tuple[int, int]]

    needs: ClassVar = _MODULES

    def __call__(self, watch: Stopwatch) -> Array:
        way, arrays = self.way.ready(), []
        for spelled, step in self.steps.items():
            with watch("open"):
                file = way.open(self.path)
            read, cache = file.stepping(step), file.cache_bytes()
            with watch("read", pattern=spelled, cache_bytes=cache):
                values, seconds = read()
            _note(watch, seconds)
            watch.note(useful_bytes=values.nbytes)
            with watch("close"):
                file.close()
            arrays.append(np.ravel(values))
        return np.concatenate(arrays)


def _chosen(array: Whole, steps: Mapping[str, tuple[int, int]]) -> Array:
    values = array.values()
    return np.concatenate([values[::y, ::x].ravel() for y, x in steps.values()])


def pieces(
    file: File, ways: Mapping[str, Way], steps: Mapping[str, tuple[int, int]]
) -> Iterator[dict[str, object]]:
    """Yield how many calls netCDF4-python makes of netCDF-C for one selection, in ``stages``."""
    import netCDF4

    calls: list[int] = []
    kind: Any = netCDF4.Variable  # its types do not know the methods

    def get(self: Any, *where: Any) -> Any:
        calls.append(1)
        return kind._get(self, *where)

    def put(self: Any, *what: Any) -> None:
        calls.append(1)
        kind._put(self, *what)

    counting: Any = type("Counting", (kind,), {"_get": get, "_put": put})
    copy = file.path.with_name("counted.nc")
    shutil.copy(file.path, copy)
    version = f"{netCDF4.__version__} (netCDF-C {netCDF4.__netcdf4libversion__})"
    about = {"library": "netCDF4", "library_version": version}
    with netCDF4.Dataset(copy, "r+") as dataset:
        original: Any = dataset[NAME]
        for spelled, (y, x) in steps.items():
            for name, way in ways.items():
                variable = counting(dataset, NAME, "i4", original.get_dims(), id=original._varid)
                for method, value in way.settings.items():
                    getattr(variable, method)(value)
                row = {"way": name, "pattern": spelled, **about}
                calls.clear()
                taken = variable[::y, ::x]
                yield row | {"phase": "read", "stages": len(calls)}
                calls.clear()
                variable[::y, ::x] = taken
                yield row | {"phase": "write", "stages": len(calls)}
    copy.unlink()


def functions_called(work: Callable[[], object]) -> int:
    calls = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    former = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(former)
    return calls - 1  # the call that ends the counting


def opened(
    scratch: Path, on_hdf5: Mapping[str, Way], in_python: Mapping[str, Way]
) -> Iterator[dict[str, object]]:
    """Yield what one call opens in HDF5, and calls in Python, in ``stages``."""
    path = scratch / "counted.nc"
    file = Way("netCDF4").create(path, _COUNTED, None)
    file.writing(Blocks(_COUNTED, _COUNTED), np.zeros(_COUNTED, "i4"))()
    file.close()
    counters: list[tuple[Callable[..., Any], Mapping[str, Way]]] = []
    if in_c():
        objects = Objects.open(path, NAME)
        counters.append((objects, on_hdf5))
    counters.append((lambda work: {FUNCTIONS: functions_called(work)}, in_python))
    for counter, ways in counters:
        for name, way in ways.items():
            for phase in ("read", "write"):
                few, many = (counter(work) for work in _few_and_many(way, phase, path))
                for kind, number in many.items():
                    row = {"way": name, "phase": phase, "pattern": kind, "library": way.library}
                    yield row | {"stages": (number - few[kind]) / _MORE}
    if in_c():
        objects.close()
    path.unlink()


def _few_and_many(way: Way, phase: str, path: Path) -> Iterator[Callable[[], object]]:
    """Give the work of a few calls, then of more, so that what happens once falls out."""
    for rows in (_FEW, _FEW + _MORE):
        blocks, written = Blocks(_COUNTED, (1, _COUNTED[1]), most=rows), path.with_suffix(".new")
        work: Callable[[], object]
        if phase == "read":
            file = way.open(path)
            work = file.reading(blocks, keep=False)
        else:
            file = way.create(written, _COUNTED, None)
            work = file.writing(blocks, np.zeros(_COUNTED, "i4"))
        work()
        yield work
        file.close()
        written.unlink(missing_ok=True)
