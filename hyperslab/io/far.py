"""Reads from a server, over links of a known rate and delay."""

import math
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..access import reader
from ..measure.case import Stopwatch
from ..network import Endpoint, Link, Server, Wire, serving
from ..storage.region import Selection
from . import work
from .experiment import File, columns

_APART = 0.8  # of a round trip: the least between an answer and the request that waited for it


@dataclass(frozen=True)
class Place:
    """Where a server is read from.

    Parameters
    ----------
    name : str
        Of the link, in the records.
    link : Link
    server : Server, optional
        As it is seen through the link; none where records are drawn from.
    """

    name: str
    link: Link
    server: Server | None = None

    def parts(self) -> tuple[Server, dict[str, object]]:
        """Return the server, and the record columns that tell of the way to it."""
        assert self.server is not None, "nothing is served where records are drawn from"
        return self.server, {
            "link": self.name,
            "latency_s": self.link.round_trip_s,
            "mode": self.server.program,
        }


@contextmanager
def serve(
    folder: Path, links: Mapping[str, Link], kind: str = "http"
) -> Iterator[dict[str, Place]]:
    """Serve a folder behind each link for as long as the context lasts; see `Session.serve`."""
    program = "lighttpd" if kind == "http" and shutil.which("lighttpd") else ""
    with ExitStack() as held:
        server = held.enter_context(serving(folder, kind, program=program))
        lines = {name: held.enter_context(link.to(server.port)) for name, link in links.items()}
        yield {
            name: Place(name, link, server.through(lines[name].port))
            for name, link in links.items()
        }


@dataclass(frozen=True)
class ReadOver:
    """Read part of a file over a link, and compare it with the array: phases open, read and close.

    What went over the link is counted from the server's log: requests, connections, and stages,
    which are the requests that waited for one another.

    Parameters
    ----------
    place : Place
    file : File
    selection
        As numpy has it.
    reader : str
        Name of a reader; see `hyperslab.access.readers`.
    """

    place: Place
    file: File
    selection: tuple[Any, ...]
    reader: str

    def parts(self, cache_state: str) -> dict[str, Any]:
        """Return what a sample runs, and what describes it."""
        server, told = self.place.parts()
        steps = np.arange(self.file.array.shape[0])[self.selection[0]]
        return {
            "run": ReadLinked(
                server,
                self.file.path.name,
                self.reader,
                self.selection,
                self.file.array.variable,
                self.place.link.round_trip_s,
                self.place.link.bytes_per_s,
            ),
            "check": work.Equals(self.file.part(self.selection)),
            "columns": {
                **columns(self.file.layout, self.reader),
                "predicted_reads": steps.size,
                **told,
            },
            "prepare": server.forget,
        }


@dataclass(frozen=True)
class ReadFar:
    """Read a selection from a server: phases open, read and close.

    Parameters
    ----------
    server : Server or Endpoint
    name : str
        Of the file or store in the served folder.
    library : str
        Name of a reader.
    selection
    variable : str
    """

    server: Server | Endpoint
    name: str
    library: str
    selection: Selection
    variable: str

    needs: ClassVar = ("fsspec", "aiohttp", __name__)

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        chosen = reader(self.library)
        options = self.server.storage_options
        with watch("open"):
            opened = chosen.open(
                self.server.address(self.name), self.variable, storage_options=options
            )
        with watch("read"):
            values = opened.read(self.selection)
        watch.note(useful_bytes=values.nbytes, **self.counted())
        with watch("close"):
            opened.close()
        return values

    def counted(self) -> dict[str, object]:
        """Return more record columns, known only after the read."""
        return {}


@dataclass(frozen=True)
class ReadLinked(ReadFar):
    """Read a selection from a server behind a link, and note what went over it.

    Parameters
    ----------
    round_trip_s, bytes_per_s : float
        Of the link.
    """

    round_trip_s: float = 0.0
    bytes_per_s: float = math.inf

    def counted(self) -> dict[str, object]:
        """Return requests, connections, stages, handshakes and bytes, from the server's log."""
        assert isinstance(self.server, Server)
        wire = Wire.of(self.server.requests(), _APART * self.round_trip_s, self.bytes_per_s)
        return {
            "requests": wire.requests,
            "connections": wire.connections,
            "stages": wire.stages,
            "handshakes": wire.handshakes,
            "idle_stages": wire.idle,
            "wire_bytes": wire.wire_bytes,
        }
