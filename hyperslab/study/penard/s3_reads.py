"""Both reads of both files from a store that speaks S3, as cases."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from ...access import readers
from ...io.far import ReadFar, ReadLinked
from ...measure.case import Case, Stopwatch
from ...network import Endpoint, Link, Server, serving
from ...storage.region import Selection
from .datasets import TABLE_1
from .local import READS, columns
from .local_files import LocalFiles
from .subchunk import Kept
from .subchunk_files import SHUFFLES
from .wire import MODULES as FAR_MODULES
from .wire import refer
from .wire_ways import WAYS, FarWay

MODULES = (*FAR_MODULES, "hyperslab.access.zarr", "hyperslab.study.penard.s3_reads")
DELAY_S = 0.1
"""The document's delay; the smallest profile has a tenth of it."""
DOCUMENT = ("h5py", "chunkindex", "zarr", "nczarr")
TODAY = ("subchunk", "kerchunk", "h5py", "h5py-paged", "zarr", "zarr-deflate", "zarr3-shards")
JUDGED = tuple(
    f"{kind}/{read}/{way}" for kind in TABLE_1 for read in READS for way in ("h5py-on", "zarr")
)
"""What ratios of times are judged from; the others are ranked, which can do with fewer blocks."""
_SPARED = ("h5py-blocks",)
"""Readers of today that no remedy of the summary names: left to the profile paper."""
_SLOW = ("gfs", "frame", ("zarr3-shards", "zarr3-shards-obstore"))
"""Requests one after another, and a shard a chunk: too long for the profile quick."""
ABROAD = "endpoint"
"""What records call the way to a store that others run."""
NEAR = "endpoint-here"
"""What records call the link to such a store where it listens on this machine: there is none."""


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
    """

    files: LocalFiles
    links: dict[str, Link]
    servers: Mapping[str, Server | Endpoint]

    def cases(self, link: str, ranked_blocks: int = 0) -> list[Case]:
        """Return the document's libraries as it had them, for Table 3.

        Parameters
        ----------
        link : str
        ranked_blocks : int
            Blocks of what is only ranked; 0 is all.
        """
        return [self._ranked(case, ranked_blocks) for case in self._cases(link, today=False)]

    def _ranked(self, case: Case, blocks: int) -> Case:
        kept = case.aa or case.name in JUDGED
        return case if kept else replace(case, most_blocks=blocks)

    def today_cases(self, link: str) -> list[Case]:
        """Return what people use today, and the document's libraries with another cache."""
        return self._cases(link, today=True)

    def _cases(self, link: str, *, today: bool) -> list[Case]:
        if not self.servers:
            return []
        cells = _cells(self.files.profile, today=today)
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
def laid(files: LocalFiles, known: dict[str, Link], *, drawing: bool) -> Iterator[Far]:
    """Serve the files behind each link for as long as the context lasts.

    Parameters
    ----------
    files : LocalFiles
    known : mapping
        From `links`.
    drawing : bool
        Whether figures are drawn from records: then nothing is started.
    """
    if drawing:
        yield Far(files, known, {})
        return
    refer(files, {(kind, store) for kind in TABLE_1 for store in SHUFFLES})
    with ExitStack() as held:
        server = held.enter_context(serving(files.scratch, "s3"))
        lines = {name: held.enter_context(link.to(server.port)) for name, link in known.items()}
        servers = {name: server.through(line.port) for name, line in lines.items()}
        yield Far(files, known, servers)


def stores(profile: str) -> set[tuple[str, str]]:
    """Return which files and stores are read, by dataset."""
    found = (_cells(profile, today=today) for today in (False, True))
    return {(kind, store) for cells in found for kind, _, _, store in cells}


def _cells(profile: str, *, today: bool) -> Iterator[tuple[str, str, FarWay, str]]:
    here = readers(place="s3")
    for kind in TABLE_1:
        for read in READS:
            for way in WAYS:
                if way.library in here and _wanted(profile, way, today=today):
                    for store in way.stores:
                        if not today or _today(profile, kind, read, way.way(store)):
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


def _today(profile: str, kind: str, read: str, way: str) -> bool:
    """Whether one of today's ways is timed with a store; with shuffle by the profile paper."""
    if profile == "paper":
        return True
    if profile == "quick" and (kind, read) == _SLOW[:2] and way in _SLOW[2]:
        return False
    return "on" not in way.split("-")
