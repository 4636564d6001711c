"""Reads from a server: of ours, over links of a known rate and delay, or one that others run."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..measure.case import Stopwatch
from ..measure.processes import Processes
from ..measure.worker import Job
from ..network import Endpoint, Link, Request, Server, Wire, serving, upload
from . import work
from .experiment import Case, File, columns, modules
from .urls import Remote

ABROAD, NEAR = "endpoint", "endpoint-here"
"""What records call the way to a store that others run, and to one that listens on this machine."""
_ADDRESS = re.compile(r"(?<=http://)127\.0\.0\.1:\d+")
_APART = 0.8  # of a round trip: the least between an answer and the request that waited for it


@dataclass(frozen=True)
class Place:
    name: str  # of the link, in the records
    link: Link
    server: Server | Endpoint | None = None  # through the link; none where records are drawn from

    @property
    def columns(self) -> dict[str, object]:
        assert self.server is not None, "nothing is served where records are drawn from"
        if isinstance(self.server, Endpoint):
            return {"link": NEAR if self.server.here else ABROAD}
        return {"link": self.name, "latency_s": self.link.round_trip_s, "mode": self.server.program}

    @property
    def needs(self) -> tuple[str, ...]:
        s3 = self.server is not None and self.server.kind == "s3"
        return ("fsspec.implementations.http", *(["s3fs"] * s3), __name__)

    def remote(self, name: str) -> Remote:
        assert self.server is not None
        return Remote(self.server.address(name), self.server.storage_options)

    def forget(self) -> None:
        """Empty the log, which shows that the server is there; others keep none for us."""
        if isinstance(self.server, Server):
            self.server.forget()

    def counted(self) -> dict[str, object]:
        if not isinstance(self.server, Server):
            return {}
        apart_s = _APART * self.link.round_trip_s
        counts = {**vars(Wire.of(self.server.requests(), apart_s, self.link.bytes_per_s))}
        return {"idle_stages": counts.pop("idle"), **counts}


@contextmanager
def serve(
    folder: Path, links: Mapping[str, Link], kind: str = "http", store: str = ""
) -> Iterator[dict[str, Place]]:
    """Serve a folder behind each link for as long as the context lasts; see `Session.serve`."""
    if store:
        # What an array was compared with stays here.
        paths = sorted(path for path in folder.iterdir() if path.suffix != ".npy")
        # Data of other parameters, which their files are named by, lie elsewhere.
        named = json.dumps([[path.name, path.resolve().name] for path in paths])
        endpoint = Endpoint.of(store).below(hashlib.sha256(named.encode()).hexdigest()[:12])
        upload(endpoint, paths)
        yield {name: Place(name, link, endpoint) for name, link in links.items()}
        return
    program = "lighttpd" if kind == "http" and shutil.which("lighttpd") else "aiohttp"
    with ExitStack() as held:
        server = held.enter_context(served_folder(folder, kind, program=program))
        ports = {name: held.enter_context(link.to(server.port)) for name, link in links.items()}
        yield {name: Place(name, link, server.through(ports[name])) for name, link in links.items()}


def served_folder(folder: Path, kind: str = "http", **how: Any) -> AbstractContextManager[Server]:
    """Serve a run's folder, with those that its links lead to: data are linked to one place."""
    linked = {path.resolve().parent for path in folder.iterdir() if path.is_symlink()}
    return serving(folder, kind, beyond=sorted(linked), **how)


@dataclass(frozen=True)
class Done:
    """What came of a case that was done once: the server's log, and how it ended."""

    case: Case
    columns: Mapping[str, object]  # that describe it
    log: list[Request]
    status: str

    def row(self) -> dict[str, object]:
        outcome = {"phase": "all", "status": self.status, "verified": self.status == "ok"}
        return {**self.case.labels, **self.columns, **outcome}


def done(
    cases: Sequence[Case], servers: Mapping[str, Server], timeout_s: float, *more: str
) -> Iterator[Done]:
    """Do each case once, from the server of its place's name; `more` is imported before."""
    placed = [_from(case, servers) for case in cases]
    ready = [case.ready() for case in placed]
    with Processes((*more, *modules(ready))) as processes:
        for case, job in zip(placed, ready, strict=True):
            for server in servers.values():
                server.forget()
            status = processes.run(Job(job, timeout_s)).status
            log = [request for server in servers.values() for request in server.requests()]
            # Where this machine served it no other run has.
            yield Done(case, job.columns, log, _ADDRESS.sub("server", status))


def _from(case: Case, servers: Mapping[str, Server]) -> Case:
    work: Any = case.work
    if not hasattr(work, "place"):
        return case
    place = replace(work.place, server=servers[work.place.name])
    return replace(case, work=replace(work, place=place))


@dataclass(frozen=True)
class ReadOver:
    """Read part of a file over a link, and compare it: phases open, read and close."""

    place: Place
    file: File
    selection: tuple[Any, ...]
    library: str  # name of the reader
    options: Mapping[str, Any] = field(default_factory=dict)  # of the reader

    def parts(self, cache_state: str) -> dict[str, Any]:
        return {
            "run": self,
            "check": work.Equals(self.file.part(self.selection)),
            "columns": {
                **columns(self.file.layout, self.library),
                "predicted_reads": self.file.steps(self.selection),
                **self.place.columns,
            },
            "prepare": self.place.forget,
            "memory_bytes": self.file.memory_bytes(self.library),
        }

    @property
    def needs(self) -> tuple[str, ...]:
        return self.place.needs

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        remote, server = self.place.remote(self.file.path.name), self.place.server
        arguments = (self.library, remote.url, self.file.array.variable, self.selection)
        options = {**remote.options, **self.options}
        try:
            return work.read(watch, *arguments, counted=self.place.counted, storage_options=options)
        except Exception as error:
            if isinstance(server, Endpoint):  # where it is must not be told
                raise OSError(server.said(f"{type(error).__name__}: {error}")) from None
            raise
