"""Both reads of both files from a store that speaks S3 (Penard 2025, Figure 10), and what works."""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import netCDF4
from numpy.typing import NDArray

from ...access import reader
from ...io.far import ReadFar
from ...measure.case import Case, Stopwatch
from ...measure.processes import Processes
from ...measure.worker import Job
from ...network import Endpoint, Link, Server, serving, upload
from ...network.server import BUCKET
from ...storage.region import Selection
from . import s3_reads
from .datasets import TABLE_1
from .local_files import LocalFiles
from .s3_reads import ABROAD, NEAR, Far
from .subchunk import Kept
from .subchunk_files import SHUFFLES
from .wire import plain, refer

MODULES = (*s3_reads.MODULES, "s3fs", "obstore.store", "hyperslab.study.penard.s3")
LINK = Link(125e6, 0.02)
"""1 Gbit/s and 20 ms: a store in the same country. It is no measurement of anybody's."""
TRY_S = 120.0
WHERE = "HYPERSLAB_S3_URL"
"""The variable of the environment that names a store that others run."""


@dataclass(frozen=True)
class ReadByC:
    """Read from a server with netCDF-C itself: phases open, read and close.

    Parameters
    ----------
    server : Server
        Of HTTP or S3, whose address is of the path style.
    name : str
    selection
    variable : str
    mode : str
        What its address asks netCDF-C for.
    """

    server: Server
    name: str
    selection: Selection
    variable: str
    mode: str = "bytes,s3"

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        address = f"{self.server.endpoint}/{self.name}#mode={self.mode}"
        if self.server.kind == "s3":
            options = self.server.storage_options
            os.environ |= {
                "AWS_ACCESS_KEY_ID": options["key"],
                "AWS_SECRET_ACCESS_KEY": options["secret"],
                "AWS_DEFAULT_REGION": options["client_kwargs"]["region_name"],
            }
            address = address.replace(self.name, f"{BUCKET}/{self.name}")
        with watch("open"):
            file = netCDF4.Dataset(address)
        file.set_auto_maskandscale(False)
        with watch("read"):
            values: NDArray[Any] = file[self.variable][self.selection]
        with watch("close"):
            file.close()
        return values


@dataclass(frozen=True)
class ReadStore:
    """Read from a directory of this machine: phases open, read and close."""

    files: LocalFiles
    store: str
    library: str
    selection: Selection
    variable: str

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        with watch("open"):
            opened = reader(self.library).open(self.files.store("cmems", self.store), self.variable)
        with watch("read"):
            values = opened.read(self.selection)
        with watch("close"):
            opened.close()
        return values


def given() -> str:
    """Return the address of a folder in a store that others run, "s3://bucket/prefix"; or nothing.

    It comes from the environment, as the usual AWS variables do that tell the rest: a parameter
    would stand in the executed notebook.
    """
    return os.environ.get(WHERE, "")


def mark(address: str) -> str:
    """Return what tells runs on two stores apart and names none; empty for a server of ours.

    Examples
    --------
    >>> mark("")
    ''
    """
    return Endpoint.of(address).mark if address else ""


@dataclass(frozen=True)
class Given(Far):
    """A store that others run; of where it is, records tell whether that is this machine."""

    def over(self, link: str) -> dict[str, object]:
        """Return the record columns that tell of the way to the store."""
        server = self.servers[link]
        assert isinstance(server, Endpoint)
        return {"link": NEAR if server.here else ABROAD}


@contextmanager
def laid(files: LocalFiles, endpoint: str, *, drawing: bool) -> Iterator[Far]:
    """Have the files in a store of S3 for as long as the context lasts.

    Parameters
    ----------
    files : LocalFiles
    endpoint : str
        From `given`. What is read and not there yet is put into a folder of its own below, and
        stays there: about 0.25 GB for the profile quick and 3 GB for full. Empty takes a server
        on this machine.
    drawing : bool
        Whether figures are drawn from records: then nothing is started, and nothing put anywhere.

    Raises
    ------
    ValueError
        When the address is not one of S3.
    OSError
        When the store refuses, or does not answer.
    """
    if drawing or not endpoint:
        with s3_reads.laid(files, links(), drawing=drawing) as far:
            yield far
        return
    read = {files.store(kind, store) for kind, store in s3_reads.stores(files.profile)}
    refer(files, {(kind, store) for kind in TABLE_1 for store in SHUFFLES})
    put = sorted(path for path in files.scratch.iterdir() if _wanted(path, read))
    place = Endpoint.of(endpoint).below(_version(put))
    upload(place, put)
    yield Given(files, {}, {"s3": place})


def _wanted(path: Path, read: Collection[Path]) -> bool:
    """Whether a file is read, or lies beside one that is: its index, its references."""
    return any(path == store or path.name.startswith(f"{store.name}.") for store in read)


def _version(paths: Sequence[Path]) -> str:
    """Return a name of its own for data of these parameters, which their files are named by."""
    named = [[path.name, path.resolve().name] for path in paths]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:12]


def links() -> dict[str, Link]:
    """Return the link of this page, by its name."""
    return {"s3": LINK}


def tries(files: LocalFiles) -> Iterator[dict[str, object]]:
    """Yield what the document says cannot be done, done: status "ok", or what went wrong.

    Parameters
    ----------
    files : LocalFiles

    Source
    ------
    Penard et al. 2025, sections 4, 5.2 and 5.3.
    """
    name = "cmems-on"
    frame, variable = files.frame(name), files.variable(name)
    truth, file = Kept(files.truth_path(name, "frame")), files.store("cmems", "on").name
    store_name = files.store("cmems", "nczarr-deflate").name
    with (
        serving(files.scratch) as web,
        serving(files.scratch, "s3") as store,
        Processes(("netCDF4", "hyperslab.study.penard.s3")) as processes,
    ):
        found: dict[str, Callable[[Stopwatch], NDArray[Any]]] = {
            "netcdf4/http": ReadFar(web, file, "netcdf4", frame, variable),
            "netcdf4/s3": ReadByC(store, file, frame, variable),
            "nczarr/http": ReadByC(web, store_name, frame, variable, "nczarr"),
            "nczarr/s3": ReadByC(store, store_name, frame, variable, "nczarr,s3"),
            "nczarr/deflate": ReadStore(files, "nczarr-deflate", "nczarr", frame, variable),
        }
        for case, run in found.items():
            outcome = processes.run(Job(Case(case, run, check=truth), TRY_S))
            yield {
                "case": case,
                "phase": "all",
                "library": "netcdf4",
                "status": plain(outcome.status, web, store),
                "verified": outcome.status == "ok",
            }
