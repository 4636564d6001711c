"""Rewriting a store of maps as one of series in bounded memory, by each engine that is here."""

from __future__ import annotations

import gc
import logging
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, chdir, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...measure.case import Case, Stopwatch
from ...measure.memory import give_back
from ...storage.write import stored_bytes
from .local import cores
from .local_files import VARIABLE
from .rechunk_files import DIMS, Maps

Own = Callable[..., object]
"""Called with the source, the copy, and memory_bytes."""
Rewriting = Callable[[Maps, Path, Path], AbstractContextManager[Callable[[], object]]]

COPY, CUBED, THREADS, P2P = "hyperslab", "cubed", "dask-threads", "dask-p2p"
NEEDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        COPY: ("hyperslab", "zarr"),
        CUBED: ("cubed", "cubed"),
        THREADS: ("dask", "dask"),
        P2P: ("distributed", "distributed"),
    }
)
"""By engine: the library of its record, and what has to be installed."""
_OTHERS = ("dask.array", "distributed", "cubed")
MODULES = (
    "xarray", "zarr", "zarr.codecs", "numcodecs", "hyperslab.study.scaling.rechunk",
    *(name for name in _OTHERS if find_spec(name.partition(".")[0])),
)  # fmt: skip


def engines() -> tuple[str, ...]:
    """Return the engines that are installed.

    Examples
    --------
    >>> COPY in engines()
    True
    """
    return tuple(name for name, (_, module) in NEEDS.items() if find_spec(module))


@dataclass(frozen=True)
class Rewrite:
    """Rewrite the store: phases start, until the engine is ready, and rewrite.

    Parameters
    ----------
    maps : Maps
    engine : str
        A key of `NEEDS`.
    own : callable
        What copies for `COPY`.
    """

    maps: Maps
    engine: str
    own: Own | None = None

    @property
    def folder(self) -> Path:
        """Where the copy and what an engine keeps for a while lie."""
        return self.maps.scratch / f"by-{self.engine}"

    def __call__(self, watch: Stopwatch) -> Path:
        copy, stores = self.folder / "series.zarr", self.folder / "stores"
        stores.mkdir(parents=True)
        ready: Rewriting = _ENGINES.get(self.engine) or _copying(self.own)
        with watch("start"):
            entered = ready(self.maps, copy, stores)
            rewrite = entered.__enter__()
        gc.collect()
        before = reset_peak()
        with watch("rewrite"):
            rewrite()
        watch.note(
            peak_bytes=max(peak() - before, 0),
            useful_bytes=self.maps.nbytes,
            file_bytes=stored_bytes(copy),
        )
        entered.__exit__(None, None, None)
        return copy

    def clear(self) -> None:
        """Remove what it wrote."""
        shutil.rmtree(self.folder, ignore_errors=True)


def cases(maps: Maps, own: Own) -> list[Case]:
    """Return a case for each engine that is installed.

    Parameters
    ----------
    maps : Maps
    own : callable
        The project's own copy: called with the source, the copy, and memory_bytes.
    """
    found, here = [], engines()
    steady = CUBED if CUBED in here else COPY  # threads and p2p write at the kernel's leisure
    for engine in here:
        work = Rewrite(maps, engine, own if engine == COPY else None)
        found.append(
            Case(
                engine,
                work,
                check=maps.same,
                columns={
                    **maps.layout(maps.series).record(),
                    "library": NEEDS[engine][0],
                    "library_version": _version(NEEDS[engine][0]),
                    "pattern": "maps to series",
                    "mode": engine,
                    "ranks": 1 if engine in (COPY, CUBED) else cores(),
                },
                prepare=work.clear,
                cleanup=work.clear,
                aa=engine == steady,
                pinned=False,
            )
        )
    return found


def reset_peak() -> int:
    """Have the kernel's mark of the most memory begin anew, and return what is resident, in bytes.

    Where the kernel does not, the mark of a forked process began with the process.
    """
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> int:
    """Return the most memory that was resident at once since `reset_peak`, in bytes.

    Examples
    --------
    >>> before = reset_peak()
    >>> peak() >= before
    True
    """
    return _status("VmHWM")


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # run from a folder, not installed
        return ""


def _status(key: str) -> int:
    try:
        found = re.search(rf"{key}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    return int(found[1]) * 1024 if found else 0


def _copying(own: Own | None) -> Rewriting:
    @contextmanager
    def ready(maps: Maps, copy: Path, stores: Path) -> Iterator[Callable[[], object]]:
        del stores
        if own is None:
            raise ValueError("nothing was given that copies")
        give_back()
        yield lambda: own(maps.source, copy, memory_bytes=maps.allowed_bytes)

    return ready


@contextmanager
def _cubed(maps: Maps, copy: Path, stores: Path) -> Iterator[Callable[[], object]]:
    import cubed

    give_back()
    # cubed quotes the path as an address, and would write beside a folder with a space in its name.
    spec = cubed.Spec(".", allowed_mem=maps.allowed_bytes, executor_name="single-threaded")
    source, copy = str(maps.source.absolute()), copy.absolute()

    def rewrite() -> None:
        with chdir(stores):
            values = cubed.from_zarr(source, path=VARIABLE, spec=spec)
            cubed.store([values.rechunk(maps.series)], [_made(maps, copy)])

    yield rewrite


@contextmanager
def _threads(maps: Maps, copy: Path, stores: Path) -> Iterator[Callable[[], object]]:
    import dask

    del stores
    with dask.config.set(scheduler="threads", num_workers=cores()):
        yield lambda: _by_xarray(maps, copy)


@contextmanager
def _p2p(maps: Maps, copy: Path, stores: Path) -> Iterator[Callable[[], object]]:
    import dask
    from distributed import Client, LocalCluster

    give_back()
    logging.getLogger("distributed").setLevel(logging.ERROR)
    limit, part = _status("VmRSS") + maps.allowed_bytes, maps.allowed_bytes
    memory = "distributed.worker.memory"
    settings: dict[str, Any] = {
        "temporary-directory": str(stores),
        "array.rechunk.method": "p2p",
        "distributed.p2p.storage.buffer": part // 4,
        "distributed.p2p.comm.buffer": part // 4,
        # Of the allowed memory, not of what libraries take. A worker that pauses at its limit
        # waits for good here, and one that is ended rewrites nothing: what it took is told.
        f"{memory}.target": 0.6 * part / limit,
        f"{memory}.spill": 1 - 0.3 * part / limit,
        f"{memory}.pause": False,
        f"{memory}.terminate": False,
    }
    with (
        dask.config.set(settings),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=1,
            threads_per_worker=cores(),
            processes=False,
            memory_limit=limit,
            dashboard_address=None,
            local_directory=str(stores),
        ) as cluster,
        Client(cluster),  # type: ignore[no-untyped-call]
    ):
        yield lambda: _by_xarray(maps, copy)


_ENGINES: Mapping[str, Rewriting] = MappingProxyType({CUBED: _cubed, THREADS: _threads, P2P: _p2p})


def _by_xarray(maps: Maps, copy: Path) -> None:
    import xarray as xr

    with xr.open_zarr(maps.source, chunks={}, consolidated=False) as data:
        wanted = data.chunk(dict(zip(DIMS, maps.series, strict=True)))
        wanted[VARIABLE].encoding = {}
        encoding = {VARIABLE: {"compressors": _codec(), "chunks": maps.series}}
        wanted.to_zarr(copy, zarr_format=3, consolidated=False, encoding=encoding)


def _made(maps: Maps, copy: Path) -> Any:
    import zarr

    return zarr.create_group(str(copy), zarr_format=3).create_array(
        VARIABLE,
        shape=maps.shape,
        chunks=maps.series,
        dtype="f4",
        compressors=_codec(),
        dimension_names=DIMS,
    )


def _codec() -> Any:
    from zarr.codecs import BloscCodec

    return BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")
