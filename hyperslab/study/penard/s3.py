"""Both reads of both files from a store that speaks S3 (Penard 2025, Figure 10), and what works."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import netCDF4
from numpy.typing import NDArray

from ...access import reader
from ...measure.case import Case, Stopwatch
from ...measure.processes import Processes
from ...measure.worker import Job
from ...network import Link, Server, serving
from ...network.server import BUCKET
from ...storage.region import Selection
from .link import MODULES as LINK_MODULES
from .local_files import LocalFiles
from .subchunk import Kept
from .wire import ReadFar, plain

MODULES = (*LINK_MODULES, "s3fs", "obstore.store", "hyperslab.study.penard.s3")
LINK = Link(125e6, 0.02)
"""1 Gbit/s and 20 ms: a store in the same country. It is no measurement of anybody's."""
TRY_S = 120.0


@dataclass(frozen=True)
class ReadByC:
    """Read from a store of S3 with netCDF-C itself: phases open, read and close."""

    server: Server
    name: str
    selection: Selection
    variable: str

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        options = self.server.storage_options
        os.environ |= {
            "AWS_ACCESS_KEY_ID": options["key"],
            "AWS_SECRET_ACCESS_KEY": options["secret"],
            "AWS_DEFAULT_REGION": options["client_kwargs"]["region_name"],
        }
        address = f"{self.server.endpoint}/{BUCKET}/{self.name}#mode=bytes,s3"
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
    with (
        serving(files.scratch) as web,
        serving(files.scratch, "s3") as store,
        Processes(("netCDF4", "hyperslab.study.penard.s3")) as processes,
    ):
        found: dict[str, Callable[[Stopwatch], NDArray[Any]]] = {
            "netcdf4/http": ReadFar(web, file, "netcdf4", frame, variable),
            "netcdf4/s3": ReadByC(store, file, frame, variable),
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
