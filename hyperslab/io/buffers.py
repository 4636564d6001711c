"""Reads of one long variable, buffer after buffer: its files, where reads begin, and who reads."""

import os
import re
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import NetcdfFile, PlainFile, kernel
from ..measure.case import Stopwatch
from ..measure.machine import memory_bytes, require_space
from .cards import compiles

VARIABLE, ITEMSIZE = "data", 8
KINDS = {"binary": "values.bin", "netcdf4": "values.nc", "zarr3": "values.zarr"}
ACCESSES = ("sequential", "strided", "random")
STRIDE = 4  # of so many buffers the strided reads take one
RANDOM_READS = 100
LONGEST_S = 10.0  # of a sample that has no limit of its own
BLOCK_BYTES = 8 * 2**20  # what is made and written at once
_CHUNK_BYTES = 2**20  # of the Zarr store
_BATCH_S, _FIRST_BYTES, _FIRST_READS = 0.02, 2**20, 16
_DISK_BYTES_S = 2e9  # that a fast one gives
_ENDS = 64  # values at either end of a batch's last read that are compared between batches
_AGAIN_BYTES, _AGAIN_READS = 2 * 2**20, 32  # what each sample reads again, to compare it whole
_UNITS = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1}
# 2**64 over the golden ratio: neighbours differ in all bits.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(0x3FF0000000000000)  # the exponent of numbers from 1 to 2

Values = NDArray[np.float64]
Starts = NDArray[np.int64]


def size(nbytes: int) -> str:
    unit = next(unit for unit, factor in _UNITS.items() if nbytes % factor == 0)
    return f"{nbytes // _UNITS[unit]} {unit}"


def bytes_of(name: str) -> int:
    match = re.fullmatch(r"(\d+) ?(GiB|MiB|KiB|B)", name)
    if not match:
        raise ValueError(f"{name!r} is no size: write it as 512B, 4KiB, 1MiB or 1GiB")
    return int(match[1]) * _UNITS[match[2]]


def sizes(file_bytes: int) -> list[str]:
    return [size(2**n) for n in range(9, 31) if 2**n <= file_bytes]


def truth(first: int, count: int) -> Values:
    """Return what the variable holds: numbers from 1 to 2 that no compressor makes shorter."""
    bits = np.arange(first, first + count, dtype=np.uint64)
    bits *= _SPREAD
    bits >>= np.uint64(12)
    bits |= _ONE
    return bits.view(np.float64)


def holds(values: Values, first: int) -> bool:
    """Whether values are those that the variable holds from a place on; compared in pieces."""
    step = BLOCK_BYTES // ITEMSIZE // 8
    pieces = ((at, values[at : at + step]) for at in range(0, len(values), step))
    return all(np.array_equal(piece, truth(first + at, len(piece))) for at, piece in pieces)


@dataclass(frozen=True)
class Files:
    """The variable, with so many values, in one folder: a file of each of `KINDS`."""

    folder: Path
    values: int

    @property
    def nbytes(self) -> int:
        return self.values * ITEMSIZE

    def path(self, kind: str) -> Path:
        return self.folder / KINDS[kind]

    def write(self, kinds: Iterable[str]) -> None:
        """Stream the variable to disk, from where a killed run has left it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = {}
        for kind in kinds:
            if self.path(kind).exists():
                self._check(kind)
            else:
                unfinished[kind] = self.path(kind).with_name(f".{KINDS[kind]}.part")
        written = sum(path.stat().st_blocks * 512 for path in unfinished.values() if path.is_file())
        require_space(self.folder, len(unfinished) * self.nbytes - written)
        for kind, path in unfinished.items():
            _MAKERS[kind](path, self.values)
            path.replace(self.path(kind))

    def _check(self, kind: str) -> None:
        path = self.path(kind)
        nbytes = path.stat().st_size if path.is_file() else self.nbytes
        if not 0 <= nbytes - self.nbytes <= (0 if kind == "binary" else BLOCK_BYTES):
            raise ValueError(
                f"{path} has {nbytes:,} bytes where the variable has {self.nbytes:,}: it was made "
                "for another size; remove it, or choose another directory"
            )


def cold(folder: Path, file_mib: int) -> Files:
    """Return the file that is read from the device; of 0 MiB it has over twice the memory."""
    return Files(folder, (file_mib or 1024 * (2 * memory_bytes() // 2**30 + 1)) * 2**20 // ITEMSIZE)


def _blocks(values: int) -> Iterator[tuple[int, int]]:
    block = BLOCK_BYTES // ITEMSIZE
    return ((first, min(block, values - first)) for first in range(0, values, block))


def _stream(path: Path, values: int, offset: int = 0) -> None:
    path.touch()
    with path.open("r+b") as file:
        for first, count in _blocks(values):
            last = first + count - 1
            file.seek(offset + last * ITEMSIZE)
            if file.read(ITEMSIZE) != truth(last, 1).tobytes():  # else a killed run has written it
                file.seek(offset + first * ITEMSIZE)
                file.write(truth(first, count).data)
        file.flush()
        os.fsync(file.fileno())


def _netcdf(path: Path, values: int) -> None:
    import netCDF4

    if not path.exists():
        laid = path.with_suffix(".laid")
        with netCDF4.Dataset(laid, "w", format="NETCDF4") as file:
            file.createDimension("x", values)
            array = file.createVariable(VARIABLE, "f8", ("x",), contiguous=True, fill_value=False)
            array[:1] = truth(0, 1)  # with one value the library lays out room for all
        laid.replace(path)
    _stream(path, values, offset_of(path))


def offset_of(path: Path) -> int:
    import h5py

    with h5py.File(path) as file:
        return int(file[VARIABLE].id.get_offset())


def _zarr(path: Path, values: int) -> None:
    import zarr

    chunk = min(_CHUNK_BYTES // ITEMSIZE, values)
    array = zarr.create_array(
        path, shape=(values,), chunks=(chunk,), dtype="f8", compressors=None, overwrite=True
    )
    for first, count in _blocks(values):
        array[first : first + count] = truth(first, count)


_MAKERS: dict[str, Any] = {"binary": _stream, "netcdf4": _netcdf, "zarr3": _zarr}


@dataclass(frozen=True)
class Spots:
    """Where a file is read, in order, in values; after Jones et al. 2016, section 2."""

    access: str
    nbytes: int
    file_bytes: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.nbytes < ITEMSIZE or self.nbytes % ITEMSIZE or self.nbytes > self.file_bytes:
            raise ValueError(
                f"reads of {self.nbytes} bytes from {self.file_bytes}: give a multiple of "
                f"{ITEMSIZE}, not more than the file has"
            )

    def __len__(self) -> int:
        if self.access == "random":
            return len(self._random)
        return -(-(self.file_bytes // self.nbytes) // self._step)

    @property
    def count(self) -> int:
        return self.nbytes // ITEMSIZE

    def between(self, first: int, last: int) -> Starts:
        """Return where reads begin: from the one of number `first` up to and without `last`."""
        last = min(last, len(self))
        if self.access == "random":
            return self._random[first:last]
        return np.arange(first, last, dtype=np.int64) * (self._step * self.count)

    @property
    def _step(self) -> int:
        return STRIDE if self.access == "strided" else 1

    # Each lies in a part of the file of its own, of twice the buffer: no byte is read twice, and
    # none comes from an earlier read's memory.
    @cached_property
    def _random(self) -> Starts:
        draw = np.random.default_rng([self.seed, self.nbytes])
        parts = self.file_bytes // (2 * self.nbytes)
        if not parts:  # one read of more than half of the file
            return draw.integers(0, (self.file_bytes - self.nbytes) // ITEMSIZE + 1, 1)
        chosen = draw.choice(parts, min(RANDOM_READS, parts), replace=False, shuffle=True)
        within = draw.integers(0, self.count + 1, len(chosen))
        starts: Starts = chosen.astype(np.int64) * (2 * self.count) + within
        return starts


@dataclass(frozen=True)
class ReadLoop:
    # What makes reads, and gives their seconds by a clock in C, if there is one.
    ready: Callable[..., Callable[[], float | None]]
    # What the last read gave; it stays until the next has ended, as what a loop gives a name.
    last: Callable[[], Values]
    close: Callable[[], object]


def _plain_in_c(path: Path, count: int, stdio: bool) -> ReadLoop:
    file, data = PlainFile(path, stdio=stdio), np.ones(count)

    def ready(starts: Starts, each: Values | None = None) -> Callable[[], float]:
        arguments = starts * ITEMSIZE, data.nbytes, data
        return file.prepared("read", *arguments, reuse=True, each=each)

    return ReadLoop(ready, lambda: data, file.close)


def _netcdf_in_c(path: Path, count: int) -> ReadLoop:
    file, data = NetcdfFile.open(path, VARIABLE), np.ones(count)

    def ready(starts: Starts) -> Callable[[], float]:
        return file.prepared("read", starts[:, None], [count], None, data, reuse=True)

    return ReadLoop(ready, lambda: data, file.close)


def _python(path: Path, count: int, run: Callable[..., Any]) -> ReadLoop:
    """Read with Python's own file; reads in a row do without a seek, as in the document."""
    file, nbytes = path.open("rb"), count * ITEMSIZE
    held = list[Any]([np.ones(count) if run is _readinto else None])

    def reads(offsets: list[int], seek: bool) -> None:
        held.append(run(file, count, held.pop(), offsets, seek))

    def ready(starts: Starts) -> Callable[[], None]:
        offsets, position = (starts * ITEMSIZE).tolist(), file.tell()
        follow = range(position, position + len(offsets) * nbytes, nbytes)
        return partial(reads, offsets, offsets != list(follow))

    return ReadLoop(ready, lambda: np.frombuffer(held[0], "<f8"), file.close)


def _read(file: Any, count: int, data: Any, offsets: list[int], seek: bool) -> Any:
    nbytes = count * ITEMSIZE
    if seek:
        for offset in offsets:
            file.seek(offset)
            data = file.read(nbytes)
    else:
        for _ in offsets:
            data = file.read(nbytes)
    return data


def _readinto(file: Any, count: int, data: Any, offsets: list[int], seek: bool) -> Any:
    if seek:
        for offset in offsets:
            file.seek(offset)
            file.readinto(data)
    else:
        for _ in offsets:
            file.readinto(data)
    return data


def _fromfile(file: Any, count: int, data: Any, offsets: list[int], seek: bool) -> Any:
    if seek:
        for offset in offsets:
            file.seek(offset)
            data = np.fromfile(file, "<f8", count)
    else:
        for _ in offsets:
            data = np.fromfile(file, "<f8", count)
    return data


def _indexed(path: Path, count: int, opened: Any, run: Callable[..., Any]) -> ReadLoop:
    (array, close), held = opened(path), list[Any]([None])

    def reads(starts: list[int]) -> None:
        held.append(run(array, count, held.pop(), starts))

    def last() -> Values:  # what is masked becomes NaN, which is wrong
        values: Values = np.ma.filled(np.ma.asanyarray(held[0]), np.nan)
        return values

    def release() -> None:
        held.clear()
        close()

    return ReadLoop(lambda starts: partial(reads, starts.tolist()), last, release)


def _sliced(array: Any, count: int, data: Any, starts: list[int]) -> Any:
    for start in starts:
        data = array[start : start + count]
    return data


def _copied(array: Any, count: int, data: Any, starts: list[int]) -> Any:
    for start in starts:
        data = array[start : start + count].copy()
    return data


def _loaded(array: Any, count: int, data: Any, starts: list[int]) -> Any:
    for start in starts:
        data = array[start : start + count].values
    return data


def _opened(path: Path, module: str, call: str, *, masked: bool = True, **options: str) -> Any:
    file = getattr(import_module(module), call)(path, **options)
    if not masked:
        file[VARIABLE].set_auto_maskandscale(False)
    return file[VARIABLE], file.close


def _memmap(path: Path) -> Any:
    mapped = np.memmap(path, "<f8", "r")
    return mapped, mapped._mmap.close  # type: ignore[attr-defined]


def _zarr_array(path: Path) -> Any:
    import zarr

    return zarr.open_array(path, mode="r"), lambda: None


@dataclass(frozen=True)
class ReadWay:
    """A way to read: its library, one of `KINDS`, its loop, what it imports, and whether in C."""

    library: str
    kind: str
    loop: Callable[[Path, int], ReadLoop]
    modules: tuple[str, ...] = ()
    in_c: bool = False


def _library(module: str, call: str, *more: str, run: Any = _sliced, **options: Any) -> ReadWay:
    opened = partial(_opened, module=module, call=call, **options)
    loop = partial(_indexed, opened=opened, run=run)
    return ReadWay(module, "netcdf4", loop, (module, *more))


READERS: Mapping[str, ReadWay] = {
    "C fread": ReadWay("C", "binary", partial(_plain_in_c, stdio=True), in_c=True),
    "C pread": ReadWay("C", "binary", partial(_plain_in_c, stdio=False), in_c=True),
    "netCDF-C": ReadWay("netCDF-C", "netcdf4", _netcdf_in_c, ("netCDF4",), in_c=True),
    "Python read": ReadWay("Python", "binary", partial(_python, run=_read)),
    "Python readinto": ReadWay("Python", "binary", partial(_python, run=_readinto)),
    "numpy.fromfile": ReadWay("numpy", "binary", partial(_python, run=_fromfile)),
    "numpy.memmap": ReadWay("numpy", "binary", partial(_indexed, opened=_memmap, run=_copied)),
    "netCDF4-python": _library("netCDF4", "Dataset"),
    "netCDF4-python without masking": _library("netCDF4", "Dataset", masked=False),
    "h5py": _library("h5py", "File"),
    "h5netcdf": _library("h5netcdf", "File", "h5py", mode="r"),
    "xarray": _library("xarray", "open_dataset", "netCDF4", run=_loaded, engine="netcdf4"),
    # Its event loop runs in a thread that begins with the first read, so after the fork.
    "Zarr": ReadWay("zarr", "zarr3", partial(_indexed, opened=_zarr_array, run=_sliced), ("zarr",)),
}
"""The ways to read, in the order of the layers they go through."""


def modules(readers: Iterable[str]) -> list[str]:
    """Return what is imported before the processes of these readers are forked."""
    return [*dict.fromkeys(module for key in readers for module in READERS[key].modules), __name__]


def available(readers: Iterable[str]) -> list[str]:
    candidates = {name: READERS[name] for name in readers if not READERS[name].in_c or compiles()}
    return [name for name, reader in candidates.items() if all(map(find_spec, reader.modules))]


@dataclass(frozen=True)
class ReadBuffers:
    """Read a file in buffers until its end or a limit of time: phases open, read and close."""

    files: Files
    reader: str
    access: str
    nbytes: int
    limit_s: float = LONGEST_S  # of reading, after which no batch is begun
    least: int = 1  # reads that are made however long they take
    seed: int = 0

    def parts(self, cache_state: str) -> dict[str, Any]:
        return {
            "run": self,
            "check": bool,
            "columns": {
                "library": READERS[self.reader].library,
                "format": READERS[self.reader].kind,
                "pattern": self.access,
                "size": size(self.nbytes).replace(" ", ""),
                "file_bytes": self.files.nbytes,
            },
            "files": (self.files.path(READERS[self.reader].kind),),
            "memory_bytes": self.memory_bytes if cache_state == "cold" else 0,
        }

    @property
    def memory_bytes(self) -> int:
        """The memory of a cold read: pages for what it is likely to read, and two buffers."""
        # With half of it in place, 256 MiB were read at 0.5 to 1.1 of their usual rate.
        read = max(self.least * self.nbytes, self.limit_s * _DISK_BYTES_S)
        return int(min(read, self.files.nbytes)) + 2 * self.nbytes

    @cached_property
    def spots(self) -> Spots:
        return Spots(self.access, self.nbytes, self.files.nbytes, self.seed)

    def __call__(self, watch: Stopwatch) -> bool:
        reader = READERS[self.reader]
        if reader.in_c:
            kernel()
        with watch("open"):
            loop = reader.loop(self.files.path(reader.kind), self.spots.count)
        watch.chill()
        reads, same = self._read(loop, watch)
        unit = 1 if sys.platform == "darwin" else 1024
        most = unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        watch.note(useful_bytes=reads * self.nbytes, stages=reads, peak_bytes=most)
        same = same and self.same(loop, reads - 1) and self._again(loop)
        with watch("close"):
            loop.close()
        return same

    # In batches of about 20 ms, each a lap of one phase; between them both ends of the last read
    # are compared with the truth.
    def _read(self, loop: ReadLoop, watch: Stopwatch) -> tuple[int, bool]:
        total, done, spent, in_c, same = len(self.spots), 0, 0.0, 0.0, True
        batch = max(1, min(_FIRST_READS, _FIRST_BYTES // self.nbytes))
        while done < total and (done < self.least or spent < self.limit_s):
            last = min(done + batch, total)
            run = loop.ready(self.spots.between(done, last))
            began = time.perf_counter()
            with watch.lap("read") as columns:
                seconds = run()
            took = time.perf_counter() - began
            if seconds is not None:  # by the clock in C
                in_c += seconds
                columns["wall_s"] = in_c
                took = seconds
            spent += took
            same = same and self.same(loop, last - 1, ends=True)
            target_s = min(_BATCH_S, max(self.limit_s - spent, 0.0))
            batch = max(1, min(8 * batch, int((last - done) * target_s / max(took, 1e-9))))
            done = last
        return done, same

    # Untimed, from a place drawn by lot: every value is compared.
    def _again(self, loop: ReadLoop) -> bool:
        most = min(_AGAIN_READS, _AGAIN_BYTES // self.nbytes)
        first = SystemRandom().randrange(max(1, len(self.spots) - most + 1))
        for read in range(first, min(first + most, len(self.spots))):
            loop.ready(self.spots.between(read, read + 1))()
            if not self.same(loop, read):
                return False
        return True

    def same(self, loop: ReadLoop, read: int, ends: bool = False) -> bool:
        """Whether the last read, of a number, gave what is there, or at both ends at least."""
        values, start = loop.last(), int(self.spots.between(read, read + 1)[0])
        if len(values) != self.spots.count:
            return False
        tail = max(0, len(values) - _ENDS)
        if ends:
            return holds(values[:_ENDS], start) and holds(values[tail:], start + tail)
        return holds(values, start)
