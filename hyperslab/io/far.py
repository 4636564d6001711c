"""Reads from a server: of ours, over links of a known rate and delay, or one that others run."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.case import Stopwatch
from ..network import Endpoint, Link, Server, Wire, serving, upload
from . import work
from .experiment import File, columns
from .selection import Selection

ABROAD, NEAR = "endpoint", "endpoint-here"
"""What records call the way to a store that others run, and to one that listens on this machine."""
_ADDRESS = re.compile(r"(?<=http://)127\.0\.0\.1:\d+")
_APART = 0.8  # of a round trip: the least between an answer and the request that waited for it


@dataclass(frozen=True)
class Place:
    """Where a server is read from."""

    name: str  # of the link, in the records
    link: Link
    server: Server | Endpoint | None = None  # through the link; none where records are drawn from

    def forget(self) -> None:
        """Empty the logs of server and link, which shows that both are there."""
        assert isinstance(self.server, Server)
        self.server.forget()

    def parts(self) -> tuple[Server | Endpoint, dict[str, object]]:
        """Return the server, and the record columns that tell of the way to it."""
        assert self.server is not None, "nothing is served where records are drawn from"
        if isinstance(self.server, Endpoint):
            return self.server, {"link": NEAR if self.server.here else ABROAD}
        return self.server, {
            "link": self.name,
            "latency_s": self.link.round_trip_s,
            "mode": self.server.program,
        }


@contextmanager
def serve(
    folder: Path, links: Mapping[str, Link], kind: str = "http", store: str = ""
) -> Iterator[dict[str, Place]]:
    """Serve a folder behind each link for as long as the context lasts; see `Session.serve`."""
    if store:
        # What an array was compared with stays here.
        paths = sorted(path for path in folder.iterdir() if path.suffix != ".npy")
        place = Endpoint.of(store).below(_version(paths))
        upload(place, paths)
        yield {name: Place(name, link, place) for name, link in links.items()}
        return
    program = "lighttpd" if kind == "http" and shutil.which("lighttpd") else ""
    with ExitStack() as held:
        server = held.enter_context(served_folder(folder, kind, program=program))
        ports = {name: held.enter_context(link.to(server.port)) for name, link in links.items()}
        yield {name: Place(name, link, server.through(ports[name])) for name, link in links.items()}


def served_folder(folder: Path, kind: str = "http", **how: Any) -> AbstractContextManager[Server]:
    """Serve a run's folder, with those that its links lead to: data are linked to one place."""
    linked = {path.resolve().parent for path in folder.iterdir() if path.is_symlink()}
    return serving(folder, kind, beyond=sorted(linked), **how)


def _version(paths: Sequence[Path]) -> str:
    """Return a name of its own for data of these parameters, which their files are named by."""
    named = [[path.name, path.resolve().name] for path in paths]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:12]


def without_address(status: str) -> str:
    """Return how a read ended without where this machine served it, which no other run has.

    >>> without_address("OSError: http://127.0.0.1:40001/a.nc is gone")
    'OSError: http://server/a.nc is gone'
    """
    return _ADDRESS.sub("server", status)


@dataclass(frozen=True)
class ReadOver:
    """Read part of a file over a link, and compare it with the array: phases open, read and close.

    What went over the link is counted from the server's log: requests, connections, and stages,
    which are the requests that waited for one another.
    """

    place: Place
    file: File
    selection: tuple[Any, ...]
    reader: str
    options: Mapping[str, Any] = field(default_factory=dict)  # of the reader

    def parts(self, cache_state: str) -> dict[str, Any]:
        """Return what a sample runs, and what describes it."""
        server, told = self.place.parts()
        steps = np.arange(self.file.array.shape[0])[self.selection[0]]
        what = (self.file.path.name, self.reader, self.selection, self.file.array.variable)
        return {
            "run": ReadLinked(server, *what, self.place.link, options=self.options),
            "check": work.Equals(self.file.part(self.selection)),
            "columns": {
                **columns(self.file.layout, self.reader),
                "predicted_reads": steps.size,
                **told,
            },
            "prepare": None if isinstance(server, Endpoint) else self.place.forget,
            "memory_bytes": self.file.memory_bytes(self.reader),
        }


@dataclass(frozen=True)
class ReadLinked:
    """Read a selection from a server: phases open, read and close.

    An error of a store that others run does not tell where that is.
    """

    server: Server | Endpoint
    name: str
    library: str
    selection: Selection
    variable: str
    link: Link
    options: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def needs(self) -> tuple[str, ...]:
        """What is imported before samples are forked."""
        return ("fsspec", "aiohttp", *(("s3fs",) if self.server.kind == "s3" else ()), __name__)

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        what = (self.library, self.server.address(self.name), self.variable, self.selection)
        options = {**self.server.storage_options, **self.options}
        try:
            return work.read(watch, *what, counted=self.counted, storage_options=options)
        except Exception as error:
            if isinstance(self.server, Endpoint):
                raise OSError(self.server.said(f"{type(error).__name__}: {error}")) from None
            raise

    def counted(self) -> dict[str, object]:
        """Return requests, connections, stages, handshakes and bytes, from the server's log."""
        if isinstance(self.server, Endpoint):
            return {}
        apart_s = _APART * self.link.round_trip_s
        wire = Wire.of(self.server.requests(), apart_s, self.link.bytes_per_s)
        return {
            "requests": wire.requests,
            "connections": wire.connections,
            "stages": wire.stages,
            "handshakes": wire.handshakes,
            "idle_stages": wire.idle,
            "wire_bytes": wire.wire_bytes,
        }
