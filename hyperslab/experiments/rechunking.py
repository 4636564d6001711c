"""Rewriting a store of maps as one of series in bounded memory, by each of several engines."""

import gc
import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..io.creation import create, stored_bytes
from ..io.experiment import File
from ..io.layout import Layout
from ..io.selection import Selection
from ..io.variable import Variable
from ..io.work import Values
from ..measure.case import Stopwatch
from ..measure.cold import remove
from ..measure.memory import give_back
from ..measure.worker import cores

DIMS = ("time", "lat", "lon")
COPY, CUBED, THREADS, P2P = "hyperslab", "cubed", "dask threads", "dask p2p"
LIBRARIES = {COPY: "hyperslab", CUBED: "cubed", THREADS: "dask", P2P: "distributed"}  # by engine
MODULES = (
    "xarray", "zarr", "zarr.codecs", "numcodecs", __name__,
    *(name for name in ("dask.array", "distributed", "cubed") if find_spec(name.partition(".")[0])),
)  # fmt: skip
# Its time varies least: threads and p2p write when the kernel likes.
STEADY = CUBED if find_spec("cubed") else COPY


@dataclass(frozen=True)
class Drift:
    """A map that drifts east by a column a step; drawn step by step, as it may exceed memory."""

    first: Any  # has the first map
    steps: int
    name: str = "maps"

    @property
    def variable(self) -> str:
        return str(self.first.variable)

    @property
    def dtype(self) -> str:
        return str(self.first.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.steps, *self.first.shape[1:])

    def part(self, selection: Selection, folder: Path) -> Values:
        """Return what gives part of the first map, of which all others are made."""
        first_map: Values = self.first.part(np.s_[0, :, :], folder)
        return first_map

    def write(self, files: Mapping[Path, Layout], folder: Path) -> None:
        first = self.first[0, :, :]
        variable = Variable(self.variable, DIMS, self.shape, self.dtype)
        for path, layout in files.items():
            with create(path, [variable], layout, overwrite=True) as writer:
                for step in range(self.steps):
                    writer.write(self.variable, step, np.roll(first, step, axis=1))
                writer.sync()


def series_chunks(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return chunks of all steps of a box, with about as many values as a map has."""
    steps, rows, columns = shape
    cells = max(rows * columns // steps, 1)
    high = min(2 ** (int(math.log2(cells)) // 2), rows)
    return steps, high, min(cells // high, columns)


@dataclass(frozen=True)
class Rewrite:
    """Rewrite a store with other chunks: phases start, until the engine is ready, and rewrite."""

    file: File  # a store of `Drift`
    layout: Layout  # what is wanted
    engine: str  # a key of `LIBRARIES`
    allowed_bytes: int  # memory that it may take
    # what copies for `COPY`: called with the source, the copy, and memory_bytes
    own: Callable[..., object] | None = None

    def parts(self, cache_state: str) -> dict[str, Any]:
        array, path, chunks = self.file.array, self.file.path, self.layout.chunks or ()
        folder = path.with_name("by-" + re.sub(r"\W+", "-", self.engine))
        run = Engine(
            path, array.variable, array.shape, chunks, folder, self.engine, self.allowed_bytes,
            self.own,
        )  # fmt: skip
        # The others are among the packages whose versions all records have.
        versions = {"library_version": version("cubed")} if self.engine == CUBED == STEADY else {}
        return {
            "run": run,
            "check": partial(same, array.variable, array.shape, chunks, self.file.part(...)),
            "columns": {
                **self.layout.record(),
                "library": LIBRARIES[self.engine],
                **versions,
                "pattern": "maps to series",
                "ranks": 1 if self.engine in (COPY, CUBED) else cores(),
            },
            "prepare": partial(remove, folder),
            "cleanup": partial(remove, folder),
            "pinned": False,
        }


@dataclass(frozen=True)
class Engine:
    """Rewrite a store by one engine, and note the most memory that it took."""

    source: Path
    variable: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    folder: Path
    engine: str
    allowed_bytes: int
    own: Callable[..., object] | None

    def __call__(self, watch: Stopwatch) -> Path:
        copy, stores = self.folder / "series.zarr", self.folder / "stores"
        stores.mkdir(parents=True)
        with watch("start"):
            entered = _ENGINES[self.engine](self, copy, stores)
            rewrite = entered.__enter__()
        gc.collect()
        before = reset_peak()
        with watch("rewrite"):
            rewrite()
        watch.note(
            peak_bytes=max(peak() - before, 0),
            useful_bytes=4 * math.prod(self.shape),
            file_bytes=stored_bytes(copy),
        )
        entered.__exit__(None, None, None)
        return copy


def same(
    variable: str, shape: tuple[int, ...], chunks: tuple[int, ...], first: Values, copy: object
) -> bool:
    import zarr

    array = zarr.open_array(str(copy), path=variable, mode="r")
    if array.chunks != chunks or array.shape != shape:
        return False
    values_of_first, high = first(), chunks[1]
    for row in range(0, shape[1], high):
        band, bands = values_of_first[row : row + high], np.asarray(array[:, row : row + high])
        if not all(
            np.array_equal(values, np.roll(band, step, axis=1)) for step, values in enumerate(bands)
        ):
            return False
    return True


def reset_peak() -> int:
    """Let the kernel's mark of the most memory begin anew; return what is resident, in bytes."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> int:
    return _status("VmHWM")


def _status(key: str) -> int:
    try:
        match = re.search(rf"{key}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        match = None
    return int(match[1]) * 1024 if match else 0


@contextmanager
def _copying(job: Engine, copy: Path, stores: Path) -> Iterator[Callable[[], object]]:
    own = job.own
    assert own is not None, f"{COPY} needs what copies"
    give_back()
    yield lambda: own(job.source, copy, memory_bytes=job.allowed_bytes)


@contextmanager
def _cubed(job: Engine, copy: Path, stores: Path) -> Iterator[Callable[[], object]]:
    import cubed
    import zarr

    give_back()
    # cubed quotes the path as an address, and would write beside a folder with a space in its name.
    spec = cubed.Spec(".", allowed_mem=job.allowed_bytes, executor_name="single-threaded")
    source, copy = str(job.source.absolute()), copy.absolute()

    def rewrite() -> None:
        with chdir(stores):
            values = cubed.from_zarr(source, path=job.variable, spec=spec)
            target = zarr.create_group(str(copy), zarr_format=3).create_array(
                job.variable, shape=job.shape, chunks=job.chunks, dtype="f4",
                compressors=_codec(), dimension_names=DIMS,
            )  # fmt: skip
            cubed.store([values.rechunk(job.chunks)], [target])

    yield rewrite


@contextmanager
def _threads(job: Engine, copy: Path, stores: Path) -> Iterator[Callable[[], object]]:
    import dask

    with dask.config.set(scheduler="threads", num_workers=cores()):
        yield lambda: _by_xarray(job, copy)


@contextmanager
def _p2p(job: Engine, copy: Path, stores: Path) -> Iterator[Callable[[], object]]:
    import dask
    from distributed import Client, LocalCluster

    give_back()
    logging.getLogger("distributed").setLevel(logging.ERROR)
    limit, allowed = _status("VmRSS") + job.allowed_bytes, job.allowed_bytes
    memory = "distributed.worker.memory"
    settings: dict[str, Any] = {
        "temporary-directory": str(stores),
        "array.rechunk.method": "p2p",
        "distributed.p2p.storage.buffer": allowed // 4,
        "distributed.p2p.comm.buffer": allowed // 4,
        # Of the allowed memory, not of what libraries take. A worker that pauses at its limit
        # waits for good here, and one that is ended rewrites nothing.
        f"{memory}.target": 0.6 * allowed / limit,
        f"{memory}.spill": 1 - 0.3 * allowed / limit,
        f"{memory}.pause": False,
        f"{memory}.terminate": False,
    }
    with (
        dask.config.set(settings),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=1, threads_per_worker=cores(), processes=False, memory_limit=limit,
            dashboard_address=None, local_directory=str(stores),
        ) as cluster,
        Client(cluster),  # type: ignore[no-untyped-call]
    ):  # fmt: skip
        yield lambda: _by_xarray(job, copy)


_ENGINES: Mapping[str, Any] = {COPY: _copying, CUBED: _cubed, THREADS: _threads, P2P: _p2p}


def _by_xarray(job: Engine, copy: Path) -> None:
    import xarray as xr

    with xr.open_zarr(job.source, chunks={}, consolidated=False) as data:
        rechunked = data.chunk(dict(zip(DIMS, job.chunks, strict=True)))
        rechunked[job.variable].encoding = {}
        encoding = {job.variable: {"compressors": _codec(), "chunks": job.chunks}}
        rechunked.to_zarr(copy, zarr_format=3, consolidated=False, encoding=encoding)


def _codec() -> Any:
    from zarr.codecs import BloscCodec

    return BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")
