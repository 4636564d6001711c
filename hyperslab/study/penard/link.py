"""Both reads of both files over slow links, timed (Penard 2025, Figure 9)."""

import math
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from ...access import readers
from ...measure.case import Case, Stopwatch
from ...network import Endpoint, Link, Server, Wire, serving
from ...storage.region import Selection
from .datasets import TABLE_1
from .link_model import place, predictions
from .local import READS, columns
from .local_files import LocalFiles
from .subchunk import Kept
from .subchunk_files import SHUFFLES
from .wire import MODULES as FAR_MODULES
from .wire import ReadFar, refer
from .wire_ways import WAYS, FarWay

MODULES = (*FAR_MODULES, "hyperslab.access.zarr", "hyperslab.study.penard.link")
DELAY_S = 0.1
"""The document's delay; the smallest profile has a tenth of it."""
DOCUMENT = ("h5py", "chunkindex", "zarr", "nczarr")
TODAY = ("subchunk", "kerchunk", "h5py", "h5py-paged", "zarr", "zarr-deflate", "zarr3-shards")
JUDGED = {
    "http": (
        "cmems/series/chunkindex-off", "cmems/series/h5py-off", "gfs/series/chunkindex-off",
        "gfs/series/h5py-on", "gfs/frame/chunkindex-off", "gfs/frame/h5py-on",
    ),
    "s3": tuple(
        f"{kind}/{read}/{way}" for kind in TABLE_1 for read in READS for way in ("h5py-on", "zarr")
    ),
}  # fmt: skip
"""What ratios of times are judged from; the others are ranked, which can do with fewer blocks."""
_SPARED = ("h5py-blocks",)
"""Readers of today that no remedy of the summary names: left to the profile paper."""
_MAPPED = ("subchunk-on", "zarr3-shards", "zarr3-shards-obstore")
"""Ways that the map needs."""
_MODELLED = (*_MAPPED, "subchunk-off-obstore", "zarr-obstore")
"""Over the link as stated the model stands for the times of these, to save minutes."""
_SLOW = ("gfs", "frame", ("zarr3-shards", "zarr3-shards-obstore"))
"""Requests one after another, and a shard a chunk: too long for the profile quick."""
ABROAD = "endpoint"
"""What records call the way to a store that others run."""
NEAR = "endpoint-here"
"""What records call the link to such a store where it listens on this machine: there is none."""
_APART = 0.8
"""Share of a round trip that lies at least between an answer and the request that waited for it."""


def links(delay_s: float = DELAY_S) -> dict[str, Link]:
    """Return the links by name, with a delay there and back.

    "delay" has the delay alone, "stated" the document's 100 kB/s too, and "observed" 100 Mbit/s:
    the usual rate next above those that the document's bytes and seconds imply.

    Examples
    --------
    >>> links()["stated"]
    Link(bytes_per_s=100000.0, round_trip_s=0.1)
    """
    rates = {"delay": math.inf, "stated": 1e5, "observed": 12.5e6}
    return {name: Link(rate, delay_s) for name, rate in rates.items()}


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


@dataclass(frozen=True)
class ReadAbroad(ReadFar):
    """Read a selection from a store that others run; it is not told where that is."""

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        try:
            return super().__call__(watch)
        except Exception as error:
            assert isinstance(self.server, Endpoint)
            raise OSError(self.server.said(f"{type(error).__name__}: {error}")) from None


@dataclass(frozen=True)
class Far:
    """Servers behind links; without any when figures are drawn from records.

    Parameters
    ----------
    files : LocalFiles
    links : mapping
        From `links`.
    servers : mapping
        By the names of the links. What others run keeps no log, so nothing is counted there, and
        has no link of ours: records call its link `ABROAD`.
    kind : str
        What the servers speak, "http" or "s3".
    """

    files: LocalFiles
    links: dict[str, Link]
    servers: Mapping[str, Server | Endpoint]
    kind: str = "http"

    def cases(self, link: str, ranked_blocks: int = 0) -> list[Case]:
        """Return the document's libraries as it had them, for Table 3.

        Parameters
        ----------
        link : str
        ranked_blocks : int
            Blocks of what is only ranked; 0 is all.
        """
        return [self._ranked(case, ranked_blocks) for case in self._cases(link, today=False)]

    def judged_cases(
        self, link: str, moved: pd.DataFrame, limit_s: float, ranked_blocks: int = 0
    ) -> list[Case]:
        """Return the document's libraries: what verdicts compare, and what takes no longer.

        Parameters
        ----------
        link : str
        moved : pandas.DataFrame
            Records over another link, which tell what each read moves.
        limit_s : float
            What a read that is only ranked may take, by the model.
        ranked_blocks : int
            Blocks of these; 0 is all.
        """
        found = self._cases(link, today=False)
        if not found:
            return []
        seconds = predictions(moved, self.links[link]).set_index("case")["seconds"]
        judged = [case.name for case in found if case.name in JUDGED[self.kind]]
        quickest = min(judged, key=lambda name: float(seconds.get(name, math.inf)))
        return [
            self._ranked(replace(case, aa=case.name == quickest), ranked_blocks)
            for case in found
            if case.name in judged or seconds.get(case.name, math.inf) <= limit_s
        ]

    def _ranked(self, case: Case, blocks: int) -> Case:
        kept = case.aa or case.name in JUDGED[self.kind]
        return case if kept else replace(case, most_blocks=blocks)

    def today_cases(self, link: str) -> list[Case]:
        """Return what people use today, and the document's libraries with another cache."""
        return self._cases(link, today=True)

    def quick_cases(
        self, cases: list[Case], link: str, moved: pd.DataFrame, limit_s: float
    ) -> list[Case]:
        """Return the reads that take, by the model, no longer than a limit; the quickest always.

        Parameters
        ----------
        cases : list of Case
            Over the link.
        link : str
        moved : pandas.DataFrame
            Records over another link, which tell what each read moves.
        limit_s : float
        """
        if not cases:
            return []
        known = predictions(moved, self.links[link]).set_index("case")["seconds"]
        seconds = [float(known.get(case.name, math.inf)) for case in cases]
        most = max(limit_s, min(seconds))
        chosen = [case for case, s in zip(cases, seconds, strict=True) if s <= most]
        return [replace(case, aa=number == 0) for number, case in enumerate(chosen)]

    def stated_cases(self, moved: pd.DataFrame, limit_s: float) -> list[Case]:
        """Return what is timed over the link as stated; see `quick_cases`."""
        cases = [*self.cases("stated"), *self.today_cases("stated")]
        if self.files.profile != "paper":
            cases = [case for case in cases if place(case.name)[1] not in _MODELLED]
        return self.quick_cases(cases, "stated", moved, limit_s)

    def _cases(self, link: str, *, today: bool) -> list[Case]:
        if not self.servers:
            return []
        cells = _cells(self.files.profile, self.kind, today=today)
        return [
            replace(self.case(link, *cell, today=today), aa=number == 0)
            for number, cell in enumerate(cells)
        ]

    def case(
        self, link: str, kind: str, read: str, way: FarWay, store: str, *, today: bool
    ) -> Case:
        """Return one read of one file over a link."""
        name = f"{kind}-{store if store in SHUFFLES else 'on'}"
        chosen = self.files.pixels(name)[0] if read == "series" else self.files.frame(name)
        server = self.servers[link]
        described = columns(self.files, kind, read, store, way.library)
        del described["stages"]  # which are counted here
        beside = "-today" if today else ""
        return Case(
            f"{kind}/{read}{beside}/{way.way(store)}",
            self._read(link, self.files.store(kind, store).name, way.library, chosen, name),
            check=Kept(self.files.truth_path(name, read)),
            columns={**described, **self.over(link)},
            prepare=None if isinstance(server, Endpoint) else server.forget,
        )

    def _read(self, link: str, file: str, library: str, chosen: Selection, name: str) -> ReadFar:
        server, variable = self.servers[link], self.files.variable(name)
        if isinstance(server, Endpoint):
            return ReadAbroad(server, file, library, chosen, variable)
        known = self.links[link].round_trip_s, self.links[link].bytes_per_s
        return ReadLinked(server, file, library, chosen, variable, *known)

    def over(self, link: str) -> dict[str, object]:
        """Return the record columns that tell of a link."""
        server = self.servers[link]
        if isinstance(server, Endpoint):
            return {"link": ABROAD}
        trip_s = self.links[link].round_trip_s
        return {"link": link, "latency_s": trip_s, "mode": server.program}


@contextmanager
def laid(
    files: LocalFiles, known: dict[str, Link], *, drawing: bool, kind: str = "http"
) -> Iterator[Far]:
    """Serve the files behind each link for as long as the context lasts.

    HTTP is spoken by lighttpd where that is installed, as in the document.

    Parameters
    ----------
    files : LocalFiles
    known : mapping
        From `links`.
    drawing : bool
        Whether figures are drawn from records: then nothing is started.
    kind : str
        What the server speaks, "http" or "s3".
    """
    if drawing:
        yield Far(files, known, {}, kind)
        return
    refer(files, {(kind, store) for kind in TABLE_1 for store in SHUFFLES})
    with ExitStack() as held:
        theirs = kind == "http" and shutil.which("lighttpd")
        program = "lighttpd" if theirs else ""
        server = held.enter_context(serving(files.scratch, kind, program=program))
        lines = {name: held.enter_context(link.to(server.port)) for name, link in known.items()}
        servers = {name: server.through(line.port) for name, line in lines.items()}
        yield Far(files, known, servers, kind)


def stores(profile: str, place: str) -> set[tuple[str, str]]:
    """Return which files and stores are read, by dataset."""
    found = (_cells(profile, place, today=today) for today in (False, True))
    return {(kind, store) for cells in found for kind, _, _, store in cells}


def _cells(profile: str, place: str, *, today: bool) -> Iterator[tuple[str, str, FarWay, str]]:
    here = readers(place=place)
    for kind in TABLE_1:
        for read in READS:
            for way in WAYS:
                if way.library in here and _wanted(profile, way, today=today):
                    for store in way.stores:
                        if not today or _today(profile, place, kind, read, way.way(store)):
                            yield kind, read, way, store


def _wanted(profile: str, way: FarWay, *, today: bool) -> bool:
    """Whether a way is timed; of today's the smallest profile takes our index alone."""
    theirs = way.name in DOCUMENT and not way.variant
    if not today:
        return theirs
    if profile == "smoke":
        return way.library == "subchunk"
    if profile != "paper" and way.library in _SPARED:
        return False
    return way.name in TODAY and not theirs


def _today(profile: str, place: str, kind: str, read: str, way: str) -> bool:
    """Whether one of today's ways is timed with a store; with shuffle, what the map needs."""
    if profile == "paper":
        return True
    if profile == "quick" and (kind, read) == _SLOW[:2] and way in _SLOW[2]:
        return False
    shuffled = "on" in way.split("-")
    return not shuffled or (place == "http" and profile != "smoke" and way in _MAPPED)
