"""The chunk cache: what a variable is given, where it ends, and rows read through it one by one."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..io.chunk_cache import chunk_reads, promised_bytes, row_boxes
from ..io.chunk_cached import READERS, REOPENING, build_rule, default_cache, library_cache, opener
from ..io.experiment import File
from ..io.work import NAME, Equals
from ..measure.case import Stopwatch

PERIOD = 2048  # values after which a row repeats, shifted from row to row: 8 KiB of noise
CHUNK_MB = (
    0.25, 0.4, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 17, 20, 25, 30, 40, 50, 60, 67, 68, 80,
    100,
)  # fmt: skip
OWN_MB, OWN_BYTES = (1, 17, 68), 16 * 2**20
TOGETHER = {"one chunk": 1, "ten chunks": 10}
SLOT_CHUNKS = (1000, 1001, 1200, 2000)
LARGEST_SEARCHED = 128 * 2**20
COUNTS = Path("/proc/thread-self/io")  # of this thread: Jupyter reads in others


def granted(folder: Path, own_bytes: int | None = None) -> Iterator[dict[str, object]]:
    """Yield the cache a deflated variable gets by the size of its chunks, and what was foretold."""
    import netCDF4

    rule, path = build_rule(), folder / "granted.nc"
    for mb in CHUNK_MB if own_bytes is None else OWN_MB:
        chunk = round(mb * 10**6)
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("x", 10 * chunk)
            file.createVariable("v", "i1", ("x",), zlib=True, complevel=1, chunksizes=(chunk,))
        with default_cache(own_bytes), netCDF4.Dataset(path) as file:
            size = int(file["v"].get_var_chunk_cache()[0])
        path.unlink()
        promised = promised_bytes(chunk)
        yield {
            "chunk": f"{mb:g} MB",
            "phase": "open",
            "library": "netCDF4",
            "chunks": str(chunk),
            "useful_bytes": chunk,
            "cache_bytes": size,
            "predicted_bytes": promised if own_bytes is None else rule.granted(chunk, own_bytes),
        }


def edges(folder: Path) -> Iterator[dict[str, object]]:
    """Yield the largest chunk whose second reading takes no call (``syscr``), and the next size."""
    if not COUNTS.exists():
        yield {"held": "", "outcome": "", **_uncounted()}
        return
    default = library_cache("netcdf4").nbytes
    for name, together in TOGETHER.items():
        calls: dict[int, int] = {}

        def stays(size: int, together: int = together, calls: dict[int, int] = calls) -> bool:
            path = _written(folder, (size * together,), (size,))
            starts = [size * i for i in range(together)]
            calls[size] = _calls_of_second(path, [*starts, *starts], rounds=together)
            return calls[size] == 0

        last = last_staying(stays, 1, LARGEST_SEARCHED // together, default // together)
        for outcome, size in (("stays", last), ("does not", last + 1)):
            if size not in calls:  # an end of what was searched
                stays(size)
            yield {
                "held": name,
                "outcome": outcome,
                "phase": "read",
                "library": "netCDF4",
                "chunks": str(size),
                "useful_bytes": size,
                "predicted_bytes": default // together + (outcome != "stays"),
                "cache_bytes": default,
                "syscr": calls[size],
            }


def last_staying(stays: Callable[[int], bool], low: int, high: int, guess: int) -> int:
    """Return the largest size that stays, by bisection that begins around a guess."""
    tries = [guess, guess + 1]
    while high - low > 1:
        size = next((size for size in tries if low < size < high), (low + high) // 2)
        if stays(size):
            low = size
        else:
            high = size
    return low


def slots(folder: Path) -> Iterator[dict[str, object]]:
    """Yield the read calls for a second row (``syscr``) where a row has more chunks than slots."""
    if not COUNTS.exists():
        yield {"slots": "", "across": "", **_uncounted()}
        return
    default = library_cache("netcdf4")
    for across in SLOT_CHUNKS:
        for name, cache in (("default", default), ("more", replace(default, slots=10007))):
            shape, chunks = (2, 16 * across), (2, 16)
            both, once = (chunk_reads(shape, chunks, 1, row_boxes(shape, n), cache) for n in (2, 1))
            yield {
                "slots": name,
                "across": str(across),
                "phase": "read",
                "library": "netCDF4",
                "useful_bytes": 16 * across,
                "cache_bytes": cache.nbytes,
                "predicted_reads": both - once,
                "syscr": _calls_of_second(_written(folder, shape, chunks), [0, 1], cache.slots),
            }


def _uncounted() -> dict[str, object]:
    return {"phase": "read", "status": f"no {COUNTS} to count read calls"}


def _written(folder: Path, shape: tuple[int, ...], chunks: tuple[int, ...]) -> Path:
    import netCDF4

    path = folder / "edge.nc"
    with netCDF4.Dataset(path, "w") as file:
        for axis, n in enumerate(shape):
            file.createDimension(f"d{axis}", n)
        variable = file.createVariable(
            "v", "i1", file.dimensions, zlib=True, complevel=1, chunksizes=chunks
        )
        variable.set_auto_maskandscale(False)
        first = shape[0] if len(shape) > 1 else chunks[0]
        for start in range(0, shape[0], first):  # chunk by chunk: they may be large
            variable[start : start + first] = np.zeros((first, *shape[1:]), "i1")
    return path


def _calls_of_second(
    path: Path, starts: Sequence[int], slots: int | None = None, rounds: int = 1
) -> int:
    """Return the read calls of reading at all starts but the first; the file is removed."""
    import netCDF4

    with netCDF4.Dataset(path) as file:
        variable = file["v"]
        variable.set_auto_maskandscale(False)
        if slots is not None:
            variable.set_var_chunk_cache(nelems=slots)
        for start in starts[:rounds]:
            variable[start]
        before = _read_calls()
        for start in starts[rounds:]:
            variable[start]
        calls = _read_calls() - before - 1  # the first count is itself a read call
    path.unlink()
    return calls


def _read_calls() -> int:
    descriptor = os.open(COUNTS, os.O_RDONLY)
    text = os.read(descriptor, 4096).decode()
    os.close(descriptor)
    return int(text.split("syscr:")[1].split()[0])


def noise(shape: tuple[int, int]) -> NDArray[np.int32]:
    """Return rows of noise that repeats, so that it compresses and is soon decompressed."""
    period = np.random.default_rng(0).integers(0, 2**31, PERIOD, dtype="i4")
    rows = np.empty(shape, "i4")
    for i, row in enumerate(rows):
        row[:] = np.tile(np.roll(period, -7 * i), shape[1] // PERIOD)
    return rows


@dataclass(frozen=True)
class RowByRow:
    """Read the first rows of a file one by one: phases open, read and close."""

    file: File
    rows: int
    library: str = "netcdf4"  # one of `READERS`
    cache_bytes: int = 0  # size of the chunk cache; 0 keeps what the library gives
    setting: str = ""  # how it is set; by default as the reader does it

    needs: ClassVar = ("h5py", __name__)

    def parts(self, cache_state: str) -> dict[str, Any]:
        shape, layout = self.file.array.shape, self.file.layout
        assert layout.chunks
        cache = library_cache("netcdf4" if "netcdf4" in self.library else "h5py")
        if self.cache_bytes or "netcdf4" in self.library:
            nbytes = self.cache_bytes or build_rule().granted(4 * math.prod(layout.chunks))
            cache = replace(cache, nbytes=nbytes)
        stays_open = self.setting == "dataset kept" or (
            self.library not in REOPENING and self.setting != "opened anew"
        )
        across = -(-shape[1] // layout.chunks[1])
        fetched = chunk_reads(shape, layout.chunks, 4, row_boxes(shape, self.rows), cache)
        return {
            "run": self,
            "check": Equals(self.file.part((slice(0, self.rows), slice(None)))),
            "columns": {
                "library": READERS[self.library],
                "pattern": f"{self.rows} rows",
                "cache_bytes": cache.nbytes,
                "predicted_reads": fetched if stays_open else self.rows * across,
                **layout.record(),
            },
            "files": (self.file.path,),
        }

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        how = (self.file.path, self.library, self.cache_bytes or None, self.setting)
        with opener(*how) as open_it:
            with watch("open"):
                opened = open_it()
            values = np.empty((self.rows, opened.shape[1]), opened.dtype)
            with watch("read"):
                for i in range(self.rows):
                    values[i] = opened.read((i, slice(0, opened.shape[1])))
            watch.note(useful_bytes=values.nbytes, chunk_bytes=_stored_chunk_bytes(self.file.path))
            with watch("close"):
                opened.close()
        return values


def _stored_chunk_bytes(path: Path) -> int:
    import h5py

    with h5py.File(path) as file:
        return int(file[NAME].id.get_chunk_info(0).size)
