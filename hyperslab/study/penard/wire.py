"""What each reader moves over the wire for both reads of both files: counted, not timed."""

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from ...access import reader, references
from ...io.far import ReadFar
from ...measure.case import Case
from ...measure.processes import Processes
from ...measure.worker import Job
from ...network import Server, Wire, serving, touched
from ...network.request import Request
from ...network.server import BUCKET
from ...storage.write import stored_bytes
from ...subchunk import Index
from .local import columns
from .local_files import LocalFiles
from .subchunk import Kept
from .subchunk_files import DEFAULT, SHUFFLES
from .wire_ways import DRAWN, Cell

AT_ONCE = 4
"""Reads at a time, each with a server of its own: most of their time is the server's delay."""
IN_TURN = ("h5py", "h5netcdf", "netcdf4", "xarray-netcdf4", "xarray-h5netcdf", "chunkindex")
"""Libraries that make one request after another, as their names begin."""
TIMEOUT_S = 300.0
MODULES = (
    "h5py", "netCDF4", "fsspec", "aiohttp", "hyperslab.io.far", "hyperslab.study.penard.subchunk",
    "hyperslab.access.h5py", "hyperslab.access.netcdf4", "hyperslab.access.chunkindex_layout",
    "hyperslab.access.subchunk",
)  # fmt: skip
MORE = (
    "s3fs", "obstore.store", "h5netcdf.legacyapi", "dask.array", "hyperslab.access.h5netcdf",
    "hyperslab.access.xarray", "hyperslab.access.zarr", "hyperslab.access.kerchunk",
    "hyperslab.access.virtualizarr",
)  # fmt: skip
"""Imported where every reader is read with; each of them is in some reader's requirements."""


class Seen:
    """The reads of some cells from both kinds of server, made once, when first asked for.

    Parameters
    ----------
    files : LocalFiles
    cells : sequence
        From `wire_ways.cells`.
    delay_s : float
        How much later than it could the server answers, so that stages can be told.

    Notes
    -----
    Each read has a process of its own, forked from one that has opened nothing: no connection, no
    listing and no cache of one read is left for the next.
    """

    def __init__(self, files: LocalFiles, cells: Sequence[Cell], delay_s: float) -> None:
        self.files, self.cells, self.delay_s = files, list(cells), delay_s

    def counts(self, place: str) -> Iterator[dict[str, object]]:
        """Yield a row a case of "http" or "s3": requests, connections, stages, ``wire_bytes``.

        ``file_bytes`` are those of the file or store, ``predicted_bytes`` the bytes of the data
        file that were sent at least once, and ``link`` is the kind of server. Where our index is
        read, ``spacing_bytes`` is how far its points lie apart, in bytes before compression.
        """
        for cell, (log, status) in zip(self.cells, self._logs, strict=True):
            at, kind, read, way, store = cell
            if at != place:
                continue
            wire = Wire.of(log)
            file = self.files.store(kind, store)
            sent = touched(log, _key(at, file))
            yield {
                **self._row(cell),
                **columns(self.files, kind, read, store, way.library),
                **(self._spacing(kind, store) if way.name == "subchunk" else {}),
                "requests": wire.requests,
                "wire_bytes": wire.wire_bytes,
                "connections": wire.connections,
                "stages": wire.stages,
                "file_bytes": stored_bytes(file.resolve()),
                "predicted_bytes": sum(stop - start for start, stop in sent),
                "status": status,
                "verified": status == "ok",
            }

    def ranges(self) -> Iterator[dict[str, object]]:
        """Yield the ranges of a file that HTTP sent: a row a range, for the ways of `DRAWN`.

        ``stored_at`` is where it begins in the file, ``chunk_bytes`` how long it is.
        """
        for cell, (log, _) in zip(self.cells, self._logs, strict=True):
            at, kind, _, way, store = cell
            file = self.files.store(kind, store)
            if at == "http" and way.way(store) in DRAWN:
                for start, stop in touched(log, _key(at, file)):
                    yield {
                        **self._row(cell),
                        "stored_at": start,
                        "chunk_bytes": stop - start,
                        "file_bytes": stored_bytes(file.resolve()),
                    }

    def _spacing(self, kind: str, store: str) -> dict[str, object]:
        name = f"{kind}-{store}"
        index = Index(self.files.index_path(name, DEFAULT))
        return {"spacing_bytes": index.entries[self.files.variable(name)].spacing}

    @property
    def _all(self) -> bool:
        """Whether there is enough to read that more imports and processes pay."""
        return len(self.cells) > 8 * AT_ONCE

    def _row(self, cell: Cell) -> dict[str, object]:
        place, kind, read, way, store = cell
        return {
            "case": way.case(kind, read, store),
            "phase": "all",
            "link": place,
            "library": reader(way.library).library,
            "pattern": read,
        }

    @cached_property
    def _logs(self) -> list[tuple[list[Request], str]]:
        refer(self.files, {(kind, store) for _, kind, _, _, store in self.cells})
        found: dict[int, tuple[list[Request], str]] = {}
        failed: list[BaseException] = []
        left: queue.SimpleQueue[int] = queue.SimpleQueue()
        alone: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number, cell in enumerate(self.cells):
            beside = cell[3].library.startswith(IN_TURN) or not self._all
            (left if beside else alone).put(number)

        def work() -> None:
            try:
                self._work(left, found)
            except BaseException as error:  # told by the thread that waits
                failed.append(error)

        # A server ends with the thread that started it, so each thread has its own.
        threads = [
            threading.Thread(target=work, daemon=True) for _ in range(AT_ONCE if self._all else 1)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]
        # Which requests follow others depends on when answers are taken, which others would delay.
        if not alone.empty():
            self._work(alone, found)
        return [found[number] for number in range(len(self.cells))]

    def _work(
        self, left: "queue.SimpleQueue[int]", found: dict[int, tuple[list[Request], str]]
    ) -> None:
        modules = (*MODULES, *MORE) if self._all else MODULES
        with ExitStack() as held:
            servers = {
                place: held.enter_context(serving(self.files.scratch, place, delay_s=self.delay_s))
                for place in sorted({cell[0] for cell in self.cells})
            }
            processes = held.enter_context(Processes(modules))
            while True:
                try:
                    number = left.get_nowait()
                except queue.Empty:
                    return
                server = servers[self.cells[number][0]]
                server.forget()
                outcome = processes.run(Job(self._case(server, self.cells[number]), TIMEOUT_S))
                found[number] = server.requests(), plain(outcome.status, server)

    def _case(self, server: Server, cell: Cell) -> Case:
        _, kind, read, way, store = cell
        name = f"{kind}-{store if store in SHUFFLES else 'on'}"
        chosen = self.files.pixels(name)[0] if read == "series" else self.files.frame(name)
        place = self.files.store(kind, store).name
        return Case(
            way.case(kind, read, store),
            ReadFar(server, place, way.library, chosen, self.files.variable(name)),
            check=Kept(self.files.truth_path(name, read)),
        )


def _key(place: str, file: Path) -> str:
    """Return what a server's log calls a file."""
    return f"{BUCKET}/{file.name}" if place == "s3" else file.name


def plain(status: str, *servers: Server) -> str:
    """Return what went wrong without the address it went wrong at, which no other run has."""
    for server in servers:
        status = status.replace(server.endpoint, "http://server")
    return status


def refer(files: LocalFiles, stores: set[tuple[str, str]]) -> None:
    """Write kerchunk's references beside the netCDF files, where that is installed."""
    try:
        import kerchunk  # noqa: F401
    except ImportError:
        return
    for kind, store in sorted(stores):
        if store in SHUFFLES:
            references.write(files.store(kind, store))
